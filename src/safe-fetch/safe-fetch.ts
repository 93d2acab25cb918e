// Fetches URLs that users and vendors name: only from the public internet, bounded in size and time.

import { Buffer } from 'node:buffer'
import { lookup } from 'node:dns/promises'
import type { Destination } from '../upstream/connect.ts'
import type { Dialer } from '../upstream/dial.ts'
import type { ReplyHandler } from '../vendors/transport.ts'
import { join } from '../wire/json/splice.ts'
import { isGlobalAddress } from './global-address.ts'

export interface SafeFetchOptions {
  readonly dialer: Dialer
  readonly maxBytes: number
  /** The time for the whole fetch with redirects; where `untilQuiet`, for each wait between two received pieces. */
  readonly timeoutMs: number
  readonly untilQuiet?: boolean
  /** The `accept` header; by default the types that models read. */
  readonly accept?: string
  /** Posts this instead of getting; any 2xx is a success then, and redirects are not followed. */
  readonly post?: Posted
  /** An origin that the operator named: it may be reached in a private network too. */
  readonly home?: string
  /** Returns all addresses of a name; by default the system's resolver. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  /** Whether an address may be connected to; by default only global ones. */
  readonly allows?: (address: string, port: number) => boolean
}

interface Posted {
  readonly body: Uint8Array
  /** Header fields; values must not contain line breaks. */
  readonly fields: Readonly<Record<string, string>>
  /** How many bytes of a refusal's body become part of the error message; none by default. */
  readonly reasonBytes?: number
}

export interface Fetched {
  readonly bytes: Uint8Array
  /** In lower case, without parameters; empty where the reply names none. */
  readonly mediaType: string
}

/** Why something was not fetched; the message may be shown to whoever named the URL. */
export class NotFetched extends Error {
  override readonly name = 'NotFetched'
  /** The status of the server, where that is the reason; else null. */
  readonly status: number | null

  constructor(message: string, status: number | null = null) {
    super(message)
    this.status = status
  }
}

export interface SafeFetch {
  /** Throws NotFetched. */
  fetch(address: string): Promise<Fetched>
}

const maxRedirects = 3
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  return {
    async fetch(address) {
      const chunks: Uint8Array[] = []
      let mediaType = ''
      await fetchTo(options, address, {
        begin: (type) => {
          mediaType = type
        },
        push: (chunk) => void chunks.push(chunk),
      })
      return { bytes: Buffer.from(join(chunks)), mediaType }
    },
  }
}

/** Posts a text to a URL that a user named; the reply's body is dropped. Throws NotFetched. */
export function postTo(
  options: SafeFetchOptions,
  address: string,
  body: string,
  fields: Readonly<Record<string, string>>,
): Promise<void> {
  return postBytes(options, address, { body: Buffer.from(body, 'utf8'), fields })
}

/** The same for bytes. */
export async function postBytes(
  options: SafeFetchOptions,
  address: string,
  post: Posted,
): Promise<void> {
  await fetchTo({ ...options, post }, address, { begin: () => undefined, push: () => undefined })
}

/** Receives a reply as it arrives; an error thrown here ends the fetch, which rejects with it. */
export interface Receiver {
  /** `mediaType`: in lower case, without parameters; empty where the reply names none. */
  begin(mediaType: string): void
  push(chunk: Uint8Array): void
}

/** Throws NotFetched, also when the signal is aborted. */
export async function fetchTo(
  options: SafeFetchOptions,
  address: string,
  receiver: Receiver,
  signal?: AbortSignal,
): Promise<void> {
  const timer = new Timer(options.timeoutMs)
  const left = () => timer.end('the request for it was aborted')
  signal?.addEventListener('abort', left)
  try {
    if (signal?.aborted === true) left()
    let url = checkedUrl(address)
    for (let hops = 0; hops <= maxRedirects; hops++) {
      const location = await fetchOnce(options, url, receiver, timer)
      if (location === null) return
      // Checked again: a redirect's target can be trusted no more than the first URL.
      url = checkedUrl(location, url)
    }
    throw new NotFetched('it redirects too often')
  } finally {
    signal?.removeEventListener('abort', left)
    timer.stop()
  }
}

/** Limits how long is waited. */
class Timer {
  private readonly timeoutMs: number
  private readonly ended = Promise.withResolvers<never>()
  private timeout: ReturnType<typeof setTimeout>

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs
    this.timeout = this.started()
    // Nobody may be waiting when it rejects.
    this.ended.promise.catch(() => undefined)
  }

  race<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.ended.promise])
  }

  restart(): void {
    this.stop()
    this.timeout = this.started()
  }

  end(why: string): void {
    this.ended.reject(new NotFetched(why))
  }

  stop(): void {
    clearTimeout(this.timeout)
  }

  private started() {
    return setTimeout(() => this.end('it took too long'), this.timeoutMs)
  }
}

/** The IP address to connect to for a URL, if its host is allowed. Throws NotFetched. */
export async function judgedHost(options: SafeFetchOptions, url: string): Promise<string> {
  const { host, port } = partsOf(checkedUrl(url))
  const timer = new Timer(options.timeoutMs)
  try {
    return await judgedAddress(options, host, port, timer)
  } finally {
    timer.stop()
  }
}

