// Writes parts of a reply as Anthropic's content blocks, for both streams and whole messages.

import type { ChatRequest, Extra, JsonObject, PartHead, UrlCitation } from '../ir.ts'
import { argumentsObject } from '../json/exact.ts'
import { isObject, parsedObject } from '../json/value.ts'
import { ownFields, self } from './fields.ts'
import { toolId } from './ids.ts'

/**
 * How a part is written: as a block of text, thinking or a call, as a block that is complete at once, or not at all
 * (images and what only another dialect knows, for which this format has no block).
 */
export type Form = 'text' | 'thinking' | 'redacted' | 'refusal' | 'call' | 'other' | 'none'

export function formOf(head: PartHead): Form {
  switch (head.type) {
    case 'text':
    case 'refusal':
      return head.type
    case 'reasoning':
      return head.redacted ? 'redacted' : 'thinking'
    case 'tool-call':
      return 'call'
    case 'other':
      return head.extra[self] === undefined ? 'none' : 'other'
    case 'image':
      return 'none'
  }
}

/**
 * The block as `content_block_start` carries it, with every member that clients of Anthropic's SDK may read. A text
 * without citations has an empty list of them: versions of Vercel's SDK refuse null.
 */
export function emptyBlock(head: PartHead): JsonObject {
  if (head.type === 'tool-call') {
    const called = { type: 'tool_use', id: toolId(head.id), name: head.name, input: {} }
    return { ...called, caller: { type: 'direct' } }
  }
  if (head.type === 'reasoning') return { type: 'thinking', thinking: '', signature: '' }
  if (head.type === 'other') return ownFields(head.extra)
  return { type: 'text', text: '', citations: [] }
}

/**
 * Splits a whole block for streaming: a signature, the input of a tool that the vendor ran, and the text of a
 * compaction go into deltas, which clients assemble. Some, such as Vercel's SDK, take a signature from nowhere else.
 */
export function streamedBlock(block: JsonObject): { start: JsonObject; deltas: JsonObject[] } {
  const { type, input, content, signature } = block
  if (type === 'thinking' && typeof signature === 'string') {
    const delta = { type: 'signature_delta', signature }
    return { start: { ...block, signature: '' }, deltas: [delta] }
  }
  if (String(type).endsWith('_use') && isObject(input) && Object.keys(input).length > 0) {
    const text = JSON.stringify(input)
    const delta = { type: 'input_json_delta', partial_json: text }
    return { start: { ...block, input: {} }, deltas: [delta] }
  }
  if (type === 'compaction' && typeof content === 'string') {
    const delta = { type: 'compaction_delta', content }
    return { start: { ...block, content: null }, deltas: [delta] }
  }
  return { start: block, deltas: [] }
}

/** The delta that adds `text` to a block. */
export function deltaOf(form: Form, text: string): JsonObject {
  if (form === 'thinking') return { type: 'thinking_delta', thinking: text }
  if (form === 'call') return { type: 'input_json_delta', partial_json: text }
  return { type: 'text_delta', text }
}

/**
 * Writes a citation: Anthropic's own unchanged, another vendor's as that of a web search. `said` is the part's text
 * so far.
 */
export function writeCitation(citation: UrlCitation, said: string): JsonObject {
  const own = citation.extra?.[self]
  if (own !== undefined) return own
  const { url, title = null, start, end } = citation
  const cited = start === undefined || end === undefined ? '' : said.slice(start, end)
  return {
    type: 'web_search_result_location',
    url,
    title,
    cited_text: cited,
    // Only Anthropic's own searches have one; empty marks a foreign citation when the client sends it back.
    encrypted_index: '',
  }
}

/** Citations that only this dialect knows; they end a part. */
export function ownCitations(extra: Extra | null | undefined): JsonObject[] {
  const { citations } = ownFields(extra)
  return Array.isArray(citations) ? (citations as JsonObject[]) : []
}

/** Private members of a block, which belong in its start. */
export function privateFields(extra: Extra | null | undefined): JsonObject {
  const { citations: _, ...rest } = ownFields(extra)
  return rest
}

/** The whole input of a call as the JSON text of an object, which it is in this format even where it is another's text. */
export function inputText(text: string, custom: boolean): string {
  if (custom) return JSON.stringify({ input: text })
  return parsedObject(text) === null ? JSON.stringify(argumentsObject(text)) : text
}

/** The tools that a client of this format offered with `eager_input_streaming`. */
export function eagerTools(request: ChatRequest | undefined): ReadonlySet<string> {
  const names = (request?.tools ?? []).flatMap((tool) => {
    const isEager = ownFields(tool.extra)['eager_input_streaming'] === true
    return tool.type === 'function' && isEager ? [tool.name] : []
  })
  return new Set(names)
}
