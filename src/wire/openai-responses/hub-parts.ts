// Parts of input items, into the hub and out of it.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject, JsonValue, RequestPart } from '../ir.ts'
import { isObject, stringOf } from '../json/value.ts'
import { present } from '../openai-chat/hub-fields.ts'
import { ownFields, self, withExtra } from './hub-fields.ts'

/** A text, or a list of parts at `place`. */
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
  if (textTypes.has(stringOf(type))) {
    const { text, ...rest } = fields
    for (const name of ['annotations', 'logprobs']) if (isEmptyList(rest[name])) delete rest[name]
    return { type: 'text', text: stringOf(text), ...withExtra(rest) }
  }
  switch (type) {
    // What a model refused with is text to any other.
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
        ...withExtra(rest),
      }
    }
    case 'input_file':
      return decodeFile(fields)
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
    // Bare base64 is taken for a PDF, the one kind every vendor reads.
    url: bare ? `data:application/pdf;base64,${text}` : text || stringOf(address),
    ...(typeof id === 'string' && { vendorFile: id }),
    ...(typeof filename === 'string' && { name: filename }),
    ...withExtra(rest),
  }
}

/** A part that is content of a message or of a tool's answer. */
export type ContentPart = Exclude<RequestPart, { readonly type: 'tool-call' | 'reasoning' }>

/**
 * The part in this format's words; null for one that only another dialect knows. `said` where a model said it.
 * Throws GatewayError for what the format has no part for.
 */
export function encodePart(part: ContentPart, said: boolean, place: string): JsonObject | null {
  if (part.type === 'other') return part.extra[self] ?? null
  const own = ownFields(part.extra)
  if (part.type === 'text') {
    if (own['type'] === 'refusal') return { refusal: part.text, ...own }
    return { type: said ? 'output_text' : 'input_text', text: part.text, ...own }
  }
  if (said) {
    throw invalidRequest(`${place}: this model does not take back what is no text`, place)
  }
  switch (part.type) {
    case 'image': {
      const { url, vendorFile, detail = 'auto' } = part
      const source = vendorFile === undefined ? { image_url: url } : { file_id: vendorFile }
      return { type: 'input_image', ...source, detail, ...own }
    }
    case 'file':
      return { type: 'input_file', ...fileOf(part), ...own }
    case 'audio': {
      const { data, format } = part
      return { type: 'input_audio', input_audio: { data, format }, ...own }
    }
  }
}

function fileOf({ url, vendorFile, name }: Extract<RequestPart, { readonly type: 'file' }>) {
  const filename = name === undefined ? {} : { filename: name }
  if (vendorFile !== undefined) return { file_id: vendorFile, ...filename }
  // OpenAI refuses bytes without a name.
  if (url.startsWith('data:')) return { filename: name ?? 'file', file_data: url }
  return { file_url: url, ...filename }
}
