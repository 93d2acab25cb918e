// One attempt at one channel: sends the request, hands the reply to its path, and watches its timers.

import type { ReplySummary } from '../billing/settlement.ts'
import type { Fault, GatewayError } from '../errors.ts'
import type { Exchange, TransportFault } from '../vendors/transport.ts'
import type { JsonObject } from '../wire/ir.ts'
import type { PassedHeaders } from './channel.ts'
import { IdentityStream, IdentityWhole } from './identity.ts'
import type { AttemptHandler, AttemptPlan } from './operation.ts'
import { ErrorReply, type PathListener, type ReplyPath } from './path.ts'
import { markedSeals, marksSeals, originOf } from './sealed-bytes.ts'
import { stateFrom } from './state.ts'
import { translatedPath } from './translate.ts'

/** What the call does with an attempt's news. */
export interface AttemptOwner {
  emit(bytes: Uint8Array): void
  /** The vendor accepted a stream: the call may commit it by a heartbeat. */
  commit(): void
  completed(summary: ReplySummary): void
  answered(bytes: Uint8Array, summary: ReplySummary): void
  attemptFailed(fault: Fault): void
  /** The vendor was not asked, for it has no words for this. */
  attemptUnsayable(error: GatewayError): void
  /** A mistake of ours in what follows the attempt's end. */
  broken(): void
}

/** When nothing is missing from a stream its end should follow at once. */
const lingerMs = 1_000

const nothingSeen: ReplySummary = { usage: null, outputBytes: 0, finishReason: null, model: null }

export class Attempt implements AttemptHandler, PathListener {
  readonly plan: AttemptPlan
  readonly sentMs: number
  /** The vendor answered with a success. */
  accepted = false
  /** What the vendor hands its client beside the reply. */
  state: PassedHeaders = {}
  /** What of the request the vendor was not told, by name. */
  unsaid: readonly string[]
  private readonly owner: AttemptOwner
  /** The reply is handed through, and what is sealed in it might be brought to another channel. */
  private readonly marks: boolean
  private exchange: Exchange | null = null
  private path: ReplyPath | null = null
  private over = false
  private paused = false
  private lastBytesMs: number
  private lastSemanticMs: number | null = null
  /** Since when nothing is missing. */
  private completeMs: number | null = null

  constructor(plan: AttemptPlan, owner: AttemptOwner, nowMs: number) {
    this.plan = plan
    this.unsaid = plan.dropped
    this.owner = owner
    const { request, identity } = plan
    this.marks = identity && marksSeals(request.dialect, request.candidates)
    this.sentMs = nowMs
    this.lastBytesMs = nowMs
  }

  /** Gives the attempt its connection; what it did before that is not lost. */
  carriedBy(exchange: Exchange): void {
    if (this.over) exchange.abort()
    else this.exchange = exchange
  }

  get summary(): ReplySummary {
    return this.path?.summary ?? nothingSeen
  }

  /** Media type of a reply that is neither JSON nor a stream of events. */
  get type(): string | null {
    return this.path?.type ?? null
  }

  /** As `ReplyPath.inFrame`. */
  get inFrame(): boolean {
    return this.path?.inFrame === true
  }

  /** As `ReplyPath.fail`; null where nothing was said yet. */
  failFrames(error: GatewayError): string | null {
    return this.path?.fail?.(error) ?? null
  }

  pause(): void {
    this.paused = true
    this.exchange?.pause()
  }

  resume(): void {
    this.paused = false
    this.lastBytesMs = performance.now()
    this.exchange?.resume()
  }

  /** Nobody wants the reply any more: the vendor is let go at once. */
  abort(): void {
    if (this.over) return
    this.over = true
    this.exchange?.abort()
  }

  head(status: number, header: (name: string) => string | null): void {
    if (this.over) return
    this.accepted = status >= 200 && status < 300
    const { identity, request, channel } = this.plan
    if (this.accepted && identity) this.state = stateFrom(request.dialect, channel, header)
    try {
      this.path = choosePath(this.plan, status, header, this)
    } catch (error) {
      this.crashed(error)
    }
  }

  bytes(chunk: Uint8Array): void {
    if (this.over) return
    this.lastBytesMs = performance.now()
    this.plan.request.media?.passed?.(chunk.length)
    try {
      this.path?.bytes(chunk)
    } catch (error) {
      this.crashed(error)
    }
  }

  end(): void {
    if (this.over) return
    try {
      this.path?.end()
    } catch (error) {
      this.crashed(error)
    }
    this.failed({ kind: 'unreadable', message: 'the vendor ended without a reply' })
  }

  fault(fault: TransportFault): void {
    this.stopped({ kind: fault.kind, message: fault.message })
  }

