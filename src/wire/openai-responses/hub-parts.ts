// Decodes parts of input items into the hub and encodes them from it.

import { invalidRequest } from '../../errors.ts'
import { bareFileUrl, fileName } from '../hub/file-name.ts'
import type { FilePart, JsonObject, JsonValue, RequestPart } from '../ir.ts'
import { isObject, stringOf } from '../json/value.ts'
import { storedFile } from '../openai/stored-file.ts'
import { cacheOf, present } from '../openai-chat/hub-fields.ts'
import { ownFields, self, withExtra } from './hub-fields.ts'

/** Reads `content`, a text or a list of parts, which is at `place`. */
export function decodeParts(content: JsonValue | undefined, place: string): RequestPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (content === undefined) return []
  if (!Array.isArray(content)) {
    throw invalidRequest(`${place} must be a string or an array of parts`, place)
  }
  return content.map((part, at) => {
    if (isObject(part)) return decodePart(part)
    throw invalidRequest(`${place}[${at}] must be an object`, `${place}[${at}]`)
  })
}

const textTypes: ReadonlySet<string> = new Set(['input_text', 'output_text', 'text'])

function isEmptyList(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.length === 0
}

function decodePart(part: JsonObject): RequestPart {
  const { type, ...fields } = present(part)
  const cache = cacheOf(fields)
  if (textTypes.has(stringOf(type))) {
    const { text, ...rest } = fields
    for (const name of ['annotations', 'logprobs']) if (isEmptyList(rest[name])) delete rest[name]
    return { type: 'text', text: stringOf(text), ...cache, ...withExtra(rest) }
  }
  switch (type) {
    // A model's refusal is a text to other formats.
    case 'refusal': {
      const { refusal, ...rest } = fields
      return { type: 'text', text: stringOf(refusal), ...withExtra({ type, ...rest }) }
    }
    case 'input_image': {
      const { image_url: image, file_id: id, detail, ...rest } = fields
      const url = isObject(image) ? image['url'] : image
      return {
        type: 'image',
        url: stringOf(url),
        ...(typeof id === 'string' && { vendorFile: id }),
        ...(typeof detail === 'string' && { detail }),
        ...cache,
        ...withExtra(rest),
      }
    }
    case 'input_file':
      return { ...decodeFile(fields), ...cache }
    case 'input_audio': {
      const { input_audio: audio, ...rest } = fields
      if (!isObject(audio)) break
      const { data, format } = audio
      const spoken = { data: stringOf(data), format: stringOf(format) || 'wav' }
      return { type: 'audio', ...spoken, ...withExtra(rest) }
    }
  }
  return { type: 'other', extra: { [self]: part } }
}

function decodeFile(fields: JsonObject): RequestPart {
  const { file_data: data, file_url: address, file_id: id, filename, ...rest } = fields
  const text = stringOf(data)
  const bare = text !== '' && !text.startsWith('data:')
  return {
    type: 'file',
    url: bare ? bareFileUrl(text, stringOf(filename)) : text || stringOf(address),
    ...(typeof id === 'string' && { vendorFile: id }),
    ...(typeof filename === 'string' && { name: filename }),
    ...withExtra(rest),
  }
}

/** A part that may be content of a message or of a tool's answer. */
export type ContentPart = Exclude<RequestPart, { readonly type: 'tool-call' | 'reasoning' }>

/**
 * Encodes the part; null for one that only another dialect knows. `said`: a model wrote it. Throws GatewayError for a
 * part that the format cannot hold.
 */
export function encodePart(part: ContentPart, said: boolean, place: string): JsonObject | null {
  if (part.type === 'other') return part.extra[self] ?? null
  const own = { ...breakpointOf(part), ...ownFields(part.extra) }
  if (part.type === 'text') {
    if (own['type'] === 'refusal') return { refusal: part.text, ...own }
    return { type: said ? 'output_text' : 'input_text', text: part.text, ...own }
  }
  if (said) {
    throw invalidRequest(
      `${place}: this model accepts only text in messages of the assistant`,
      place,
    )
  }
  switch (part.type) {
    case 'image': {
      const { url, vendorFile, detail = 'auto' } = part
      const source =
        vendorFile === undefined ? { image_url: url } : { file_id: storedFile(vendorFile, place) }
      return { type: 'input_image', ...source, detail, ...own }
    }
    case 'file':
      return { type: 'input_file', ...fileOf(part, place), ...own }
    case 'audio': {
      const { data, format } = part
      return { type: 'input_audio', input_audio: { data, format }, ...own }
    }
  }
}

/** The mark of the prompt cache as either of OpenAI's formats spells it; `{}` where the part has none. */
export function breakpointOf({ extra }: ContentPart): JsonObject {
  for (const fields of [extra?.[self], extra?.['openai-chat']]) {
    const mark = fields?.['prompt_cache_breakpoint']
    if (mark !== undefined) return { prompt_cache_breakpoint: mark }
  }
  return {}
}

function fileOf(part: FilePart, place: string) {
  const { url, vendorFile, name } = part
  const filename = name === undefined ? {} : { filename: name }
  if (vendorFile !== undefined) return { file_id: storedFile(vendorFile, place), ...filename }
  // OpenAI refuses file data without a name.
  if (url.startsWith('data:')) return { filename: fileName(part, place), file_data: url }
  return { file_url: url, ...filename }
}
