// One attempt at one channel: sends the request, gives the reply to its path (the reader), and checks its timers.

import type { ReplySummary } from '../billing/settlement.ts'
import type { Fault, GatewayError } from '../errors.ts'
import type { Exchange, TransportFault } from '../vendors/transport.ts'
import type { OpaqueOrigin } from '../wire/hub/opaque-state.ts'
import type { JsonObject, Usage } from '../wire/ir.ts'
import type { PassedHeaders } from './channel.ts'
import { IdentityStream, IdentityWhole } from './identity.ts'
import { markedOpaque, marksOpaque, originOf } from './opaque-bytes.ts'
import type { AttemptHandler, AttemptPlan } from './operation.ts'
import { ErrorReply, type PathListener, type ReplyPath } from './path.ts'
import { stateFrom } from './state.ts'
import { translatedPath } from './translate.ts'
import { beginsStream, UndecidedReply } from './undecided.ts'
import { vendorRequestId } from './vendor-request-id.ts'

/** Receives the bytes an attempt produces for the client. */
export interface AttemptSink {
  emit(bytes: Uint8Array): void
  /** Commits the reply: the vendor has sent something that the client must not lose. */
  commit(): void
}

/** The call's side of an attempt: exactly one of these ends it. */
export interface AttemptOwner {
  completed(summary: ReplySummary): void
  answered(bytes: Uint8Array, summary: ReplySummary): void
  attemptFailed(fault: Fault): void
  /** The vendor was not asked, because its format cannot express the request. */
  attemptUnsayable(error: GatewayError): void
  /** A bug in the gateway broke the handling of the attempt's end. */
  crashed(error: unknown): void
}

/** How long a vendor may leave a stream open after everything the client needs has arrived. */
const lingerMs = 1_000

const nothingSeen: ReplySummary = { usage: null, outputBytes: 0, finishReason: null, model: null }

export class Attempt implements AttemptHandler, PathListener {
  readonly plan: AttemptPlan
  readonly origin: OpaqueOrigin
  readonly sentMs: number
  /** The vendor answered with a 2xx status. */
  accepted = false
  /** The vendor's own id of the request; null before it answers. */
  vendorRequestId: string | null = null
  /** When the head of the reply arrived, by `performance.now()`. */
  headMs: number | null = null
  /** State that the vendor returns to its client in headers of the reply. */
  state: PassedHeaders = {}
  /** Names of the request's fields that were not sent to the vendor. */
  droppedFields: readonly string[]
  /** Reads the reply; null before its head has arrived. */
  path: ReplyPath | null = null
  private readonly owner: AttemptOwner
  private readonly sink: AttemptSink
  /** The JSON member whose opaque state has to be marked with its channel in a relayed reply; null: none. */
  private readonly opaqueMember: string | null
  /** The connection to the vendor; null before it is open. */
  exchange: Exchange | null = null
  private stated: Usage | null = null
  private over = false
  private paused = false
  private readonly times: ReplyTimes

  constructor(plan: AttemptPlan, owner: AttemptOwner, sink: AttemptSink, nowMs: number) {
    this.plan = plan
    this.droppedFields = plan.dropped
    this.owner = owner
    this.sink = sink
    const { request, identity, candidate, channel } = plan
    this.origin = { dialect: candidate.dialect, channel: channel.tag }
    const { opaqueMember } = request.dialect.vendor ?? {}
    const isMarked = identity && opaqueMember !== undefined
    this.opaqueMember =
      isMarked && marksOpaque(request.dialect, request.candidates) ? opaqueMember : null
    this.sentMs = nowMs
    this.times = { lastBytesMs: nowMs, lastSemanticMs: null, completeMs: null }
  }

  /** Sets the attempt's connection. It may have ended already: then the connection is aborted. */
  carriedBy(exchange: Exchange): void {
    if (this.over) exchange.abort()
    else this.exchange = exchange
  }

  get summary(): ReplySummary {
    const summary = this.path?.summary ?? nothingSeen
    // An adapter knows the usage before the bytes that show it have passed: the vendor has finished.
    return this.stated === null ? summary : { ...summary, usage: this.stated, finishReason: 'stop' }
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

  /** The reply is no longer needed: aborts the vendor's request at once. */
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
      this.path = choosePath(this.plan, status, header, this, (path) => {
        this.path = path
        return path
      })
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

  /** The transport or a timer ended the reply: that is a fault unless the client already has all it needs. */
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
    if (this.over) return
    const { request, channel } = this.plan
    this.stated = request.dialect.identity?.statedUsage?.(usage, channel.vendor.quirks) ?? null
    this.path?.metered?.(usage)
  }