  emit(bytes: Uint8Array): void {
    if (!this.over) this.owner.emit(this.plan.request.peek.stream ? this.marked(bytes) : bytes)
  }

  semantic(): void {
    if (this.over) return
    if (this.lastSemanticMs === null) this.owner.commit()
    this.lastSemanticMs = this.lastBytesMs
  }

  completed(summary: ReplySummary): void {
    if (this.over) return
    this.over = true
    this.exchange?.release?.()
    this.owner.completed(summary)
  }

  answered(bytes: Uint8Array, summary: ReplySummary): void {
    if (this.over) return
    this.over = true
    this.owner.answered(this.marked(bytes), summary)
  }

  /** Whole frames, or a whole reply: in a part of one a seal may be cut. */
  private marked(bytes: Uint8Array): Uint8Array {
    const { request, channel } = this.plan
    const { opaqueMember: sealName } = request.dialect.vendor ?? {}
    if (!this.marks || sealName === undefined) return bytes
    return markedSeals(bytes, sealName, originOf(request.dialect, channel))
  }

  failed(fault: Fault): void {
    if (this.over) return
    this.abort()
    this.owner.attemptFailed(fault)
  }

  /** The transport or a timer ended the reply: of no matter to a client that lacks nothing, else a fault. */
  stopped(fault: Fault): void {
    if (this.over) return
    const { path } = this
    if (path?.complete === true) {
      this.exchange?.abort()
      try {
        path.conclude?.()
      } catch (error) {
        this.crashed(error)
      }
    }
    this.failed(fault)
  }

  unsayable(error: GatewayError): void {
    if (this.over) return
    this.abort()
    this.owner.attemptUnsayable(error)
  }

  dropped(names: readonly string[]): void {
    this.unsaid = [...this.unsaid, ...names]
  }

  metered(usage: JsonObject): void {
    if (!this.over) this.path?.metered?.(usage)
  }

  /** A mistake of ours: the request must not hang on it, and the socket's own error handler must not hide it. */
  private crashed(error: unknown): void {
    reportError(error)
    if (this.over) this.owner.broken()
    else this.failed({ kind: 'unreadable', message: 'the gateway could not read the reply' })
  }

  /** Ends the attempt when one of its timers has run out. A client that takes nothing stops the vendor's clocks. */
  tick(nowMs: number): void {
    if (this.over || this.paused) return
    const late = this.lateness(nowMs)
    if (late !== null) this.stopped({ kind: 'timeout', message: late })
  }

  private lateness(nowMs: number): string | null {
    const { timeouts, request } = this.plan
    if (this.path?.complete) {
      // From then on, whatever still comes: comments may come for ever.
      this.completeMs ??= nowMs
      return nowMs - this.completeMs > lingerMs ? 'the vendor did not end its stream' : null
    }
    // What is told as a stream may have to be heard whole before.
    const isWhole =
      !request.peek.stream || (request.media !== undefined && this.lastSemanticMs === null)
    if (isWhole) {
      return nowMs - this.sentMs > timeouts.replyMs
        ? 'the vendor did not finish its reply in time'
        : null
    }
    if (this.lastSemanticMs === null) {
      if (nowMs - this.sentMs > timeouts.firstEventMs)
        return 'the vendor did not begin its stream in time'
    } else if (nowMs - this.lastSemanticMs > timeouts.semanticIdleMs)
      return 'the stream brought nothing new for too long'
    return this.accepted && nowMs - this.lastBytesMs > timeouts.idleMs
      ? 'the stream fell silent'
      : null
  }
}

/** Server-sent events, or the frames of AWS. */
function isStream(type: string): boolean {
  return type.includes('text/event-stream') || type.includes('vnd.amazon.eventstream')
}

/** How a reply with this head is to be read. */
function choosePath(
  plan: AttemptPlan,
  status: number,
  header: (name: string) => string | null,
  listener: PathListener,
): ReplyPath {
  const { rooms, request, candidate, channel } = plan
  const { vendor } = channel
  const dialect = rooms.dialects[candidate.dialect]
  if (status < 200 || status >= 300)
    return new ErrorReply(status, header, { dialect, vendor }, listener)
  if (plan.path !== null) return plan.path(listener)
  const type = header('content-type') ?? ''
  const streamed = isStream(type)
  const own = streamed ? null : plan.operation?.path?.(plan, type, listener)
  if (own != null) return own
  const { identity } = request.dialect
  if (!plan.identity || identity === undefined || streamed !== request.peek.stream) {
    return translatedPath({ ...plan, streamed }, listener)
  }
  return streamed
    ? new IdentityStream(request, identity, vendor, listener)
    : new IdentityWhole(request, identity, vendor, listener)
}
