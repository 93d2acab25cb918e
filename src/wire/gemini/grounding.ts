// Converts Google's grounding and citation metadata to citations and back.

import type { JsonObject, UrlCitation } from '../ir.ts'
import { isObject, listOf, objectOf, objectsIn, stringOf } from '../json/value.ts'
import { numberOf } from './fields.ts'

const encoder = new TextEncoder()

/** Converts byte offsets to UTF-16 offsets: Google counts bytes of UTF-8 (API reference, `Segment`). */
function offsets(text: string): (byte: number | null) => number | undefined {
  const { length } = encoder.encode(text)
  let known: Uint32Array | null = null
  return (byte) => {
    if (byte === null) return undefined
    if (length === text.length) return Math.min(byte, length)
    known ??= offsetsOf(text, length)
    return known[Math.min(Math.max(Math.ceil(byte), 0), length)]
  }
}

/** The UTF-16 offset of each byte, which is behind the letter that the byte before is part of. */
function offsetsOf(text: string, length: number): Uint32Array {
  const found = new Uint32Array(length + 1)
  let bytes = 0
  let at = 0
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0
    const next = bytes + (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4)
    at += letter.length
    found.fill(at, bytes + 1, next + 1)
    bytes = next
  }
  return found
}

interface Source {
  readonly url: string
  readonly title: string
}

function sourcesOf(grounding: JsonObject): Source[] {
  return objectsIn(grounding['groundingChunks']).map((chunk) => {
    const kinds = ['web', 'retrievedContext', 'maps', 'image'].map((kind) => chunk[kind])
    const found = kinds.find(isObject) ?? {}
    return { url: stringOf(found['uri']), title: stringOf(found['title']) }
  })
}

function citation(source: Source, start?: number, end?: number): UrlCitation {
  return {
    url: source.url,
    ...(source.title !== '' && { title: source.title }),
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
  }
}

/** The citations that a candidate's metadata gives for `text`; a source without a segment is cited without offsets. */
export function readCitations(candidate: JsonObject, text: string): UrlCitation[] {
  const found: UrlCitation[] = []
  const place = offsets(text)
  const { groundingMetadata: grounding, citationMetadata: cited } = candidate
  if (isObject(grounding)) {
    const sources = sourcesOf(grounding)
    const named = new Set<number>()
    for (const support of objectsIn(grounding['groundingSupports'])) {
      const segment = objectOf(support['segment'])
      const end = place(numberOf(segment['endIndex']))
      const start = end === undefined ? undefined : place(numberOf(segment['startIndex']) ?? 0)
      const indices = support['groundingChunkIndices']
      for (const index of listOf(indices)) {
        const source = sources[Number(index)]
        named.add(Number(index))
        if (source !== undefined && source.url !== '') found.push(citation(source, start, end))
      }
    }
    for (const [index, source] of sources.entries()) {
      if (!named.has(index) && source.url !== '') found.push(citation(source))
    }
  }
  if (isObject(cited)) {
    for (const each of objectsIn(cited['citationSources'] ?? cited['citations'])) {
      const source = { url: stringOf(each['uri']), title: stringOf(each['title']) }
      const end = place(numberOf(each['endIndex']))
      const start = end === undefined ? undefined : place(numberOf(each['startIndex']) ?? 0)
      if (source.url !== '') found.push(citation(source, start, end))
    }
  }
  return found
}

/** Writes the citations of a text as `groundingMetadata`. */
export function writeCitations(citations: readonly UrlCitation[], text: string): JsonObject {
  const chunks: JsonObject[] = []
  const indexOf = new Map<string, number>()
  const supports: JsonObject[] = []
  for (const { url, title, start, end } of citations) {
    const known = indexOf.get(url)
    const index = known ?? chunks.length
    if (known === undefined) {
      indexOf.set(url, index)
      chunks.push({ web: { uri: url, ...(title !== undefined && { title }) } })
    }
    if (start === undefined || end === undefined) continue
    const said = text.slice(start, end)
    const startIndex = encoder.encode(text.slice(0, start)).length
    const endIndex = startIndex + encoder.encode(said).length
    supports.push({ segment: { startIndex, endIndex, text: said }, groundingChunkIndices: [index] })
  }
  return { groundingChunks: chunks, ...(supports.length > 0 && { groundingSupports: supports }) }
}
