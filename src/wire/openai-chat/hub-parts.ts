// Decodes parts of messages and tool calls into the hub and encodes them from it.

import { invalidRequest } from '../../errors.ts'
import { bareFileUrl, fileName } from '../hub/file-name.ts'
import { fileText } from '../hub/file-text.ts'
import type {
  FilePart,
  ImagePart,
  JsonObject,
  JsonValue,
  RequestPart,
  ToolCallPart,
} from '../ir.ts'
import { isObject, objectOf, stringOf } from '../json/value.ts'
import { storedFile } from '../openai/stored-file.ts'
import { cacheOf, hasFields, mergeFields, ownFields, present, withExtra } from './hub-fields.ts'

export function decodeContent(content: JsonValue | undefined): RequestPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isObject).map(decodePart) : []
}

function decodePart(part: JsonObject): RequestPart {
  const { type, ...fields } = present(part)
  const cache = cacheOf(fields)
  if (type === 'text' && typeof fields['text'] === 'string') {
    const { text, ...rest } = fields
    return { type: 'text', text: stringOf(text), ...cache, ...withExtra(rest) }
  }
  // Other formats get a model's refusal as text; this one gets it back as a refusal.
  if (type === 'refusal' && typeof fields['refusal'] === 'string') {
    const { refusal, ...rest } = fields
    return { type: 'text', text: stringOf(refusal), ...cache, ...withExtra({ type, ...rest }) }
  }
  const decoded =
    type === 'image_url'
      ? decodeImage(fields)
      : type === 'file'
        ? decodeFile(fields)
        : type === 'input_audio'
          ? decodeAudio(fields)
          : null
  if (decoded === null) return { type: 'other', extra: { 'openai-chat': part } }
  return { ...decoded, ...cache }
}

/** Private fields: the part's own unknown members, with those of the object inside it. */
function leftOver(fields: JsonObject, inner: string, more: JsonObject): { extra?: never } | object {
  const { [inner]: _, ...rest } = fields
  return withExtra(hasFields(more) ? { ...rest, [inner]: more } : rest)
}

function decodeImage(fields: JsonObject): RequestPart | null {
  const image = fields['image_url']
  if (!isObject(image) || typeof image['url'] !== 'string') return null
  const { url, detail, ...rest } = present(image)
  const foreign = typeof detail === 'string' && !details.has(detail)
  const more = foreign ? { ...rest, detail } : rest
  return {
    type: 'image',
    url: stringOf(url),
    ...(typeof detail === 'string' && { detail }),
    ...leftOver(fields, 'image_url', more),
  }
}

/** The values of `detail` in this format; Responses has `original` too, which asks for more than `high` does. */
const details: ReadonlySet<string> = new Set(['auto', 'low', 'high'])

/** The nearest value of this format. */
function detailOf(part: ImagePart, own: JsonObject, place: string, dropped: string[]): JsonObject {
  const { detail } = part
  if (detail === undefined) return {}
  if (details.has(detail) || objectOf(own['image_url'])['detail'] === detail) return { detail }
  dropped.push(`${place}.image_url.detail`)
  return detail === 'original' ? { detail: 'high' } : {}
}

/** `file_data` is a data URL, or bare base64. */
function decodeFile(fields: JsonObject): RequestPart | null {
  const { file } = fields
  if (!isObject(file)) return null
  const { file_data: data, file_id: id, filename, ...more } = present(file)
  if (typeof data !== 'string' && typeof id !== 'string') return null
  const text = stringOf(data)
  const url =
    text === '' || /^(data|https?):/i.test(text) ? text : bareFileUrl(text, stringOf(filename))
  return {
    type: 'file',
    url,
    ...(typeof id === 'string' && { vendorFile: id }),
    ...(typeof filename === 'string' && { name: filename }),
    ...leftOver(fields, 'file', url === text ? more : { ...more, file_data: text }),
  }
}

function decodeAudio(fields: JsonObject): RequestPart | null {
  const audio = fields['input_audio']
  if (!isObject(audio) || typeof audio['data'] !== 'string') return null
  const { data, format, ...more } = present(audio)
  return {
    type: 'audio',
    format: stringOf(format) || 'wav',
    data: stringOf(data),
    ...leftOver(fields, 'input_audio', more),
  }
}

