// Encodes parts of a request as Anthropic's content blocks.

import { type GatewayError, invalidRequest } from '../../errors.ts'
import { isPlainText, readDataUrl, textOf } from '../hub/data-url.ts'
import type { FilePart, ImagePart, JsonObject, RequestPart, ToolCallPart } from '../ir.ts'
import { argumentsObject } from '../json/exact.ts'
import { ownFields, self, writeCache } from './fields.ts'
import { toolId } from './ids.ts'

/** Where a part is in the client's request, and the list of what could not be expressed. */
export interface Place {
  /** Parameter path, e.g. `messages[1].content[0]`. */
  readonly param: string
  readonly role: 'user' | 'assistant'
  readonly dropped: string[]
}

/** How base64 of each image format begins: the declared media type is not always right. */
const beginnings: readonly (readonly [beginning: string, mediaType: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
]
const pictures: ReadonlySet<string> = new Set(beginnings.map(([, mediaType]) => mediaType))

function cannot(what: string, { param }: Place): GatewayError {
  return invalidRequest(`${param}: this model's vendor takes ${what}`, param)
}

/** A file stored with this vendor; the id of another vendor's file would be unknown there. */
function fileSource(id: string, place: Place): JsonObject {
  if (!id.startsWith('file_')) throw cannot('no files stored at another vendor', place)
  return { type: 'file', file_id: id }
}

function pictureSource(mediaType: string, data: string, place: Place): JsonObject {
  const seen = beginnings.find(([beginning]) => data.startsWith(beginning))?.[1]
  const type = seen ?? (mediaType === 'image/jpg' ? 'image/jpeg' : mediaType)
  if (!pictures.has(type)) throw cannot('only JPEG, PNG, GIF and WebP images', place)
  return { type: 'base64', media_type: type, data }
}

function imageBlock(part: ImagePart, place: Place): JsonObject {
  if (part.detail !== undefined) place.dropped.push(`${place.param}.image_url.detail`)
  const source =
    part.vendorFile === undefined
      ? addressSource(part.url, place)
      : fileSource(part.vendorFile, place)
  return { type: 'image', source, ...writeCache(part.cache), ...ownFields(part.extra) }
}

function addressSource(url: string, place: Place): JsonObject {
  const data = readDataUrl(url, place.param)
  return data === null ? { type: 'url', url } : pictureSource(data.mediaType, data.data, place)
}

function documentSource(url: string, place: Place): JsonObject {
  const data = readDataUrl(url, place.param)
  if (data === null) return { type: 'url', url }
  const { mediaType } = data
  if (mediaType === 'application/pdf') {
    return { type: 'base64', media_type: mediaType, data: data.data }
  }
  if (!isPlainText(mediaType)) throw cannot('only PDF and text documents', place)
  return { type: 'text', media_type: 'text/plain', data: textOf(data.data, place.param) }
}

function fileBlock(part: FilePart, place: Place): JsonObject {
  const { url, vendorFile, name } = part
  if (/^data:image\//i.test(url)) return imageBlock({ ...part, type: 'image' }, place)
  const source =
    vendorFile === undefined ? documentSource(url, place) : fileSource(vendorFile, place)
  return {
    type: 'document',
    source,
    ...(name !== undefined && { title: name }),
    ...writeCache(part.cache),
    ...ownFields(part.extra),
  }
}

/** The parameter path by which clients of the chat format know a message's reasoning. */
function thoughtsIn({ param }: Place): string {
  return param.replace(/\.content\[\d+\]$/, '.reasoning_content')
}

function callBlock(part: ToolCallPart): JsonObject {
  return {
    type: 'tool_use',
    id: toolId(part.id),
    name: part.name,
    input: part.custom ? { input: part.arguments } : argumentsObject(part.arguments),
    ...writeCache(part.cache),
    ...ownFields(part.extra),
  }
}

/** A signature on another part came from a thinking block without text. */
function opaqueBlock(sealed: string | undefined): JsonObject[] {
  return sealed === undefined ? [] : [{ type: 'thinking', thinking: '', signature: sealed }]
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

/**
 * The blocks of one part; none where it is blank, because Anthropic refuses empty text. Throws GatewayError naming
 * the part where it cannot be expressed and the model would miss it.
 */
export function encodePart(part: RequestPart, place: Place): JsonObject[] {
  switch (part.type) {
    case 'text': {
      const { text, cache, extra, sealed } = part
      const own = ownFields(extra)
      // A block of another type, which other formats get as text.
      if (own['type'] !== undefined) return [own]
      if (isBlank(text)) return opaqueBlock(sealed)
      return [...opaqueBlock(sealed), { type: 'text', text, ...writeCache(cache), ...own }]
    }
    case 'image':
      return [imageBlock(part, place)]
    case 'file':
      return [fileBlock(part, place)]
    case 'tool-call':
      return [...opaqueBlock(part.sealed), callBlock(part)]
    case 'audio':
      throw cannot('no audio', place)
    case 'reasoning': {
      const { text, sealed, redacted, extra } = part
      if (sealed === undefined) {
        // Anthropic refuses thinking without a signature.
        if (text !== '') place.dropped.push(thoughtsIn(place))
        return []
      }
      if (redacted) return [{ type: 'redacted_thinking', data: sealed, ...ownFields(extra) }]
      return [{ type: 'thinking', thinking: text, signature: sealed, ...ownFields(extra) }]
    }
    case 'other': {
      const own = part.extra[self]
      if (own !== undefined) return [own]
      if (place.role === 'user') throw cannot('no such part', place)
      // Foreign parts of past replies can be left out.
      place.dropped.push(place.param)
      return []
    }
  }
}
