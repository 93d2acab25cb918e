// Records a request to a vendor and its reply without secrets, for an operator who tests a channel.

import { Buffer } from 'node:buffer'
import { secretHeader } from '../config/describe.ts'
import { scrub } from '../telemetry/scrub.ts'
import type { Destination } from '../upstream/connect.ts'
import { join } from '../wire/json/splice.ts'

interface Headers {
  readonly [name: string]: string
}

export interface RawExchange {
  readonly request: {
    readonly method: string
    readonly address: string
    readonly headers: Headers
    readonly body: string
  }
  /** null where there was no reply. Only the known headers below are shown. */
  readonly reply: {
    readonly status: number
    readonly headers: Headers
    readonly body: string
  } | null
}

/** Most bytes shown of each body. */
const mostBytes = 16_384
const hidden = '***'
/** Headers that are looked up in a vendor's reply, since its headers cannot be listed. */
const replyHeaders = [
  'content-type',
  'content-length',
  'date',
  'server',
  'location',
  'retry-after',
  'x-request-id',
  'request-id',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'cf-ray',
]

/** Records one exchange while it runs. */
export class ExchangeNotes {
  readonly #secrets: readonly string[]
  readonly #request: RawExchange['request']
  #reply: { readonly status: number; readonly headers: Headers } | null = null
  readonly #chunks: Uint8Array[] = []
  #bytes = 0

  constructor(destination: Destination | null, body: Uint8Array, secrets: readonly string[]) {
    this.#secrets = secrets
    this.#request = { ...this.#headOf(destination), body: this.#text(body) }
  }

  head(status: number, header: (name: string) => string | null): void {
    const found = replyHeaders.flatMap((name) => {
      const value = header(name)
      return value === null ? [] : [[name, scrub(value, this.#secrets)] as const]
    })
    this.#reply = { status, headers: Object.fromEntries(found) }
  }

  bytes(chunk: Uint8Array): void {
    if (this.#bytes < mostBytes) this.#chunks.push(chunk)
    this.#bytes += chunk.length
  }

  result(): RawExchange {
    const reply = this.#reply && { ...this.#reply, body: this.#text(join(this.#chunks)) }
    return { request: this.#request, reply }
  }

  #headOf(destination: Destination | null): Omit<RawExchange['request'], 'body'> {
    if (destination === null) return { method: 'POST', address: 'built-in', headers: {} }
    const [line = '', ...fields] = destination.head.split('\r\n')
    const [method = '', path = ''] = line.split(' ')
    const headers = fields.flatMap((field) => {
      const [, name, value] = /^([^:]+): (.+)$/.exec(field) ?? []
      if (name === undefined || value === undefined) return []
      return [[name, secretHeader.test(name) ? hidden : scrub(value, this.#secrets)] as const]
    })
    // After the origin comes the route to it; for some proxies the path is the whole URL.
    const [origin = ''] = path.startsWith('/') ? destination.origin.split(' ') : []
    const address = scrub(origin + path, this.#secrets)
    return { method, address, headers: Object.fromEntries(headers) }
  }

  #text(body: Uint8Array): string {
    // Secrets are removed before the text is cut: a secret cut in half would not be found.
    return scrub(Buffer.from(body).toString('utf8'), this.#secrets).slice(0, mostBytes)
  }
}
