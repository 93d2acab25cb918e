// The attempts of one request in their order: which comes next, whether one may follow a failure, what to say after the last.

import { failedAttempt } from '../billing/charging-policy.ts'
import { type Fault, faultTable, type GatewayError } from '../errors.ts'
import { factsOf } from '../router/facts.ts'
import { plan } from '../router/plan.ts'
import { type Blocked, type Candidate, laneOf, type Outcome } from '../router/route.ts'
import type { AfterFailure, FailedAttempt } from '../store/usage-row.ts'
import { scrub } from '../telemetry/scrub.ts'
import { Attempt, type AttemptOwner, type AttemptSink } from './attempt.ts'
import { failsOver } from './channel.ts'
import { ChannelRoom } from './channel-room.ts'
import { finalError, refusalFor } from './final-error.ts'
import { originFirst } from './opaque-state.ts'
import type { RelayOperation } from './operation.ts'
import type { RelayRequest, RelayRooms } from './request.ts'
import { mayRepeat, type Prepared, prepare, send } from './send.ts'
import { type DecodedRequest, decodedRequestOf } from './translate.ts'

export class Attempts {
  /** Those handed out. */
  tried = 0
  /** The one that runs, or was the last. */
  current: Attempt | null = null
  readonly faults: Fault[] = []
  /** Those nobody is charged for: what their vendors may ask for them is the gateway's own cost. */
  readonly failed: FailedAttempt[] = []
  /** Milliseconds spent waiting for vendors until now. */
  vendorMs = 0
  /** Until a vendor said something that a client waits for. */
  ttftMs: number | null = null
  readonly rooms: RelayRooms
  readonly operation: RelayOperation | null
  /** Where a channel that may serve has limits. */
  readonly room: ChannelRoom | null = null
  private readonly maxAttempts: number
  private readonly request: RelayRequest
  private order: readonly Candidate[]
  /** The place in it of the next. */
  private at = 0
  /** The order has all that may be tried, and not only as many as are usually enough. */
  private isWhole = true
  /** No channel may be tried: why, and for how long. */
  private readonly blocked: Blocked | null
  /** Made where it is needed: a plain chat's bytes are only relayed. */
  private client: DecodedRequest | null = null
  /** Why the last channel could not even be asked: its format cannot say what the client wants. */
  private unsayable: GatewayError | null = null
  private startedMs = 0
  /** Health was told how the current attempt ended. */
  private reported = true

  constructor(
    rooms: RelayRooms,
    request: RelayRequest,
    operation: RelayOperation | null,
    nowMs: number,
  ) {
    const { maxAttempts } = rooms.retry
    const { candidates } = request
    const { limited } = factsOf(candidates)
    this.maxAttempts = maxAttempts
    if (limited > 0) {
      this.room = new ChannelRoom(rooms.limiter, request.peek.body.length)
      this.isWhole = candidates.length <= maxAttempts
    }
    const planned = plan(candidates, rooms.health, nowMs, Math.random, { maxAttempts })
    this.rooms = rooms
    this.request = request
    this.operation = operation
    const { attempts } = planned
    this.order = candidates.length < 2 ? attempts : originFirst(attempts, rooms, request, nowMs)
    this.blocked = planned.blocked
  }

  /** The next attempt made ready; null where none is left. A promise where something has to be fetched for it. */
  next(): Prepared | null | Promise<Prepared | null> {
    for (;;) {
      const candidate = this.tried < this.maxAttempts ? this.upcoming() : undefined
      if (candidate === undefined) return null
      this.at++
      const mayAsk = this.room?.take(candidate) ?? true
      if (mayAsk instanceof Promise) return this.onceAsked(mayAsk, candidate)
      const prepared = mayAsk ? this.prepared(candidate) : null
      if (prepared !== null) return prepared
    }
  }

  /** Those that turned out to be full were not tried: then others follow than were planned. */
  private upcoming(): Candidate | undefined {
    const next = this.order[this.at]
    if (next !== undefined || this.isWhole) return next
    this.isWhole = true
    const { candidates } = this.request
    const maxAttempts = candidates.length
    const nowMs = performance.now()
    const { attempts } = plan(candidates, this.rooms.health, nowMs, Math.random, { maxAttempts })
    this.order = [...this.order, ...attempts.filter((each) => !this.order.includes(each))]
    return this.order[this.at]
  }

  private async onceAsked(
    mayAsk: Promise<boolean>,
    candidate: Candidate,
  ): Promise<Prepared | null> {
    return ((await mayAsk) ? this.prepared(candidate) : null) ?? this.next()
  }

  /** null: its vendor has no words for the request. */
  private prepared(candidate: Candidate): Prepared | null | Promise<Prepared | null> {
    try {
      const prepared = prepare(this.rooms, this.request, candidate, this, this.operation)
      return prepared instanceof Promise ? this.later(prepared) : this.ready(prepared)
    } catch (error) {
      this.pass(error)
      return null
    }
  }

  decoded(): DecodedRequest {
    this.client ??= decodedRequestOf(this.request)
    return this.client
  }

