// How one attempt's reply is read: the interface of the identity and translate paths, and the reading of errors.

import { Buffer } from 'node:buffer'
import type { ReplySummary } from '../billing/settlement.ts'
import type { Fault, GatewayError } from '../errors.ts'
import type { Vendor } from '../vendors/vendor.ts'
import type { VendorDialect } from '../wire/dialect.ts'
import type { JsonObject } from '../wire/ir.ts'
import { join } from '../wire/json/splice.ts'

/** Takes the bytes of one reply, in order, and tells its listener what they come to. */
export interface ReplyPath {
  bytes(chunk: Uint8Array): void
  /** The transport says the reply is whole. */
  end(): void
  /** What an adapter knows of the reply's cost, where the bytes do not tell it. */
  metered?(usage: JsonObject): void
  /** What is known so far, for a reply that ends early. */
  readonly summary: ReplySummary
  /** Media type of a reply that is neither JSON nor a stream of events. */
  readonly type?: string
  /** All that the client needs has come: a vendor that only dawdles with the end changes nothing. */
  readonly complete: boolean
  /** Ends the stream in good order, as far as that is true, though its vendor did not. Asked only where `complete`. */
  conclude?(): void
  /** An event has begun and not ended: nothing else may be said before its end. */
  readonly inFrame?: boolean
  /** It keeps no part of what it emits. */
  readonly letsGo?: boolean
  /** The frames that end the stream in an error, where they depend on what was said. */
  fail?(error: GatewayError): string | null
}

/**
 * The attempt's side of a path, which is told exactly one of `failed`, `completed` and `answered`, by the return of
 * `end` at the latest. After it nothing is heard.
 */
export interface PathListener {
  /** Bytes for the client; held back until the commit. */
  emit(bytes: Uint8Array): void
  /** A semantic event was seen (again and again: the first is the commit point). */
  semantic(): void
  /** A streamed reply has ended well: by its terminal event, whatever follows, or by the vendor's own end. */
  completed(summary: ReplySummary): void
  /** A whole reply is ready. */
  answered(bytes: Uint8Array, summary: ReplySummary): void
  /** The vendor says that it failed, or what it says cannot be read: no success, however much came before. */
  failed(fault: Fault): void
}

/** An error page may be any size; what it says is at its beginning. */
const maxErrorBytes = 65_536

/** Collects a vendor's error reply and hands over the fault it means. */
export class ErrorReply implements ReplyPath {
  readonly summary: ReplySummary = { usage: null, outputBytes: 0, finishReason: null, model: null }
  readonly complete = false
  private readonly chunks: Uint8Array[] = []
  private byteCount = 0
  private over = false
  private readonly status: number
  private readonly header: (name: string) => string | null
  private readonly reader: { readonly dialect: VendorDialect; readonly vendor: Vendor }
  private readonly listener: PathListener

  constructor(
    status: number,
    header: (name: string) => string | null,
    reader: { readonly dialect: VendorDialect; readonly vendor: Vendor },
    listener: PathListener,
  ) {
    this.status = status
    this.header = header
    this.reader = reader
    this.listener = listener
  }

  bytes(chunk: Uint8Array): void {
    if (this.over) return
    this.chunks.push(chunk)
    this.byteCount += chunk.length
    if (this.byteCount >= maxErrorBytes) this.end()
  }

  end(): void {
    if (this.over) return
    this.over = true
    const body = Buffer.from(join(this.chunks)).toString('utf8')
    const { dialect, vendor } = this.reader
    const fault = dialect.vendor.fault(this.status, this.header, body)
    this.listener.failed(vendor.quirks.refine?.(fault, this.status, body) ?? fault)
  }
}
