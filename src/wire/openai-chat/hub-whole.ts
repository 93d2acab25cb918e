// Writes the events of a reply as one whole chat completion.

import type { WriterHead } from '../codec.ts'
import { type FoldedChoice, type FoldedPart, fold } from '../hub/fold.ts'
import type { ChatEvent, JsonObject } from '../ir.ts'
import { objectOf, together } from '../json/value.ts'
import { tierOf } from '../openai/reply-tier.ts'
import { writeUsage } from '../openai/usage.ts'
import { writeCitation, writeImage, writeTokens } from './hub-citations.ts'
import { mergeFields, ownFields } from './hub-fields.ts'
import { encodeCall, opaqueMember } from './hub-parts.ts'
import { blockOf, thoughtNames } from './hub-thoughts.ts'
import { asksByFunctions } from './hub-writer.ts'

/** Usage is left out where none is known: the caller counts tokens then. */
export function writeWhole(events: readonly ChatEvent[], head: WriterHead): JsonObject {
  const reply = fold(events)
  const extras = together(reply.extras.map((each) => ({ ...tierOf(each), ...ownFields(each) })))
  const older = asksByFunctions(head.request)
  return {
    id: reply.id || head.id,
    object: 'chat.completion',
    created: reply.createdAt || head.createdAt,
    model: reply.model || head.model,
    choices: reply.choices.map((choice) => choiceOf(choice, older)),
    ...(reply.usage !== null && { usage: writeUsage(reply.usage) }),
    ...extras,
  }
}

function joined(parts: readonly FoldedPart[], type: FoldedPart['head']['type']): string | null {
  const texts = parts.filter(({ head }) => head.type === type).map(({ text }) => text)
  return texts.length === 0 ? null : texts.join('')
}

function callsOf(parts: readonly FoldedPart[], older: boolean): JsonObject {
  const calls: JsonObject[] = []
  for (const { head, text, sealed, extra } of parts) {
    if (head.type !== 'tool-call') continue
    if (older) return { function_call: { name: head.name, arguments: text } }
    const opaque = sealed === null ? {} : { sealed }
    calls.push(
      encodeCall({ ...head, arguments: text, ...opaque, ...(extra !== null && { extra }) }),
    )
  }
  return calls.length === 0 ? {} : { tool_calls: calls }
}

/** Citation offsets count from the beginning of all text. */
function citationsOf(parts: readonly FoldedPart[]): JsonObject {
  const found: JsonObject[] = []
  let base = 0
  for (const { head, text, citations } of parts) {
    if (head.type !== 'text') continue
    for (const citation of citations) found.push(writeCitation(citation, base))
    base += text.length
  }
  return found.length === 0 ? {} : { annotations: found }
}

function blocksOf(parts: readonly FoldedPart[]): JsonObject {
  const blocks: JsonObject[] = []
  for (const { head, text, sealed } of parts) {
    if (head.type !== 'reasoning' || sealed === null) continue
    blocks.push(blockOf(text, sealed, head.redacted === true))
  }
  return blocks.length === 0 ? {} : { thinking_blocks: blocks }
}

function imagesOf(parts: readonly FoldedPart[]): JsonObject {
  const images: JsonObject[] = []
  for (const { head, text } of parts) {
    if (head.type === 'image') images.push(writeImage(head.mediaType, text))
  }
  return images.length === 0 ? {} : { images }
}

function standsForText({ head }: FoldedPart): boolean {
  return head.type === 'tool-call' || head.type === 'refusal'
}

function tokensOf(parts: readonly FoldedPart[], type: 'text' | 'refusal'): JsonObject[] {
  return parts.flatMap(({ head, logprobs }) => (head.type === type ? logprobs : []))
}

function choiceOf({ index, parts, reason, extras }: FoldedChoice, older: boolean): JsonObject {
  const fields: JsonObject = {}
  for (const extra of extras) mergeFields(fields, ownFields(extra))
  const { delta, ...private_ } = fields
  const inside = objectOf(delta)
  const reasoning = joined(parts, 'reasoning')
  // The vendor's own reasoning details already hold the opaque state.
  const hasThoughts = thoughtNames.some((name) => inside[name] !== undefined)
  const message: JsonObject = {
    role: 'assistant',
    // Without a text, a call or a refusal, the text is empty (the reply was cut off while the model thought, ...).
    content: joined(parts, 'text') ?? (parts.some(standsForText) ? null : ''),
    refusal: joined(parts, 'refusal'),
    ...(reasoning !== null && reasoning !== '' && { reasoning_content: reasoning }),
    ...(!hasThoughts && blocksOf(parts)),
    ...citationsOf(parts),
    ...imagesOf(parts),
    ...callsOf(parts, older),
  }
  const sealed = parts.findLast((part) => part.head.type === 'text' && part.sealed !== null)?.sealed
  if (sealed != null) mergeFields(message, opaqueMember(sealed))
  const logprobs = writeTokens({
    content: tokensOf(parts, 'text'),
    refusal: tokensOf(parts, 'refusal'),
  })
  return {
    index,
    message: mergeFields(message, inside),
    logprobs,
    ...private_,
    finish_reason: older && reason === 'tool_calls' ? 'function_call' : reason,
  }
}
