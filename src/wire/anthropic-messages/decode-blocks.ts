// Decodes content blocks of a request in Anthropic's format into the hub's parts.

import { textUrl } from '../hub/data-url.ts'
import type { CacheMark, JsonObject, JsonValue, RequestPart } from '../ir.ts'
import { isObject, objectOf, objectsIn, stringOf } from '../json/value.ts'
import { asFunction } from './client-tools.ts'
import { present, self, takeCache, withExtra } from './fields.ts'
import { carriedOpaque } from './opaque-state.ts'

/** The parts of `content`, which may be a string or blocks. */
export function decodeContent(content: JsonValue | undefined): RequestPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return decodeBlocks(objectsIn(content))
}

/** Decodes blocks; opaque state in a thinking block of its own returns to the part it belongs to. */
export function decodeBlocks(blocks: readonly JsonObject[]): RequestPart[] {
  const parts: RequestPart[] = []
  let next: string | null = null
  for (const block of blocks) {
    const carried = block.type === 'thinking' ? carriedOpaque(stringOf(block.signature)) : null
    if (carried?.side === 'next') next = carried.sealed
    else if (carried !== null) {
      const last = parts.pop()
      if (last !== undefined) parts.push(withOpaque(last, carried.sealed))
    } else {
      const part = decodeBlock(block)
      parts.push(next === null ? part : withOpaque(part, next))
      next = null
    }
  }
  // The part that the opaque state belongs to had no text, so that no block follows.
  if (next !== null) parts.push({ type: 'text', text: '', sealed: next })
  return parts
}

function withOpaque(part: RequestPart, sealed: string): RequestPart {
  return part.type === 'text' || part.type === 'tool-call' ? { ...part, sealed } : part
}

function decodeBlock(block: JsonObject): RequestPart {
  const fields = present(block)
  const { type } = fields
  if (type === 'text' && typeof fields.text === 'string') return textPart(fields)
  if (type === 'image' && isObject(fields.source)) return imagePart(fields, fields.source)
  if (type === 'document' && isObject(fields.source)) return documentPart(fields, fields.source)
  if (type === 'tool_use') return callPart(fields)
  if (type === 'thinking') return thinkingPart(fields)
  if (type === 'redacted_thinking') {
    const { data, type: _, ...rest } = fields
    return {
      type: 'reasoning',
      text: '',
      sealed: stringOf(data),
      redacted: true,
      ...withExtra(rest),
    }
  }
  const text =
    type === 'search_result'
      ? foundText(fields)
      : type === 'browser_state'
        ? browserText(fields)
        : toolChangeText(fields)
  if (text !== null) {
    const cache = { ...markInside(fields.content), ...takeCache(fields) }
    return { type: 'text', text, ...cache, extra: { [self]: block } }
  }
  return other(block)
}

/** A search result that the client gives, as a text for other formats; null where it has other content than text. */
function foundText({ title, source, content }: JsonObject): string | null {
  const blocks = objectsIn(content)
  if (blocks.some((each) => each.type !== 'text')) return null
  const head = [stringOf(title), stringOf(source)].filter((each) => each !== '').join('\n')
  return [head, ...blocks.map((each) => stringOf(each.text))].join('\n\n')
}

/** What a browser shows after an action, as a text for other formats. */
function browserText({ type: _, cache_control: __, ...state }: JsonObject): string {
  return JSON.stringify(state)
}

/** A text for other formats, where this format's block announces that a tool is added or removed. */
function toolChangeText({ type, tool_name: referred, tool }: JsonObject): string | null {
  if (type === 'tool_reference') return `The tool ${stringOf(referred)} can be called.`
  if (type !== 'tool_addition' && type !== 'tool_removal') return null
  const { name, definition } = objectOf(tool)
  const defined = objectOf(definition)
  // No other format is offered a tool that the vendor runs.
  const { type: kind = 'custom' } = present(defined)
  if (kind !== 'custom' && asFunction(stringOf(kind), defined) === null) return ''
  const called = stringOf(name) || stringOf(defined['name'])
  return type === 'tool_addition'
    ? `From here on the tool ${called} can be called.`
    : `From here on the tool ${called} can no longer be called.`
}

