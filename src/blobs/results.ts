// Results of vendors besides text: fetched from where the vendor keeps them, and hosted for clients that want a URL.

import { Buffer } from 'node:buffer'
import {
  fetchTo,
  judgedHost,
  NotFetched,
  type Receiver,
  type SafeFetchOptions,
} from '../safe-fetch/safe-fetch.ts'
import type { Keeper, Payload, Spool } from '../vendors/media.ts'
import { sniffedType } from '../wire/media/sniff.ts'
import type { Hosting } from './hosting.ts'

/** The bytes at the beginning that are enough to recognize the type. */
const decisiveBytes = 4_096

export interface From {
  /** Aborted when the result is not needed any more. */
  readonly signal: AbortSignal
  /** The origin of the channel's base address: the vendor's results there are fetched even from a private network. */
  readonly home?: string
  /** For a file that the client named: the bytes of those its request named before. It is bounded as uploads are. */
  readonly namedBytes?: number
}

/** Bounds of the files that a client names. */
interface NamedBounds {
  readonly maxBytes: number
  /** Of all files of one request. */
  readonly maxTotalBytes: number
}

export interface Results {
  /**
   * Returns a URL that serves the payload to whoever has it, before it expires. `origin`: the gateway's own
   * (`https://gate.example`). Rejects with MediaFault.
   */
  host(payload: Payload, account: string, origin?: string): Promise<string>
  /**
   * Fetches a result through safe fetch, within bounds, into the spool. Rejects with NotFetched, also when it is not
   * needed any more, and with MediaFault where the spool is full.
   */
  fetchInto(url: string, spool: Spool, from?: From): Promise<Payload>
  /** Whether nothing can be hosted at present, as far as is known. */
  isRefusing?(): boolean
  /** The IP address to connect to for a URL that a vendor named. Rejects with NotFetched. */
  judge(url: string): Promise<string>
}

export function createResults(
  options: SafeFetchOptions,
  hosting: Hosting,
  named: NamedBounds,
): Results {
  return {
    host: (payload, account, origin = '') => hosting.host(payload, account, origin),
    async fetchInto(url, spool, from) {
      const taken = new Taken(spool)
      const { home, signal, namedBytes } = from ?? {}
      const bounded =
        namedBytes === undefined
          ? options
          : { ...options, maxBytes: Math.min(named.maxBytes, named.maxTotalBytes - namedBytes) }
      await fetchTo(home === undefined ? bounded : { ...bounded, home }, url, taken, signal)
      return taken.end()
    },
    isRefusing: () => hosting.isRefusing?.() === true,
    judge: (url) => judgedHost(options, url),
  }
}

/** The results of one attempt, with the origin its client uses and the vendor it asks. */
export function resultsOf(results: Results, origin: string, from: From): Results {
  return {
    host: (payload, account) => results.host(payload, account, origin),
    fetchInto: (url, spool) => results.fetchInto(url, spool, from),
    isRefusing: () => results.isRefusing?.() === true,
    judge: (url) => results.judge(url),
  }
}

/** Receives a result, whose type is recognized by its first bytes. */
class Taken implements Receiver {
  private readonly spool: Spool
  private mediaType = ''
  private beginning: Buffer | null = Buffer.alloc(0)
  private keeper: Keeper | null = null

  constructor(spool: Spool) {
    this.spool = spool
  }

  begin(mediaType: string): void {
    this.mediaType = mediaType
  }

  push(chunk: Uint8Array): void {
    if (this.keeper !== null) {
      this.keeper.push(chunk)
      return
    }
    this.beginning = Buffer.concat([this.beginning ?? Buffer.alloc(0), chunk])
    if (this.beginning.length >= decisiveBytes) this.judge()
  }

  end(): Payload {
    return this.judge().end()
  }

  private judge(): Keeper {
    if (this.keeper !== null) return this.keeper
    const beginning = this.beginning ?? Buffer.alloc(0)
    this.beginning = null
    if (beginning.length === 0) throw new NotFetched('it is empty')
    if (isPage(this.mediaType, beginning)) throw new NotFetched('it is a page, not a result')
    const type = sniffedType(inMemory(beginning)) ?? (this.mediaType || 'application/octet-stream')
    this.keeper = this.spool.keeper(type)
    this.keeper.push(beginning)
    return this.keeper
  }
}

function inMemory(bytes: Uint8Array) {
  return {
    size: bytes.length,
    read: (start: number, end: number) => bytes.subarray(start, end),
  }
}

/** Whether it is an HTML page instead of the result. */
function isPage(mediaType: string, bytes: Buffer): boolean {
  if (mediaType === 'text/html' || mediaType === 'application/xhtml+xml') return true
  return /^\W*<(!doctype html|html)\b/i.test(bytes.toString('latin1', 0, 64))
}
