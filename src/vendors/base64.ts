// Base64 inside JSON without holding all of it in memory: puts payloads into requests, and extracts them from replies.

import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { JsonValue } from '../wire/ir.ts'
import { type Keeper, MediaFault, type Payload, type Segment, type Spool } from './media.ts'

/** A payload's bytes in base64, encoded when they are read. */
export class Base64 implements Payload {
  readonly type: string
  readonly size: number
  private readonly payload: Payload

  constructor(payload: Payload) {
    this.payload = payload
    this.type = payload.type
    this.size = Math.ceil(payload.size / 3) * 4
  }

  read(start: number, end: number): Uint8Array {
    const from = Math.floor(start / 4)
    const to = Math.min(this.payload.size, Math.ceil(end / 4) * 3)
    const text = Buffer.from(this.payload.read(from * 3, to)).toString('base64')
    return Buffer.from(text.slice(start - from * 4, end - from * 4), 'latin1')
  }
}

/** JSON with payloads in it as base64: `hole` returns a placeholder to use in the value. */
export class JsonBody {
  private readonly mark = randomBytes(16).toString('hex')
  private readonly holes: Payload[] = []

  /** Bare base64, or as a `data:` URL. */
  hole(payload: Payload, kind: 'bare' | 'address' = 'bare'): string {
    this.holes.push(payload)
    const before = kind === 'address' ? `data:${payload.type};base64,` : ''
    return `${before}${this.mark}`
  }

  segments(value: JsonValue): Segment[] {
    const segments: Segment[] = []
    for (const [at, text] of JSON.stringify(value).split(this.mark).entries()) {
      if (at > 0) {
        const payload = this.holes[at - 1]
        if (payload !== undefined) segments.push(new Base64(payload))
      }
      segments.push(Buffer.from(text, 'utf8'))
    }
    return segments
  }
}

/** Shorter strings stay in the JSON. */
const liftedChars = 4_096
/** The most JSON of a reply, without the strings extracted from it. */
const maxKeptBytes = 8_388_608
const pieceBytes = 262_144
/** Shared by all replies: what is kept of a piece is copied. */
const scratch = new Uint8Array(pieceBytes)
const quote = 0x22
const backslash = 0x5c
const base64Start = /^(data:[\w.+/\\-]*(;[\w=-]+)*,)?[A-Za-z0-9+/\\=]+$/

/** A reply parsed as JSON, with its long base64 strings stored separately. */
export class Lifted {
  readonly json: JsonValue
  private readonly spool: Spool
  private readonly payloads: readonly Payload[]
  private readonly mark: string

  private constructor(lifter: Lifter, spool: Spool) {
    this.spool = spool
    this.mark = lifter.mark
    this.payloads = lifter.payloads
    try {
      this.json = JSON.parse(lifter.text) as JsonValue
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      throw unreadable('the reply is not JSON')
    }
  }

  /** Rejects with MediaFault where it is not JSON. `turn` yields to other work. */
  static async of(payload: Payload, spool: Spool, turn: () => Promise<void>): Promise<Lifted> {
    const lifter = new Lifter(spool)
    for (let at = 0; at < payload.size; at += pieceBytes) {
      if (at > 0) await turn()
      lifter.push(payload.read(at, Math.min(payload.size, at + pieceBytes), scratch))
    }
    return new Lifted(lifter, spool)
  }

  /** The bytes of a base64 string or `data:` URL in the JSON; null where there is no text. */
  bytesAt(value: JsonValue | undefined): Payload | null {
    if (typeof value !== 'string' || value === '') return null
    const lifted = value.startsWith(this.mark) ? value.slice(this.mark.length) : null
    if (lifted !== null) return this.payloads[Number(lifted)] ?? null
    const [, type = '', text = value] = /^data:([\w.+/-]*)[^,]*,(.*)$/s.exec(value) ?? []
    try {
      const bytes = Uint8Array.fromBase64(text)
      return this.spool.inMemory(bytes, imageType(bytes) ?? (type || 'application/octet-stream'))
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      throw unreadable('the reply contains invalid base64')
    }
  }
}

class Lifter {
  readonly mark = `lifted-${randomBytes(16).toString('hex')}-`
  readonly payloads: Payload[] = []
  private readonly spool: Spool
  private readonly kept: Buffer[] = []
  private keptBytes = 0
  private state: 'between' | 'begun' | 'plain' | 'lifted' = 'between'
  /** The start of a string that may turn out to be base64, without its opening quote. */
  private begun = Buffer.alloc(0)
  private escaped = false
  private decoder: Decoder | null = null

  constructor(spool: Spool) {
    this.spool = spool
  }

  get text(): string {
    if (this.state !== 'between') throw unreadable('the reply breaks off')
    return Buffer.concat(this.kept).toString('utf8')
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let at = 0
    while (at < bytes.length) at = this.step(bytes, at)
  }

