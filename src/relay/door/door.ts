// The one door for addresses that users name: fetched from the public internet alone, bounded in size and time.

import { Buffer } from 'node:buffer'
import { lookup } from 'node:dns/promises'
import type { ReplyHandler } from '../../vendors/transport.ts'
import { join } from '../../wire/json/splice.ts'
import type { Destination } from '../dial/connection.ts'
import type { Dialer } from '../dial.ts'
import { isGlobalAddress } from './global-address.ts'

export interface DoorOptions {
  readonly dialer: Dialer
  readonly maxBytes: number
  /** For all of it, redirects included. */
  readonly timeoutMs: number
  /** All addresses of a name; the system's resolver unless given. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  /** Whether an address may be connected to; the global ones unless given. */
  readonly allows?: (address: string, port: number) => boolean
}

export interface Fetched {
  readonly bytes: Uint8Array
  /** Lower case, without parameters; empty where the reply names none. */
  readonly mediaType: string
}

/** Why something was not fetched; the message may be shown to whoever named the address. */
export class NotFetched extends Error {
  override readonly name = 'NotFetched'
}

export interface Door {
  /** Throws NotFetched. */
  fetch(address: string): Promise<Fetched>
}

const maxRedirects = 3
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export function createDoor(options: DoorOptions): Door {
  return {
    async fetch(address) {
      const deadlineMs = performance.now() + options.timeoutMs
      let url = checkedUrl(address)
      for (let hops = 0; hops <= maxRedirects; hops++) {
        const reply = await fetchOnce(options, url, deadlineMs)
        if (reply.location === null) return reply
        // Judged anew: where a redirect leads is as much a stranger's word as the first address.
        url = checkedUrl(reply.location, url)
      }
      throw new NotFetched('it redirects too often')
    },
  }
}

/** The address to connect to, where the URL's host may be connected to at all. Throws NotFetched. */
export function judgedHost(options: DoorOptions, url: string): Promise<string> {
  const { host, port } = partsOf(checkedUrl(url))
  return judgedAddress(options, host, port, performance.now() + options.timeoutMs)
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

interface Reply extends Fetched {
  /** Where a redirect leads. */
  readonly location: string | null
}

async function fetchOnce(options: DoorOptions, url: URL, deadlineMs: number): Promise<Reply> {
  const { tls, host, port } = partsOf(url)
  const address = await judgedAddress(options, host, port, deadlineMs)
  const destination: Destination = {
    // Connections are kept by origin: one to this address must serve no other name's judgement.
    origin: `${url.protocol}//${url.host} ${address}`,
    host,
    address,
    port,
    tls,
    head:
      `GET ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n` +
      'accept: image/*, application/pdf, text/plain;q=0.5\r\naccept-encoding: identity\r\n' +
      'user-agent: tollgate\r\nconnection: close\r\ncontent-length: ',
  }
  return receive(options, destination, deadlineMs)
}

function partsOf(url: URL) {
  const tls = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port)
  return { tls, host, port }
}

/** Every address of the name must be allowed, so that no later look-up leads elsewhere; the first is connected to. */
async function judgedAddress(
  options: DoorOptions,
  host: string,
  port: number,
  deadlineMs: number,
): Promise<string> {
  const { resolve = resolved, allows = isPublic } = options
  const isLiteral = host.includes(':') || /^[\d.]+$/.test(host)
  const addresses = isLiteral ? [host] : await withinTime(resolve(host), deadlineMs)
  const [first] = addresses
  if (first === undefined) throw new NotFetched('its host is not known')
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

async function withinTime<T>(work: Promise<T>, deadlineMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    const leftMs = Math.max(0, deadlineMs - performance.now())
    timer = setTimeout(() => reject(new NotFetched('it took too long')), leftMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function receive(options: DoorOptions, destination: Destination, deadlineMs: number) {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const chunks: Uint8Array[] = []
  let byteCount = 0
  let mediaType = ''
  let location: string | null = null
  const refuse = (why: string) => {
    exchange.abort()
    reject(new NotFetched(why))
  }
  const handler: ReplyHandler = {
    head(status, header) {
      const [type = ''] = (header('content-type') ?? '').split(';', 1)
      mediaType = type.trim().toLowerCase()
      if (redirects.has(status)) {
        location = header('location')
        if (location === null) refuse('it redirects nowhere')
      } else if (status !== 200) refuse(`its server answered ${status}`)
      else if (Number(header('content-length') ?? 0) > options.maxBytes) refuse(tooLarge(options))
    },
    bytes(chunk) {
      if (location !== null) return
      byteCount += chunk.length
      if (byteCount > options.maxBytes) refuse(tooLarge(options))
      else chunks.push(chunk)
    },
    end: () => resolve({ bytes: Buffer.from(join(chunks)), mediaType, location }),
    fault: ({ message }) => reject(new NotFetched(`its server cannot be heard: ${message}`)),
  }
  const leftMs = Math.max(1, deadlineMs - performance.now())
  const bounds = { connectMs: leftMs, sendIdleMs: leftMs }
  const exchange = options.dialer.open({ destination, segments: [], ...bounds }, handler)
  return withinTime(promise, deadlineMs).finally(() => exchange.abort())
}

function tooLarge({ maxBytes }: DoorOptions): string {
  return `it is larger than ${maxBytes} bytes`
}
