// Reasoning in the members that vendors and gateways use for it: plain text, and blocks with opaque state.

import { opaquePrefix } from '../hub/opaque-state.ts'
import type { JsonObject, ReasoningPart } from '../ir.ts'
import { objectsIn, parsedObject, stringOf } from '../json/value.ts'

/** A piece of reasoning; `sealed` holds the opaque state that closes it, if any. */
export interface Thought {
  readonly text: string
  readonly sealed: string | null
  readonly redacted: boolean
}

/** Reads LiteLLM's `thinking_blocks`, which have Anthropic's form. */
export function blocksIn(said: JsonObject): Thought[] {
  return objectsIn(said['thinking_blocks']).flatMap((block): Thought[] => {
    if (block['type'] === 'redacted_thinking') {
      const data = stringOf(block['data'])
      return data === '' ? [] : [{ text: '', sealed: data, redacted: true }]
    }
    const text = stringOf(block['thinking'])
    const sealed = stringOf(block['signature']) || null
    return text === '' && sealed === null ? [] : [{ text, sealed, redacted: false }]
  })
}

/**
 * The opaque state of one of OpenRouter's `reasoning_details`: everything beside its text, as JSON, because
 * OpenRouter wants the details back unchanged. Opaque state that this gateway marked is used as it is.
 */
function opaqueDetail(detail: JsonObject): string | null {
  const value = stringOf(detail['signature']) || stringOf(detail['data'])
  if (value === '') return null
  if (value.startsWith(opaquePrefix)) return value
  const { text: _, summary: __, ...rest } = detail
  return JSON.stringify(rest)
}

export function detailsIn(said: JsonObject): Thought[] {
  return objectsIn(said['reasoning_details']).flatMap((detail): Thought[] => {
    const text = stringOf(detail['text']) || stringOf(detail['summary'])
    const sealed = opaqueDetail(detail)
    if (text === '' && sealed === null) return []
    return [{ text, sealed, redacted: detail['type'] === 'reasoning.encrypted' }]
  })
}

/** Joins the pieces up to each opaque state into one thought. */
function joined(pieces: readonly Thought[]): Thought[] {
  const found: Thought[] = []
  for (const piece of pieces) {
    const last = found.at(-1)
    if (last !== undefined && last.sealed === null && !piece.redacted) {
      found[found.length - 1] = { ...piece, text: last.text + piece.text }
    } else found.push(piece)
  }
  return found
}

/** Puts the plain text on the first block without redaction, where no block has text of its own. */
function withText(thoughts: readonly Thought[], text: string): Thought[] {
  if (text === '' || thoughts.some((thought) => thought.text !== '')) return [...thoughts]
  const at = thoughts.findIndex(({ redacted }) => !redacted)
  if (at < 0) return [{ text, sealed: null, redacted: false }, ...thoughts]
  return thoughts.map((thought, index) => (index === at ? { ...thought, text } : thought))
}

/** Members beside `reasoning_content` in which an assistant message may carry its reasoning. */
export const thoughtNames = ['reasoning', 'thinking_blocks', 'reasoning_details'] as const

/** The reasoning that a client sends back with an assistant message, from the member with the most detail. */
export function decodeThoughts(message: JsonObject): ReasoningPart[] {
  const text = stringOf(message['reasoning_content']) || stringOf(message['reasoning'])
  const blocks = blocksIn(message)
  const thoughts = joined(blocks.length > 0 ? blocks : detailsIn(message))
  return withText(thoughts, text).map(({ text: said, sealed, redacted }) => ({
    type: 'reasoning',
    text: said,
    ...(sealed !== null && { sealed }),
    ...(redacted && { redacted }),
  })) satisfies ReasoningPart[]
}

/** One thinking block in the form Anthropic and LiteLLM use. */
export function blockOf(text: string, sealed: string, redacted: boolean): JsonObject {
  return redacted
    ? { type: 'redacted_thinking', data: sealed }
    : { type: 'thinking', thinking: text, signature: sealed }
}

function detailOf({ text, sealed }: ReasoningPart): JsonObject {
  // Anybody can forge what it holds.
  const detail = sealed?.startsWith('{') === true ? parsedObject(sealed) : null
  if (detail === null) return { type: 'reasoning.text', text }
  if (text === '') return detail
  const name = detail['type'] === 'reasoning.summary' ? 'summary' : 'text'
  return { ...detail, [name]: text }
}

/** Writes reasoning for a vendor of this format, in the members it came in. */
export function encodeThoughts(parts: readonly ReasoningPart[]): JsonObject {
  if (parts.some(({ sealed }) => sealed?.startsWith('{'))) {
    return { reasoning_details: parts.map(detailOf) }
  }
  const text = parts.map((part) => part.text).join('')
  const blocks = parts.flatMap(({ text: said, sealed, redacted }) =>
    sealed === undefined ? [] : [blockOf(said, sealed, redacted === true)],
  )
  return {
    ...(text !== '' && { reasoning_content: text }),
    ...(blocks.length > 0 && { thinking_blocks: blocks }),
  }
}
