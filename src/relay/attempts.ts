// The attempts of one request in order: which is next, whether another may follow a failure, and the final error.

import { failedAttempt } from '../billing/charging-policy.ts'
import { type Fault, faultTable, type GatewayError } from '../errors.ts'
import { factsOf } from '../router/facts.ts'
import { plan } from '../router/plan.ts'
import { type Blocked, type Candidate, laneOf, type Outcome } from '../router/route.ts'
import type { AfterFailure, FailedAttempt } from '../store/usage-row.ts'
import { Attempt, type AttemptOwner, type AttemptSink } from './attempt.ts'
import { failsOver } from './channel.ts'
import { ChannelRoom } from './channel-room.ts'
import { finalError, refusalFor, withoutSecrets } from './final-error.ts'
import { originFirst } from './opaque-state.ts'
import type { RelayOperation } from './operation.ts'
import type { RelayRequest, RelayRooms } from './request.ts'
import { mayRepeat, type Prepared, prepare, send } from './send.ts'
import { type DecodedRequest, decodedRequestOf } from './translate.ts'

export class Attempts {
  /** Attempts handed out. */
  tried = 0
  /** The attempt that runs, or ran last. */
  current: Attempt | null = null
  readonly faults: Fault[] = []
  /** Attempts that nobody is charged for: what their vendors may bill for them is the gateway's own cost. */
  readonly failed: FailedAttempt[] = []
  /** Milliseconds spent waiting for vendors so far. */
  vendorMs = 0
  /** Milliseconds from the request's arrival to the first semantic event or whole reply; null before it. */
  ttftMs: number | null = null
  readonly rooms: RelayRooms
  readonly operation: RelayOperation | null
  /** Null where no channel that may serve has limits. */
  readonly room: ChannelRoom | null = null
  private readonly maxAttempts: number
  private readonly request: RelayRequest
  private order: readonly Candidate[]
  /** The index in `order` of the next candidate. */
  private at = 0
  /** `order` holds every usable candidate, and not just as many as are usually enough. */
  private isWhole = true
  /** Why no channel may be tried, and for how long; null where one may. */
  private readonly blocked: Blocked | null
  /** Made only when needed: on the identity path a request is not decoded. */
  private client: DecodedRequest | null = null
  /** Why the last channel could not even be asked: its format cannot express the request. */
  private unsayable: GatewayError | null = null
  private startedMs = 0
  /** The current attempt's outcome was reported to health. */
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

  /** Prepares the next attempt; null where none is left. A promise where something has to be fetched for it. */
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

  /** The next candidate. Full channels do not count as tried: once the order runs out, it is planned again in full. */
  private upcoming(): Candidate | undefined {
    const first = this.order[this.at]
    if (first !== undefined && this.tried > 0 && !isFree(first, this.rooms)) this.planRest()
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

  /** Health has changed since the request's start: what may not be asked any more is left out, or goes last. */
  private planRest(): void {
    const before = this.order.slice(0, this.at)
    const left = this.request.candidates.filter((each) => !before.includes(each))
    const maxAttempts = left.length
    const nowMs = performance.now()
    const { attempts } = plan(left, this.rooms.health, nowMs, Math.random, { maxAttempts })
    const free = attempts.filter((each) => isFree(each, this.rooms))
    this.order = [...before, ...free, ...attempts.filter((each) => !free.includes(each))]
    this.isWhole = true
  }

  private async onceAsked(
    mayAsk: Promise<boolean>,
    candidate: Candidate,
  ): Promise<Prepared | null> {
    return ((await mayAsk) ? this.prepared(candidate) : null) ?? this.next()
  }

  /** Null where the candidate's format cannot express the request. */
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

  /** Counts the wait for the current attempt's vendor, which has answered or failed. */
  waited(nowMs: number): void {
    this.vendorMs += nowMs - this.startedMs
  }

  /** Reports the current attempt's outcome to health, once. */
  report(outcome: Outcome): void {
    const candidate = this.current?.plan.candidate
    if (candidate === undefined || this.reported) return
    this.reported = true
    const { model } = candidate
    const lane = laneOf(candidate)
    this.rooms.health.report(lane, model, outcome, performance.now(), this.tried > 1)
  }

  /** The current reply is no longer needed: aborts its request, without blaming the vendor. */
  stop(): void {
    this.current?.abort()
    this.report({ kind: 'none' })
  }

  /** Records the current attempt's failure; returns the fault with all secrets removed. */
  fail(fault: Fault): Fault {
    const shown = withoutSecrets(fault, this.current?.plan.channel.secrets ?? [])
    this.report({ kind: 'fault', fault: shown })
    this.faults.push(shown)
    return shown
  }

  /** Notifies the observer of that failure, and whether another channel takes over. */
  tell(shown: Fault, again: boolean): void {
    const { current, request } = this
    if (current !== null) this.rooms.observer.attemptFailed(request, current.plan, shown, again)
  }

  /** Records the current attempt as failed: nobody is charged for it. */
  writeOff(fault: Fault, then: AfterFailure): void {
    const { current, request } = this
    if (current === null) return
    const failed = failedAttempt(request, current.plan.candidate, current, fault)
    this.failed.push({ ...failed, ...timesOf(current, request.startedMs), then })
    if (then !== 'next_channel') return
    // Until the next attempt begins, nothing of this one is charged, or read to its end for a client that leaves.
    current.accepted = false
    current.path = null
  }

  /** Whether another channel may take over after the fault, before the commit point. */
  after(fault: Fault): AfterFailure {
    const row = faultTable[fault.kind]
    const next = this.upcoming()
    const { current } = this
    if (current !== null && !failsOver(current.plan.channel, fault))
      return row.failover ? 'status_not_retried' : 'request_at_fault'
    if (next === undefined || this.tried >= this.maxAttempts) return 'no_other_channel'
    if ((row.uncertain || fault.worked) && !mayRepeat(this)) return 'outcome_unknown'
    if (isShielded(next, this.rooms)) return 'retry_budget'
    const isLate = performance.now() - this.request.startedMs >= this.rooms.timeouts.totalMs
    return isLate ? 'out_of_time' : 'next_channel'
  }

  /** The error for the client when no attempt is left. */
  refusal(): GatewayError {
    const retryAfterMs = this.room?.retryAfterMs ?? null
    if (this.faults.length === 0 && retryAfterMs !== null)
      return finalError([], { why: 'rate_limited', retryAfterMs })
    if (this.faults.length === 0 && this.unsayable !== null) return this.unsayable
    return finalError(this.faults, this.blocked)
  }

  /** The attempt handed out last sent nothing to its vendor, so it does not count. */
  unsupported(error: GatewayError): void {
    this.report({ kind: 'none' })
    this.tried--
    this.pass(error)
  }

  /** Keeps the error and goes on: another channel's format may express the request. */
  private pass(error: unknown): void {
    this.unsayable = refusalFor(error)
  }
}

/** Whether it may be asked after a failure. */
function isFree(candidate: Candidate, rooms: RelayRooms): boolean {
  const usable = rooms.health.usable(laneOf(candidate), candidate.model, performance.now())
  return usable && !isShielded(candidate, rooms)
}

/** The budget protects a channel in trouble; a healthy one may take over all the load of another. */
function isShielded(candidate: Candidate, { health }: RelayRooms): boolean {
  const lane = laneOf(candidate)
  return health.state(lane, performance.now()) > 0 && !health.mayRetry(lane)
}

/** The times and the vendor's id kept of a failed attempt. */
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
