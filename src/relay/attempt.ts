// One attempt at one channel: sends the request, hands the reply to its path, and watches its timers.

import type { ReplySummary } from '../billing/settlement.ts'
import type { Fault, GatewayError } from '../errors.ts'
import type { Exchange, TransportFault } from '../vendors/transport.ts'
import type { JsonObject } from '../wire/ir.ts'
import type { PassedHeaders } from './channel.ts'
import { IdentityStream, IdentityWhole } from './identity.ts'
import { markedOpaque, marksOpaque, originOf } from './opaque-bytes.ts'
import type { AttemptHandler, AttemptPlan } from './operation.ts'
import { ErrorReply, type PathListener, type ReplyPath } from './path.ts'
import { stateFrom } from './state.ts'
import { translatedPath } from './translate.ts'
import { vendorRequestId } from './vendor-request-id.ts'

/** Takes what an attempt has for the client. */
export interface AttemptSink {
  emit(bytes: Uint8Array): void
  /** The vendor has said something that a client would miss. */
  commit(): void
}

/** What the call does with an attempt's news: exactly one of these ends it. */
export interface AttemptOwner {
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
  /** What the vendor calls the request, once it answers. */
  vendorRequestId: string | null = null
  /** When it began to answer, by `performance.now()`. */
  headMs: number | null = null
  /** What the vendor hands its client beside the reply. */
  state: PassedHeaders = {}
  /** What of the request the vendor was not told, by name. */
  droppedFields: readonly string[]
  /** How its reply is read; null until its head is there. */
  path: ReplyPath | null = null
  private readonly owner: AttemptOwner
  private readonly sink: AttemptSink
  /** The member of a reply handed through that might be brought to another channel; null: there is none. */
  private readonly opaqueMember: string | null
  /** Its way to the vendor; null while it has none. */
  exchange: Exchange | null = null
  private over = false
  private paused = false
  private readonly times: ReplyTimes

  constructor(plan: AttemptPlan, owner: AttemptOwner, sink: AttemptSink, nowMs: number) {
    this.plan = plan
    this.droppedFields = plan.dropped
    this.owner = owner
    this.sink = sink
    const { request, identity } = plan
    const { opaqueMember } = request.dialect.vendor ?? {}
    const isMarked = identity && opaqueMember !== undefined
    this.opaqueMember =
      isMarked && marksOpaque(request.dialect, request.candidates) ? opaqueMember : null
    this.sentMs = nowMs
    this.times = { lastBytesMs: nowMs, lastSemanticMs: null, completeMs: null }
  }

  /** Gives the attempt its connection; what it did before that is not lost. */
  carriedBy(exchange: Exchange): void {
    if (this.over) exchange.abort()
    else this.exchange = exchange
  }

  get summary(): ReplySummary {
    return this.path?.summary ?? nothingSeen
  }

  pause(): void {
    this.paused = true
    this.exchange?.pause()
  }

  resume(): void {
    this.paused = false
    this.times.lastBytesMs = performance.now()
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
    this.headMs = performance.now()
    this.vendorRequestId = vendorRequestId(header)
    const { identity, request, channel } = this.plan
    const keepsState = identity && request.dialect.vendor?.stateHeaders !== undefined
    if (this.accepted && keepsState) this.state = stateFrom(request.dialect, channel, header)
    try {
      this.path = choosePath(this.plan, status, header, this)
    } catch (error) {
      this.crashed(error)
    }
  }

  bytes(chunk: Uint8Array): void {
    if (this.over) return
    this.times.lastBytesMs = performance.now()
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
    if (!this.over)
      this.sink.emit(
        this.plan.request.peek.stream ? marked(this.plan, this.opaqueMember, bytes) : bytes,
      )
  }

  semantic(): void {
    if (this.over) return
    if (this.times.lastSemanticMs === null) this.sink.commit()
    this.times.lastSemanticMs = this.times.lastBytesMs
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
    this.owner.answered(marked(this.plan, this.opaqueMember, bytes), summary)
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
    this.droppedFields = [...this.droppedFields, ...names]
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
    const late = lateness(this, this.times, nowMs)
    if (late !== null) this.stopped({ kind: 'timeout', message: late })
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

/** Whole frames, or a whole reply: in a part of one opaque state may be cut. */
function marked(
  { request, channel }: AttemptPlan,
  opaqueMember: string | null,
  bytes: Uint8Array,
): Uint8Array {
  if (opaqueMember === null) return bytes
  return markedOpaque(bytes, opaqueMember, originOf(request.dialect, channel))
}

/** When a reply last moved, by `performance.now()`. */
interface ReplyTimes {
  lastBytesMs: number
  lastSemanticMs: number | null
  /** Since when nothing is missing. */
  completeMs: number | null
}

/** Which of the attempt's timers has run out. */
function lateness(attempt: Attempt, times: ReplyTimes, nowMs: number): string | null {
  const { plan, path, sentMs, accepted } = attempt
  const { timeouts, request } = plan
  if (path?.complete === true) {
    // From then on, whatever still comes: comments may come for ever.
    times.completeMs ??= nowMs
    return nowMs - times.completeMs > lingerMs ? 'the vendor did not end its stream' : null
  }
  // What is told as a stream may have to be heard whole before.
  const isWhole =
    !request.peek.stream || (request.media !== undefined && times.lastSemanticMs === null)
  if (isWhole) {
    return nowMs - sentMs > timeouts.replyMs ? 'the vendor did not finish its reply in time' : null
  }
  if (times.lastSemanticMs === null) {
    if (nowMs - sentMs > timeouts.firstEventMs) return 'the vendor did not begin its stream in time'
  } else if (nowMs - times.lastSemanticMs > timeouts.semanticIdleMs)
    return 'the stream brought nothing new for too long'
  return accepted && nowMs - times.lastBytesMs > timeouts.idleMs ? 'the stream fell silent' : null
}