  private async later(prepared: Promise<Prepared>): Promise<Prepared | null> {
    try {
      return this.ready(await prepared)
    } catch (error) {
      this.pass(error)
      return this.next()
    }
  }

  private ready(prepared: Prepared): Prepared {
    this.tried++
    return prepared
  }

  begin(prepared: Prepared, owner: AttemptOwner, sink: AttemptSink): void {
    const { channelId, model, dialect } = prepared.plan.candidate
    const { segments } = prepared
    this.request.asking?.({ channel: channelId, format: dialect, segments })
    const nowMs = performance.now()
    this.startedMs = nowMs
    this.reported = false
    this.rooms.health.begin(laneOf(prepared.plan.candidate), model, nowMs, this.tried > 1)
    const attempt = new Attempt(prepared.plan, owner, sink, nowMs)
    this.current = attempt
    attempt.carriedBy(send(prepared, attempt))
  }

  /** The vendor of the current attempt is waited for no more: it answers, or has failed. */
  waited(nowMs: number): void {
    this.vendorMs += nowMs - this.startedMs
  }

  /** Tells health, once, how the current attempt ended. */
  report(outcome: Outcome): void {
    const candidate = this.current?.plan.candidate
    if (candidate === undefined || this.reported) return
    this.reported = true
    const { model } = candidate
    const lane = laneOf(candidate)
    this.rooms.health.report(lane, model, outcome, performance.now(), this.tried > 1)
  }

  /** Nobody wants the current one's reply any more: its vendor is let go, and not to blame. */
  stop(): void {
    this.current?.abort()
    this.report({ kind: 'none' })
  }

  /** The current one has failed; returns the fault as it may be shown. */
  fail(fault: Fault): Fault {
    const shown = { ...fault, message: scrub(fault.message, this.secrets) }
    this.report({ kind: 'fault', fault: shown })
    this.faults.push(fault)
    return shown
  }

  /** Tells of that, and of whether another takes over. */
  tell(shown: Fault, again: boolean): void {
    const { current, request } = this
    if (current !== null) this.rooms.observer.attemptFailed(request, current.plan, shown, again)
  }

  /** Nobody is charged for the current one. */
  writeOff(fault: Fault, then: AfterFailure): void {
    const { current, request } = this
    if (current === null) return
    const failed = failedAttempt(request, current.plan.channel.id, current, fault)
    this.failed.push({ ...failed, ...timesOf(current, request.startedMs), then })
  }

  /** Whether another channel may take over after the fault, before the client has heard anything. */
  after(fault: Fault): AfterFailure {
    const row = faultTable[fault.kind]
    const next = this.upcoming()
    const { current } = this
    if (current !== null && !failsOver(current.plan.channel, fault))
      return row.failover ? 'status_not_retried' : 'request_at_fault'
    if (next === undefined || this.tried >= this.maxAttempts) return 'no_other_channel'
    if (row.uncertain && !mayRepeat(this)) return 'outcome_unknown'
    const { health } = this.rooms
    const nowMs = performance.now()
    // The budget shields a channel in trouble; one that does well may take over all of another's load.
    const shielded = health.state(laneOf(next), nowMs) > 0
    if (shielded && !health.mayRetry(laneOf(next))) return 'retry_budget'
    const isLate = nowMs - this.request.startedMs >= this.rooms.timeouts.totalMs
    return isLate ? 'out_of_time' : 'next_channel'
  }

  /** What the client is told when no attempt is left. */
  refusal(): GatewayError {
    const { secrets } = this
    const retryAfterMs = this.room?.retryAfterMs ?? null
    if (this.faults.length === 0 && retryAfterMs !== null)
      return finalError([], String, { why: 'rate_limited', retryAfterMs })
    if (this.faults.length === 0 && this.unsayable !== null) return this.unsayable
    return finalError(this.faults, (text) => scrub(text, secrets), this.blocked)
  }

  /** The attempt that was handed out last asked its vendor nothing. */
  unsupported(error: GatewayError): void {
    this.report({ kind: 'none' })
    this.tried--
    this.pass(error)
  }

  private get secrets(): readonly string[] {
    return this.current?.plan.channel.secrets ?? []
  }

  /** Another channel may speak a format that can say it. */
  private pass(error: unknown): void {
    this.unsayable = refusalFor(error)
  }
}

/** What is kept of a failed one beside its cost. */
function timesOf(attempt: Attempt, arrivedMs: number): Partial<FailedAttempt> {
  const { sentMs, exchange, headMs, vendorRequestId } = attempt
  const connectedMs = exchange?.connectedMs ?? null
  return {
    startMs: Math.round(sentMs - arrivedMs),
    durationMs: Math.round(performance.now() - sentMs),
    ...(connectedMs !== null && { connectMs: Math.round(connectedMs - sentMs) }),
    ...(headMs !== null && { firstByteMs: Math.round(headMs - sentMs) }),
    ...(vendorRequestId !== null && { vendorRequestId }),
  }
}
