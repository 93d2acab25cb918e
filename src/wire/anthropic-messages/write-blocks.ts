// The parts of a reply as Anthropic's content blocks: what both its streams and its whole messages are made of.

import type { Extra, JsonObject, PartHead, UrlCitation } from '../ir.ts'
import { isObject } from '../json/value.ts'
import { ownFields, self } from './fields.ts'
import { toolId } from './ids.ts'

/**
 * How a part is written: as a block of text, thinking or a call, as a block that comes whole, or not at all (what only
 * another dialect knows, and pictures, which this format has no block for).
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

/** The block as a stream begins it. */
export function emptyBlock(head: PartHead): JsonObject {
  if (head.type === 'tool-call') {
    return { type: 'tool_use', id: toolId(head.id), name: head.name, input: {} }
  }
  if (head.type === 'reasoning') return { type: 'thinking', thinking: '', signature: '' }
  if (head.type === 'other') return ownFields(head.extra)
  return { type: 'text', text: '' }
}

/**
 * A block only this dialect has, as a stream tells it: the input of a tool the vendor ran, and the text of a compaction,
 * come in deltas, which clients put together.
 */
export function streamedBlock(block: JsonObject): { start: JsonObject; deltas: JsonObject[] } {
  const { type, input, content } = block
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
 * A citation in Anthropic's words: its own as it was, another's as that of a web search. `said` is the text of the part
 * until now.
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
    // Only Anthropic's own searches have one; the mark by which such a citation is known when it comes back.
    encrypted_index: '',
  }
}

/** Citations this dialect alone knows, which a part ends with. */
export function ownCitations(extra: Extra | null | undefined): JsonObject[] {
  const { citations } = ownFields(extra)
  return Array.isArray(citations) ? (citations as JsonObject[]) : []
}

/** Private members of a block, which its start must have. */
export function privateFields(extra: Extra | null | undefined): JsonObject {
  const { citations: _, ...rest } = ownFields(extra)
  return rest
}

/** The input of a custom tool is text; the format's are objects. */
export function customInput(text: string): string {
  return JSON.stringify({ input: text })
}