  /** A bug in the gateway: the attempt ends here, or the socket's error handler would hide it and the request hang. */
  private crashed(error: unknown): void {
    if (this.over) {
      this.owner.crashed(error)
      return
    }
    reportError(error)
    this.failed({ kind: 'unreadable', message: 'the gateway could not read the reply' })
  }

  /** Ends the attempt when one of its timers has run out. No timer runs while a slow client pauses the vendor. */
  tick(nowMs: number): void {
    if (this.over || this.paused) return
    const late = lateness(this, this.times, nowMs)
    if (late !== null) this.stopped({ kind: 'timeout', message: late })
  }
}

/** Whether a content type is that of server-sent events or of AWS's event stream. */
function isStream(type: string): boolean {
  return type.includes('text/event-stream') || type.includes('vnd.amazon.eventstream')
}

/** Chooses the path that reads a reply with this head; `become` replaces it, where only the first bytes tell. */
function choosePath(
  plan: AttemptPlan,
  status: number,
  header: (name: string) => string | null,
  listener: PathListener,
  become: (path: ReplyPath) => ReplyPath,
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
  if (streamed || !request.peek.stream) return pathFor(plan, streamed, header, listener, become)
  return new UndecidedReply(beginsStream, (isEvents) =>
    become(pathFor(plan, isEvents, header, listener, become)),
  )
}

/** The path of a reply that is a stream of events, or a whole body. */
function pathFor(
  plan: AttemptPlan,
  streamed: boolean,
  header: (name: string) => string | null,
  listener: PathListener,
  become: (path: ReplyPath) => ReplyPath,
): ReplyPath {
  const { request, channel } = plan
  const { identity } = request.dialect
  if (!plan.identity || identity === undefined || streamed !== request.peek.stream)
    return translatedPath({ ...plan, streamed }, listener)
  if (!streamed) return new IdentityWhole(request, identity, channel.vendor, listener, header)
  const relayed = () => new IdentityStream(request, identity, channel.vendor, listener)
  const { lacksStart } = identity
  if (lacksStart === undefined) return relayed()
  return new UndecidedReply(lacksStart, (lacks) =>
    become(lacks ? translatedPath({ ...plan, streamed }, listener) : relayed()),
  )
}

/** Marks opaque state in whole frames or a whole reply: a part of one could end within a value. */
function marked(
  { request, channel }: AttemptPlan,
  opaqueMember: string | null,
  bytes: Uint8Array,
): Uint8Array {
  if (opaqueMember === null) return bytes
  return markedOpaque(bytes, opaqueMember, originOf(request.dialect, channel))
}

/** When a reply last made progress, by `performance.now()`. */
interface ReplyTimes {
  lastBytesMs: number
  lastSemanticMs: number | null
  /** Since when the client has everything it needs; null: not yet. */
  completeMs: number | null
}

/** Says which of the attempt's timers has run out; null: none. */
function lateness(attempt: Attempt, times: ReplyTimes, nowMs: number): string | null {
  const { plan, path, sentMs, accepted } = attempt
  const { timeouts, request } = plan
  if (path?.complete === true) {
    // Counted from this moment, whatever still arrives: a vendor may send comments for ever.
    times.completeMs ??= nowMs
    // Some models of Google state a finish in every frame: what they say after it counts anew.
    const completeMs = Math.max(times.completeMs, times.lastSemanticMs ?? 0)
    return nowMs - completeMs > lingerMs ? 'the vendor did not end its stream' : null
  }
  // A stream made from media may need the vendor's whole reply before its first event.
  const isWhole =
    !request.peek.stream || (request.media !== undefined && times.lastSemanticMs === null)
  if (isWhole) {
    return nowMs - sentMs > timeouts.replyMs ? 'the vendor did not finish its reply in time' : null
  }
  if (times.lastSemanticMs === null) {
    if (nowMs - sentMs > timeouts.firstEventMs) return 'the vendor did not begin its stream in time'
  } else if (nowMs - times.lastSemanticMs > timeouts.semanticIdleMs)
    return 'the stream sent nothing new for too long'
  return accepted && nowMs - times.lastBytesMs > timeouts.idleMs ? 'the stream fell silent' : null
}
