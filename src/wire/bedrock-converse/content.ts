// Encodes parts of messages as Converse's content blocks ("ContentBlock", Bedrock Runtime API reference).

import { type GatewayError, invalidRequest } from '../../errors.ts'
import { readDataUrl } from '../hub/data-url.ts'
import type { CacheMark, FilePart, ImagePart, JsonObject, RequestPart } from '../ir.ts'
import { argumentsObject } from '../json/exact.ts'
import type { Family } from './families.ts'

/** State shared by all parts of one request while it is encoded. */
export interface Writing {
  readonly family: Family
  /** S3 buckets whose pictures clients may name. */
  readonly buckets: ReadonlySet<string>
  readonly dropped: string[]
  /** Names of documents so far, each with the last number that was put behind it. */
  readonly documents: Map<string, number>
}

export interface Place {
  /** Parameter path, e.g. `messages[1].content[0]`. */
  readonly param: string
  readonly role: 'user' | 'assistant'
}

function cannot(what: string, { param }: Place): GatewayError {
  return invalidRequest(`${param}: this model's vendor takes ${what}`, param)
}

/** How base64 of each image format begins: the declared media type is not always right. */
const beginnings: readonly (readonly [beginning: string, format: string])[] = [
  ['iVBORw0KGgo', 'png'],
  ['/9j/', 'jpeg'],
  ['R0lGOD', 'gif'],
  ['UklGR', 'webp'],
]
const pictures: ReadonlySet<string> = new Set(beginnings.map(([, format]) => format))

const documents: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'application/pdf': 'pdf',
    'text/csv': 'csv',
    'application/msword': 'doc',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.ms-excel': 'xls',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    'text/html': 'html',
    'text/plain': 'txt',
    'text/markdown': 'md',
  }),
)
const plainTypes = /^(text\/|application\/(json|xml|yaml|x-yaml|javascript|x-ndjson)\b)/

function pictureFormat(mediaType: string, data: string, place: Place): string {
  const named = mediaType.replace(/^image\//, '').replace(/^jpg$/, 'jpeg')
  const format = beginnings.find(([beginning]) => data.startsWith(beginning))?.[1] ?? named
  if (!pictures.has(format)) throw cannot('only JPEG, PNG, GIF and WebP images', place)
  return format
}

/** An image in S3, which Bedrock reads with the channel's rights: only from buckets that the operator has opened. */
function s3Image(url: string, place: Place, { buckets }: Writing): JsonObject {
  const [, , bucket = ''] = url.split('/', 3)
  if (!buckets.has(bucket)) throw cannot('images only as base64 data, none from this bucket', place)
  const ending = url.slice(url.lastIndexOf('.') + 1).toLowerCase()
  const format = pictureFormat(ending, '', place)
  return { image: { format, source: { s3Location: { uri: url } } } }
}

function imageBlock(
  { url, detail }: ImagePart | (FilePart & { detail?: never }),
  place: Place,
  writing: Writing,
) {
  if (place.role === 'assistant') throw cannot('images only in user messages', place)
  if (detail !== undefined) writing.dropped.push(`${place.param}.image_url.detail`)
  if (url.startsWith('s3://')) return s3Image(url, place, writing)
  const found = readDataUrl(url, place.param)
  if (found === null) throw cannot('images only as base64 data', place)
  const format = pictureFormat(found.mediaType, found.data, place)
  return { image: { format, source: { bytes: found.data } } }
}

/** A valid document name: letters, digits, single spaces, hyphens, brackets; 200 characters; unique in the request. */
function documentName(name: string | undefined, taken: Map<string, number>): string {
  const plain = (name ?? '')
    .replace(/\.[A-Za-z0-9]{1,8}$/, '')
    .replace(/[^A-Za-z0-9\s\-()[\]]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 190)
  const first = plain === '' ? 'document' : plain
  let unique = first
  // Goes on behind the last number of this name: of many documents most have none.
  let count = taken.get(first) ?? 1
  while (taken.has(unique)) unique = `${first} ${++count}`
  taken.set(first, count)
  if (unique !== first) taken.set(unique, 1)
  return unique
}

function fileBlock(part: FilePart, place: Place, writing: Writing): JsonObject {
  const { url, name } = part
  if (/^data:image\//i.test(url)) return imageBlock(part, place, writing)
  if (place.role === 'assistant') throw cannot('files of the user alone', place)
  const found = readDataUrl(url, place.param)
  if (found === null) throw cannot('files by their bytes alone', place)
  const format = documents.get(found.mediaType) ?? (plainTypes.test(found.mediaType) ? 'txt' : null)
  if (format === null) {
    throw cannot('documents as PDF, CSV, Word, Excel, HTML, Markdown or text alone', place)
  }
  const document = { format, name: documentName(name, writing.documents) }
  return { document: { ...document, source: { bytes: found.data } } }
}

/** FNV-1a, 32 bits: distinguishes ids that become equal once their characters are replaced. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  }
  return (value >>> 0).toString(36)
}

/** A call id in the form Bedrock accepts: letters, digits, `_` and `-`, at most 64; always the same for the same id. */
export function toolUseId(id: string): string {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(id)) return id
  return `${id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 56)}_${hash(id)}`
}

export function cachePoint(mark: CacheMark): JsonObject {
  return { cachePoint: { type: 'default', ...(mark.ttl === '1h' && { ttl: '1h' }) } }
}

/** The cache point after a marked part, if the model caches prompts. */
export function pointAfter(mark: CacheMark | undefined, param: string, writing: Writing) {
  if (mark === undefined) return []
  const { family, dropped } = writing
  if (!family.caches) dropped.push(`${param}.cache_control`)
  return family.caches ? [cachePoint(family.cachesTools ? mark : { ttl: '5m' })] : []
}

/**
 * The block of one part; none where it is blank, because Bedrock refuses blank text. Throws GatewayError naming the
 * part where it cannot be expressed and the model would miss it.
 */
export function encodePart(part: RequestPart, place: Place, writing: Writing): JsonObject[] {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ text: part.text }]
    case 'image':
      return [imageBlock(part, place, writing)]
    case 'file':
      return [fileBlock(part, place, writing)]
    case 'audio':
      throw cannot('no audio', place)
    case 'tool-call': {
      const { id, name, arguments: text, custom } = part
      const input = custom ? { input: text } : argumentsObject(text)
      return [{ toolUse: { toolUseId: toolUseId(id), name, input } }]
    }
    case 'reasoning': {
      const { text, sealed, redacted } = part
      if (sealed === undefined) {
        // Bedrock refuses reasoning without a signature.
        if (text !== '')
          writing.dropped.push(place.param.replace(/\.content\[\d+\]$/, '.reasoning_content'))
        return []
      }
      if (redacted) return [{ reasoningContent: { redactedContent: sealed } }]
      return [{ reasoningContent: { reasoningText: { text, signature: sealed } } }]
    }
    case 'other':
      if (place.role === 'user') throw cannot('no such part', place)
      // Foreign parts of past replies can be left out.
      writing.dropped.push(place.param)
      return []
  }
}