function other(block: JsonObject): RequestPart {
  return { type: 'other', extra: { [self]: block } }
}

/** Citations that this gateway made from another vendor's have no `encrypted_index`, which only Anthropic gives. */
function citesForeign(citation: JsonObject): boolean {
  return citation.type === 'web_search_result_location' && citation.encrypted_index === ''
}

function textPart(block: JsonObject): RequestPart {
  const cache = takeCache(block)
  const { type: _, text, citations, ...rest } = block
  const kept = objectsIn(citations).filter((each) => !citesForeign(each))
  const fields = kept.length > 0 ? { ...rest, citations: kept } : rest
  return { type: 'text', text: stringOf(text), ...cache, ...withExtra(fields) }
}

function urlOf(source: JsonObject): { url: string; vendorFile?: string } | null {
  if (source.type === 'base64') {
    return { url: `data:${stringOf(source.media_type)};base64,${stringOf(source.data)}` }
  }
  if (source.type === 'url') return { url: stringOf(source.url) }
  if (source.type === 'file') return { url: '', vendorFile: stringOf(source.file_id) }
  return null
}

function imagePart(block: JsonObject, source: JsonObject): RequestPart {
  const place = urlOf(source)
  if (place === null) return other(block)
  const cache = takeCache(block)
  const { type: _, source: __, ...rest } = block
  return { type: 'image', ...place, ...cache, ...withExtra(rest) }
}

/** The text of a document that consists of text alone; null for any other document. */
function documentText(source: JsonObject): string | null {
  if (source.type === 'text') return stringOf(source.data)
  if (source.type !== 'content') return null
  if (typeof source.content === 'string') return source.content
  const blocks = objectsIn(source.content)
  if (blocks.some((each) => each.type !== 'text')) return null
  return blocks.map((each) => stringOf(each.text)).join('\n')
}

/** The last mark among the blocks inside a block, which is one of the whole block elsewhere. */
function markInside(content: JsonValue | undefined): { cache?: CacheMark } {
  const marked = objectsIn(content).findLast((each) => isObject(each.cache_control))
  return marked === undefined ? {} : takeCache({ ...marked })
}

function unmarked(source: JsonObject): JsonObject {
  const blocks = objectsIn(source.content)
  return { ...source, content: blocks.map(({ cache_control: _, ...rest }) => rest) }
}

function documentPart(block: JsonObject, source: JsonObject): RequestPart {
  const text = documentText(source)
  const place = text === null ? urlOf(source) : { url: textUrl(text) }
  if (place === null) return other(block)
  const inside = markInside(source.content)
  const cache = { ...inside, ...takeCache(block) }
  const { type: _, source: __, title, ...rest } = block
  // Citations of a document made of blocks count those blocks, which must therefore be kept.
  const kept = inside.cache === undefined ? source : unmarked(source)
  const fields = source.type === 'content' ? { ...rest, source: kept } : rest
  const name = stringOf(title)
  return {
    type: 'file',
    ...place,
    ...(name !== '' && { name }),
    ...cache,
    ...withExtra(fields),
  }
}

function callPart(block: JsonObject): RequestPart {
  const cache = takeCache(block)
  const { type: _, id, name, input, ...rest } = block
  return {
    type: 'tool-call',
    id: stringOf(id),
    name: stringOf(name),
    arguments: JSON.stringify(objectOf(input)),
    ...cache,
    ...withExtra(rest),
  }
}

function thinkingPart(block: JsonObject): RequestPart {
  const { type: _, thinking, signature, ...rest } = block
  const sealed = stringOf(signature)
  return {
    type: 'reasoning',
    text: stringOf(thinking),
    ...(sealed !== '' && { sealed }),
    ...withExtra(rest),
  }
}
