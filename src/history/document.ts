// The stored document of one exchange: request and reply as JSON, with images, audio and files moved into blobs.

import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { HistoryBlob, HistoryEntry, HistoryHead } from '../store/history.ts'
import type { ClientDialectId } from '../wire/formats.ts'
import type { JsonValue } from '../wire/ir.ts'
import { sniffedType } from '../wire/media/sniff.ts'
import { foldedReply } from './fold.ts'
import { openSealer, type Sealer } from './sealed.ts'

/** An exchange as the serving thread recorded it. */
export interface Exchange {
  readonly head: Omit<HistoryHead, 'format'> & { readonly format: ClientDialectId }
  /** Key to which bodies are sealed in the mode `sealed`. */
  readonly publicKey: string | null
  readonly request: Uint8Array
  readonly reply: Uint8Array
  /** Files of a form request. */
  readonly files: readonly ExchangedFile[]
  /** The requests sent to vendors, in order. */
  readonly sent: readonly SentRequest[]
}

export interface ExchangedFile {
  readonly field: string
  readonly name: string
  readonly type: string
  readonly content: Uint8Array
}

export interface SentRequest {
  readonly channel: string
  readonly format: string
  readonly body: Uint8Array
}

/** Replaces a blob in a document; followed by the blob's id. */
const blobMark = 'blob:'

/** Folds, extracts blobs, compresses and seals: work for a thread that serves no requests. */
export async function entryOf(exchange: Exchange): Promise<HistoryEntry> {
  const { head, publicKey } = exchange
  const bare = { ...head, wrappedKey: null, content: null }
  if (head.mode === 'metadata') return { message: bare, blobs: [] }
  const isSealed = head.mode === 'sealed' && publicKey !== null
  const sealer = isSealed ? await openSealer(publicKey, head.requestId) : null
  const { text, blobs } = await withoutBlobs(documentText(exchange), sealer)
  const compressed = gzipSync(text)
  if (sealer === null) return { message: { ...bare, content: compressed }, blobs }
  const content = await sealer.encrypt(compressed)
  return { message: { ...bare, wrappedKey: sealer.wrappedKey, content }, blobs }
}

function documentText({ head, request, reply, files, sent }: Exchange): string {
  const folded = head.stream ? foldedReply(head.format, reply) : null
  return JSON.stringify({
    request: valueOf(request),
    reply: folded ?? valueOf(reply),
    ...(files.length > 0 && {
      files: files.map(({ field, name, type, content }) => ({
        field,
        name,
        type,
        size: content.length,
        content: dataUrl(type, content),
      })),
    }),
    ...(sent.length > 0 && {
      sent: sent.map(({ channel, format, body }) => ({ channel, format, request: valueOf(body) })),
    }),
  })
}

/** JSON as its value, other text unchanged, binary data as a data URL; null if empty. */
function valueOf(bytes: Uint8Array): JsonValue {
  if (bytes.length === 0) return null
  const text = textOf(bytes)
  if (text === null) return dataUrl(typeOf(bytes) ?? unknownType, bytes)
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return text
  }
}

/** null if it is no text; text that was cut within a character counts as text. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

const unknownType = 'application/octet-stream'

function dataUrl(type: string, bytes: Uint8Array): string {
  return `data:${type};base64,${Buffer.from(bytes).toString('base64')}`
}

function typeOf(bytes: Uint8Array): string | null {
  if (Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-') return 'application/pdf'
  const read = (start: number, end: number) => bytes.subarray(start, end)
  return sniffedType({ size: bytes.length, read })
}

/** Data URLs in a document's text, and base64 that may be files; quotes tell whether it is a whole string. */
const candidates =
  /("?)(?:(data:([\w.+/-]*)(?:;[\w.+=-]+)*;base64,)([\w+/-]+={0,2})|([\w+/-]{64,}={0,2}))("?)/g
/** A whole string of at least this much base64 is binary data, even if its type is unknown. */
const surelyNoText = 512

async function withoutBlobs(text: string, sealer: Sealer | null) {
  const blobs = new Map<string, HistoryBlob>()
  let rest = ''
  let from = 0
  for (const match of text.matchAll(candidates)) {
    const found = blobIn(match)
    if (found === null) continue
    const content = sealer === null ? found.bytes : await sealer.encrypt(found.bytes)
    const id = createHash('sha256').update(content).digest('hex')
    blobs.set(id, { id, type: found.type, content })
    const [whole, before = '', prefix = '', , , , after = ''] = match
    rest += `${text.slice(from, match.index)}${before}${prefix}${blobMark}${id}${after}`
    from = match.index + whole.length
  }
  return { text: rest + text.slice(from), blobs: [...blobs.values()] }
}

function blobIn(match: RegExpExecArray): { bytes: Uint8Array; type: string } | null {
  const [, before, , named, addressed, bare = '', after] = match
  if (addressed !== undefined) {
    const bytes = Buffer.from(addressed, 'base64')
    return { bytes, type: typeOf(bytes) ?? (named || unknownType) }
  }
  const type = typeOf(Buffer.from(bare.slice(0, 8_192), 'base64'))
  const isString = before === '"' && after === '"'
  if (type === null && !(isString && bare.length >= surelyNoText)) return null
  const bytes = Buffer.from(bare, 'base64')
  // Only data that can be restored exactly.
  return plainBase64(bytes.toString('base64')) === plainBase64(bare)
    ? { bytes, type: type ?? unknownType }
    : null
}

function plainBase64(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
}
