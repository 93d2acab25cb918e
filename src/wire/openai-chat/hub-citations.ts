// Citations, token probabilities and images of a reply, read from this format's members and written to them.

import type { JsonObject, JsonValue, UrlCitation } from '../ir.ts'
import { isObject, objectsIn, stringOf } from '../json/value.ts'
import { hasFields, ownFields, present, withExtra } from './hub-fields.ts'

function offset(value: JsonValue | undefined, base: number): number | null {
  return typeof value === 'number' && value >= base ? value - base : null
}

/** Reads one of `annotations`, with offsets counted from `base`; null where it cites no web page. */
export function readCitation(value: JsonValue, base: number): UrlCitation | null {
  const cited = isObject(value) && value['type'] === 'url_citation' ? value['url_citation'] : null
  if (!isObject(cited) || typeof cited['url'] !== 'string') return null
  const { url, title, start_index: first, end_index: last, ...more } = present(cited)
  const start = offset(first, base)
  const end = offset(last, base)
  // An empty range means none: the format cannot leave the offsets out.
  const ranged = start !== null && end !== null && end > start
  return {
    url: stringOf(url),
    ...(typeof title === 'string' && title !== '' && { title }),
    ...(ranged && { start, end }),
    ...withExtra(more),
  }
}

export function writeCitation(citation: UrlCitation, base: number): JsonObject {
  const { url, title = '', start, end, extra } = citation
  const ranged = start !== undefined && end !== undefined
  const [first, last] = ranged ? [start + base, end + base] : [0, 0]
  const cited = { start_index: first, end_index: last, url, title, ...ownFields(extra) }
  return { type: 'url_citation', url_citation: cited }
}

interface Tokens {
  readonly content: readonly JsonObject[]
  readonly refusal: readonly JsonObject[]
}

/** Reads a choice's `logprobs`; null where they are not in this format. */
export function readTokens(value: JsonValue | undefined): Tokens | null {
  if (!isObject(value)) return null
  const { content, refusal, ...more } = present(value)
  if (hasFields(more) || (!Array.isArray(content) && !Array.isArray(refusal))) return null
  return {
    content: objectsIn(content),
    refusal: objectsIn(refusal),
  }
}

export function writeTokens({ content, refusal }: Tokens): JsonObject | null {
  if (content.length === 0 && refusal.length === 0) return null
  return {
    content: content.length > 0 ? [...content] : null,
    refusal: refusal.length > 0 ? [...refusal] : null,
  }
}

/** Reads one of OpenRouter's `images` as base64; null where it is given as a URL. */
export function readImage(value: JsonValue): { mediaType: string; data: string } | null {
  const image = isObject(value) ? value['image_url'] : null
  const url = isObject(image) ? stringOf(image['url']) : ''
  const comma = url.indexOf(';base64,')
  if (!url.startsWith('data:') || comma < 0) return null
  return { mediaType: url.slice('data:'.length, comma), data: url.slice(comma + ';base64,'.length) }
}

export function writeImage(mediaType: string, data: string): JsonObject {
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } }
}
