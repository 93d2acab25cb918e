// What vendors make beside text: fetched from where they keep it, and hosted here for clients that want an address.

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

/** So many bytes at a beginning tell what it is. */
const decisiveBytes = 4_096

export interface From {
  /** Given when nobody waits for it any more. */
  readonly signal: AbortSignal
  /** Of the channel's base address: what its vendor keeps there is fetched although it be inside. */
  readonly home: string
}

export interface Results {
  /**
   * An address that serves the payload to whoever has it, until it expires. `origin` is what the gateway's own begin
   * with (`https://gate.example`). Rejects with MediaFault.
   */
  host(payload: Payload, account: string, origin?: string): Promise<string>
  /**
   * By safe fetch, bounded, to the spool. Throws NotFetched, also when nobody waits for it any more, and
   * MediaFault where the spool is full.
   */
  fetchInto(url: string, spool: Spool, from?: From): Promise<Payload>
  /** The address to connect to where a vendor named a host of its own; throws NotFetched. */
  judge(url: string): Promise<string>
}

export function createResults(options: SafeFetchOptions, hosting: Hosting): Results {
  return {
    host: (payload, account, origin = '') => hosting.host(payload, account, origin),
    async fetchInto(url, spool, from) {
      const taken = new Taken(spool)
      const safeFetch = from === undefined ? options : { ...options, home: from.home }
      await fetchTo(safeFetch, url, taken, from?.signal)
      return taken.end()
    },
    judge: (url) => judgedHost(options, url),
  }
}

/** One attempt's: it is known how its client reaches the gateway, and whom it asks. */
export function resultsOf(results: Results, origin: string, from: From): Results {
  return {
    host: (payload, account) => results.host(payload, account, origin),
    fetchInto: (url, spool) => results.fetchInto(url, spool, from),
    judge: (url) => results.judge(url),
  }
}

/** What comes, from its first bytes known for what it is. */
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

/** A page for people, in place of what was asked for. */
function isPage(mediaType: string, bytes: Buffer): boolean {
  if (mediaType === 'text/html' || mediaType === 'application/xhtml+xml') return true
  return /^\W*<(!doctype html|html)\b/i.test(bytes.toString('latin1', 0, 64))
}