/**
 * Takes the opaque state of a call, or of a message's text, from Google's member in this format,
 * `extra_content.google.thought_signature`.
 */
export function takeOpaque(call: JsonObject): { sealed?: string; rest: JsonObject } {
  const { extra_content: content, ...rest } = call
  const google = isObject(content) ? content['google'] : undefined
  const sealed = isObject(google) ? stringOf(google['thought_signature']) : ''
  if (!isObject(content) || !isObject(google) || sealed === '') return { rest: call }
  const { thought_signature: _, ...inGoogle } = google
  const { google: __, ...others } = content
  const kept = hasFields(inGoogle) ? { ...others, google: inGoogle } : others
  return { sealed, rest: hasFields(kept) ? { ...rest, extra_content: kept } : rest }
}

export function opaqueMember(sealed: string): JsonObject {
  return { extra_content: { google: { thought_signature: sealed } } }
}

export function decodeCall(value: JsonObject): ToolCallPart {
  const { id, type, function: target, custom, ...others } = present(value)
  const { rest, ...opaque } = takeOpaque(others)
  if (isObject(custom)) {
    const { name, input, ...more } = custom
    return {
      type: 'tool-call',
      id: stringOf(id),
      name: stringOf(name),
      arguments: stringOf(input),
      custom: true,
      ...opaque,
      ...withExtra(hasFields(more) ? { ...rest, custom: more } : rest),
    }
  }
  const { name, arguments: input, ...more } = objectOf(target)
  const kept = hasFields(more) ? { ...rest, function: more } : rest
  const known = type === undefined || type === 'function'
  return {
    type: 'tool-call',
    id: stringOf(id),
    name: stringOf(name),
    arguments: stringOf(input),
    ...opaque,
    ...withExtra(known ? kept : { type, ...kept }),
  }
}

export function encodeCall(part: ToolCallPart): JsonObject {
  const { id, name, arguments: input, custom, sealed } = part
  const call: JsonObject = custom
    ? { id, type: 'custom', custom: { name, input } }
    : { id, type: 'function', function: { name, arguments: input === '' ? '{}' : input } }
  if (sealed !== undefined) Object.assign(call, opaqueMember(sealed))
  return mergeFields(call, ownFields(part.extra))
}

/**
 * Encodes the part at `place` (`messages[1].content[0]`); null for a part that only another dialect knows. Throws
 * GatewayError for a file or an image that this format cannot refer to.
 */
export function encodePart(
  part: Exclude<RequestPart, { readonly type: 'tool-call' | 'reasoning' }>,
  place: string,
  dropped: string[],
): JsonObject | null {
  if (part.type === 'other') return part.extra['openai-chat'] ?? null
  const own = ownFields(part.extra)
  const marked = own['cache_control'] ?? own['prompt_cache_breakpoint']
  if (part.cache !== undefined && marked === undefined) dropped.push(`${place}.cache_control`)
  switch (part.type) {
    case 'text':
      if (own['type'] === 'refusal') return { refusal: part.text, ...own }
      return { type: 'text', text: part.text, ...own }
    case 'image': {
      if (part.url === '') {
        throw invalidRequest(`${place}: an image must be given by its URL or its bytes`, place)
      }
      const image = { url: part.url, ...detailOf(part, own, place, dropped) }
      return mergeFields({ type: 'image_url', image_url: image }, own)
    }
    case 'file': {
      // OpenAI takes no file but a PDF in this format.
      const text = fileText(part, place)
      if (text !== null) return { type: 'text', text }
      return mergeFields({ type: 'file', file: encodeFile(part, place) }, own)
    }
    case 'audio': {
      const { data, format } = part
      return mergeFields({ type: 'input_audio', input_audio: { data, format } }, own)
    }
  }
}

function encodeFile(part: FilePart, place: string): JsonObject {
  const { url, vendorFile, name } = part
  const filename = name === undefined ? {} : { filename: name }
  if (vendorFile !== undefined) return { file_id: storedFile(vendorFile, place), ...filename }
  if (!url.startsWith('data:')) {
    throw invalidRequest(`${place}: a file must be given by its bytes and not by an address`, place)
  }
  // OpenAI refuses file data without a name.
  return { filename: fileName(part, place), file_data: url }
}