function checkedUrl(text: string, base?: URL): URL {
  let url: URL
  try {
    url = new URL(text, base)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new NotFetched('it is not an address')
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new NotFetched('only http and https addresses are fetched')
  if (url.username !== '' || url.password !== '')
    throw new NotFetched('an address with credentials is not fetched')
  return url
}

const whatModelsRead = 'image/*, application/pdf, text/plain;q=0.5'

/** The target of a redirect; null where the reply was read to its end. */
async function fetchOnce(
  options: SafeFetchOptions,
  url: URL,
  receiver: Receiver,
  timer: Timer,
): Promise<string | null> {
  const { tls, host, port } = partsOf(url)
  const isHome = url.origin === options.home
  const judging = isHome ? { ...options, allows: () => true } : options
  const address = await judgedAddress(judging, host, port, timer)
  const destination: Destination = {
    // Connections are pooled by origin: one to this address must not be used for a URL that was checked separately.
    origin: `${url.protocol}//${url.host} ${address}`,
    host,
    address,
    port,
    tls,
    head:
      `${options.post === undefined ? 'GET' : 'POST'} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n` +
      fieldsOf(options.post) +
      `accept: ${options.accept ?? whatModelsRead}\r\naccept-encoding: identity\r\n` +
      'user-agent: tollgate\r\nconnection: close\r\ncontent-length: ',
  }
  return receive(options, destination, receiver, timer)
}

function fieldsOf(post: Posted | undefined): string {
  const lines = Object.entries(post?.fields ?? {}).map(([name, value]) => `${name}: ${value}\r\n`)
  return lines.join('')
}

function partsOf(url: URL) {
  const tls = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port)
  return { tls, host, port }
}

/** All addresses of the name must be allowed, so that no later look-up can lead elsewhere; the first is used. */
async function judgedAddress(
  options: SafeFetchOptions,
  host: string,
  port: number,
  timer: Timer,
): Promise<string> {
  const { resolve = resolved, allows = isPublic } = options
  const isLiteral = host.includes(':') || /^[\d.]+$/.test(host)
  const addresses = isLiteral ? [host] : await timer.race(resolve(host))
  const [first] = addresses
  if (first === undefined) throw new NotFetched('its host name cannot be resolved')
  if (!addresses.every((each) => allows(each, port)))
    throw new NotFetched('it is not on the public internet')
  return first
}

async function resolved(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}

function isPublic(address: string, port: number): boolean {
  return (port === 80 || port === 443) && isGlobalAddress(address)
}

function receive(
  options: SafeFetchOptions,
  destination: Destination,
  receiver: Receiver,
  timer: Timer,
): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>()
  const { maxBytes, timeoutMs } = options
  let byteCount = 0
  let refused: Refused | null = null
  const refuse = (error: unknown) => {
    exchange.abort()
    reject(error)
  }
  /** Catches errors of the receiver: thrown into the connection, they could affect other requests. */
  const guarded = (take: () => void) => {
    if (options.untilQuiet === true) timer.restart()
    try {
      take()
    } catch (error) {
      refuse(error)
    }
  }
  const handler: ReplyHandler = {
    head: (status, header) =>
      guarded(() => {
        if (redirects.has(status) && options.post === undefined) {
          const location = header('location')
          if (location === null) throw new NotFetched('its redirect names no location')
          // The body of a redirect is not the requested content.
          exchange.abort()
          resolve(location)
          return
        }
        const isWell = options.post === undefined ? status === 200 : status >= 200 && status < 300
        if (!isWell) {
          refused = new Refused(status, options.post?.reasonBytes ?? 0)
          if (refused.isWhole) throw refused.error()
          return
        }
        if (options.post !== undefined) {
          // The post was accepted; the rest of the reply is not needed.
          exchange.abort()
          resolve(null)
          return
        }
        if (Number(header('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
        const [type = ''] = (header('content-type') ?? '').split(';', 1)
        receiver.begin(type.trim().toLowerCase())
      }),
    bytes: (chunk) =>
      guarded(() => {
        refused?.push(chunk)
        if (refused !== null) {
          if (refused.isWhole) throw refused.error()
          return
        }
        byteCount += chunk.length
        if (byteCount > maxBytes) throw tooLarge(maxBytes)
        receiver.push(chunk)
      }),
    end: () => (refused === null ? resolve(null) : reject(refused.error())),
    fault: ({ message }) =>
      reject(refused?.error() ?? new NotFetched(`its server cannot be reached: ${message}`)),
  }
  const bounds = { connectMs: timeoutMs, sendIdleMs: timeoutMs }
  const segments = options.post === undefined ? [] : [options.post.body]
  const exchange = options.dialer.open({ destination, segments, ...bounds }, handler)
  return timer.race(promise).finally(() => exchange.abort())
}

/** Collects the body of an unsuccessful reply, for the error message. */
class Refused {
  private readonly status: number
  private readonly maxBytes: number
  private readonly chunks: Uint8Array[] = []
  private byteCount = 0

  constructor(status: number, maxBytes: number) {
    this.status = status
    this.maxBytes = maxBytes
  }

  get isWhole(): boolean {
    return this.byteCount >= this.maxBytes
  }

  push(chunk: Uint8Array): void {
    this.chunks.push(chunk)
    this.byteCount += chunk.length
  }

  error(): NotFetched {
    const said = Buffer.from(join(this.chunks)).subarray(0, this.maxBytes).toString('utf8')
    const reason = said.replace(/[\p{Cc}\s]+/gu, ' ').trim()
    const answer = `its server answered ${this.status}`
    return new NotFetched(reason === '' ? answer : `${answer}: ${reason}`, this.status)
  }
}

function tooLarge(maxBytes: number): NotFetched {
  return new NotFetched(`it is larger than ${maxBytes} bytes`)
}
