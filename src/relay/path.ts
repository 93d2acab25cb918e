// How an attempt's reply is read: the interface of the identity and translate paths, and the reader of errors.

import { Buffer } from 'node:buffer'
import type { ReplySummary } from '../billing/settlement.ts'
import type { Fault, GatewayError } from '../errors.ts'
import type { Vendor } from '../vendors/vendor.ts'
import type { VendorDialect } from '../wire/dialect.ts'
import type { JsonObject } from '../wire/ir.ts'
import { join } from '../wire/json/splice.ts'

/** Takes the bytes of one reply in order, and reports to its listener what they mean. */
export interface ReplyPath {
  bytes(chunk: Uint8Array): void
  /** The transport has delivered the whole reply. */
  end(): void
  /** The usage an adapter knows, where the bytes do not carry it. */
  metered?(usage: JsonObject): void
  /** What is known so far, for a reply that ends early. */
  readonly summary: ReplySummary
  /** Media type of a reply that is neither JSON nor a stream of events. */
  readonly type?: string
  /** Everything the client needs has arrived: a vendor that delays the end of its stream changes nothing. */
  readonly complete: boolean
  /** Ends the stream regularly although its vendor did not. Called only where `complete`. */
  conclude?(): void
  /** A frame has been passed on in part: nothing else may be sent before its end. */
  readonly inFrame?: boolean
  /** How many bytes the path emits in all, where the vendor's head states it; read at the commit point. */
  readonly statedBytes?: number | null
  /** The path keeps no reference to the bytes it emits. */
  readonly letsGo?: boolean
  /** The frames that end the stream with an error, where they depend on what was sent before. */
  fail?(error: GatewayError): string | null
}

/**
 * The attempt's side of a path. Exactly one of `failed`, `completed` and `answered` is called, before `end` returns at
 * the latest; later calls are ignored.
 */
export interface PathListener {
  /** Bytes for the client; held back before the commit. */
  emit(bytes: Uint8Array): void
  /** Reports a semantic event; called for each, and the first is the commit point. */
  semantic(): void
  /** A streamed reply has ended well: by its terminal event, whatever follows, or by the vendor's own end. */
  completed(summary: ReplySummary): void
  /** A whole reply is ready. */
  answered(bytes: Uint8Array, summary: ReplySummary): void
  /** The vendor reports a failure, or its reply cannot be read: no success, however much arrived before. */
  failed(fault: Fault): void
}

/** An error page may have any size; its message stands at its beginning. */
const maxErrorBytes = 65_536

/** Collects a vendor's error reply and reports the fault that it means. */
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
