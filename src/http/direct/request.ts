// One request at the gateway's own listener: its head, and its body as it arrives.

import { Buffer } from 'node:buffer'
import type { ClientRequest } from '../../operations/operation.ts'
import type { RequestHead } from './head.ts'

const nothing = Buffer.alloc(0)

export class DirectRequest implements ClientRequest {
  readonly method: string
  readonly headers: RequestHead
  /** null: forms and bodies without a declared length are left to the runtime's server. */
  readonly body = null
  /** The whole body; null while some of it is missing. */
  arrived: Buffer | null
  private chunks: Buffer[] = []
  private missingBytes: number
  private discards = false
  private waiting: PromiseWithResolvers<Uint8Array> | null = null
  private leaving: AbortController | null = null
  private isGone = false

  /** The body's first bytes begin at `from` in `chunk`, which arrived with the head. */
  constructor(head: RequestHead, chunk: Buffer, from: number) {
    this.method = head.method
    this.headers = head
    const { bodyBytes } = head
    this.missingBytes = bodyBytes
    this.arrived = bodyBytes === 0 ? nothing : null
    if (chunk.length > from) this.push(chunk.subarray(from))
  }

  get url(): string {
    return `http://${this.headers.host}${this.headers.target}`
  }

  /** Aborted when the client's connection closes. */
  get signal(): AbortSignal {
    this.leaving ??= new AbortController()
    if (this.isGone) this.leaving.abort()
    return this.leaving.signal
  }

  /** Resolves with the whole body. Rejects where the client leaves before. */
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.arrived !== null) return Promise.resolve(this.arrived as Uint8Array<ArrayBuffer>)
    this.waiting ??= Promise.withResolvers()
    if (this.isGone) this.waiting.reject(left())
    return this.waiting.promise as Promise<Uint8Array<ArrayBuffer>>
  }

  /** Takes the bytes that belong to the body; returns their number. */
  push(chunk: Buffer): number {
    const taken = Math.min(chunk.length, this.missingBytes)
    if (taken === 0) return 0
    this.missingBytes -= taken
    if (!this.discards) this.chunks.push(taken === chunk.length ? chunk : chunk.subarray(0, taken))
    if (this.missingBytes > 0) return taken
    const [first = nothing] = this.chunks
    this.arrived = this.chunks.length === 1 ? first : Buffer.concat(this.chunks)
    this.chunks = []
    this.waiting?.resolve(this.arrived)
    return taken
  }

  /** Drops the rest of the body as it arrives. */
  discard(): void {
    this.discards = true
    this.chunks = []
  }

  /** Called when the client's connection has closed. */
  leave(): void {
    this.isGone = true
    this.leaving?.abort()
    if (this.arrived === null) this.waiting?.reject(left())
  }
}

function left(): Error {
  return new Error('the client closed the connection before the body was whole')
}