  private step(bytes: Buffer, at: number): number {
    if (this.state === 'between') {
      const open = bytes.indexOf(quote, at)
      const end = open < 0 ? bytes.length : open + 1
      this.keep(bytes.subarray(at, end))
      if (open >= 0) this.state = 'begun'
      return end
    }
    const end = this.stringEnd(bytes, at)
    const piece = bytes.subarray(at, end < 0 ? bytes.length : end)
    if (this.state === 'begun') this.begin(piece, end >= 0)
    else if (this.state === 'lifted') this.decoder?.push(piece)
    else this.keep(piece)
    if (end < 0) return bytes.length
    this.close()
    return end + 1
  }

  /** The index of the quote that ends the string; -1 where it is not in these bytes. */
  private stringEnd(bytes: Buffer, from: number): number {
    let at = from
    if (this.escaped) {
      this.escaped = false
      at++
    }
    for (;;) {
      const end = bytes.indexOf(quote, at)
      const limit = end < 0 ? bytes.length : end
      const slash = bytes.subarray(at, limit).indexOf(backslash)
      if (slash < 0) return end
      at += slash + 2
      if (at > bytes.length) {
        this.escaped = true
        return -1
      }
    }
  }

  private begin(piece: Buffer, whole: boolean): void {
    this.begun = Buffer.concat([this.begun, piece])
    if (this.begun.length < liftedChars) {
      if (whole) this.keep(this.begun)
      return
    }
    const text = this.begun.subarray(0, liftedChars).toString('latin1')
    if (base64Start.test(text)) {
      this.state = 'lifted'
      this.decoder = new Decoder(this.spool)
      this.decoder.push(this.begun)
    } else {
      this.state = 'plain'
      this.keep(this.begun)
    }
  }

  private close(): void {
    if (this.decoder !== null) {
      this.keep(Buffer.from(`${this.mark}${this.payloads.length}`, 'latin1'))
      this.payloads.push(this.decoder.end())
    }
    this.keep(Buffer.from('"', 'latin1'))
    this.decoder = null
    this.begun = Buffer.alloc(0)
    this.state = 'between'
  }

  private keep(bytes: Buffer): void {
    this.keptBytes += bytes.length
    if (this.keptBytes > maxKeptBytes) throw unreadable('the reply is too long')
    // A copy: the caller reuses its buffer for the next read.
    this.kept.push(Buffer.from(bytes))
  }
}

/** Some servers escape `+` and `=`: System.Text.Json's and Gson's default encoders. */
const unfinishedEscape = /\\(u[0-9a-fA-F]{0,3})?$/

/** Decodes base64 that is given in pieces of any length. */
class Decoder {
  private readonly spool: Spool
  private keeper: Keeper | null = null
  private rest = ''
  /** The beginning of a `data:` URL may still have to be removed. */
  private heading = true

  constructor(spool: Spool) {
    this.spool = spool
  }

  push(piece: Buffer): void {
    // Plain base64 in whole groups is decoded without a copy of the text: there may be megabytes of it.
    const text = this.rest + piece.toString('latin1')
    this.take(this.heading ? this.headless(text) : text)
  }

  private headless(text: string): string {
    this.heading = false
    return text.startsWith('data:') ? text.slice(text.indexOf(',') + 1) : text
  }

  private take(text: string): void {
    if (!text.includes('\\')) {
      const whole = text.length - (text.length % 4)
      this.rest = text.slice(whole)
      this.decode(whole === text.length ? text : text.slice(0, whole))
      return
    }
    const split = text.length - (unfinishedEscape.exec(text.slice(-5))?.[0].length ?? 0)
    const plain = text
      .slice(0, split)
      .replaceAll(/\\u[0-9a-fA-F]{4}/g, (code) => String(JSON.parse(`"${code}"`)))
      .replaceAll(/\\([/nr])/g, (_, code) => (code === '/' ? '/' : ''))
    const whole = plain.length - (plain.length % 4)
    this.rest = plain.slice(whole) + text.slice(split)
    this.decode(plain.slice(0, whole))
  }

  end(): Payload {
    this.decode(this.rest)
    if (this.keeper === null) throw unreadable('the reply contains invalid base64')
    return this.keeper.end()
  }

  private decode(text: string): void {
    if (text === '') return
    try {
      const bytes = Uint8Array.fromBase64(text)
      this.keeper ??= this.spool.keeper(imageType(bytes) ?? 'application/octet-stream')
      this.keeper.push(bytes)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      throw unreadable('the reply contains invalid base64')
    }
  }
}

/** An image's media type by its first bytes; null for types that no model makes. */
export function imageType(bytes: Uint8Array): string | null {
  const text = String.fromCharCode(...bytes.subarray(0, 16))
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp'
  if (/^GIF8[79]a/.test(text)) return 'image/gif'
  if (/^....ftypavi[fs]/s.test(text)) return 'image/avif'
  return /^\s*<(\?xml|svg)/.test(text) ? 'image/svg+xml' : null
}

function unreadable(message: string): MediaFault {
  return new MediaFault({ kind: 'unreadable', message })
}
