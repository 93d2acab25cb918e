// One request from its first attempt to its settlement: the only place that fails over, commits and settles.

import { errorTable, type Fault, faultTable, GatewayError } from '../errors.ts'
import { plan } from '../router/plan.ts'
import type { Candidate, Outcome } from '../router/route.ts'
import type { Answer, Ask, RelayRooms, Sight } from './ask.ts'
import { Attempt, type AttemptOwner } from './attempt.ts'
import type { Timed } from './deadlines.ts'
import { Outlet, type OutletOwner } from './outlet.ts'
import { type Prepared, prepare, send } from './send.ts'
import { causeOf, verdict } from './verdict.ts'

const heartbeat = new TextEncoder().encode(': keep-alive\n\n')

/** The client left before the reply was whole; nginx's number for it, seen only in records. */
const clientGoneStatus = 499

export class Call implements AttemptOwner, OutletOwner, Timed {
  slot = -1
  readonly ask: Ask
  private readonly rooms: RelayRooms
  private readonly attempts: readonly Candidate[]
  /** Every channel is cooling: how long until the first may be tried. */
  private readonly coolingMs: number | null
  private readonly faults: Fault[] = []
  private readonly answer = Promise.withResolvers<Answer>()
  /** Made at the commit: from then on the client has its status. */
  private outlet: Outlet | null = null
  private held: Uint8Array[] = []
  private current: Attempt | null = null
  private tried = 0
  private settled = false
  private clientWatched = false
  private attemptStartedMs = 0
  private vendorMs = 0
  private ttftMs: number | null = null
  private lastEmitMs = 0

  constructor(rooms: RelayRooms, ask: Ask) {
    this.rooms = rooms
    this.ask = ask
    const nowMs = performance.now()
    const planned = plan(ask.candidates, rooms.health, nowMs, rooms.random, {
      maxAttempts: rooms.retry.maxAttempts,
    })
    this.attempts = planned.attempts
    this.coolingMs = planned.retryAfterMs
  }

  /** Resolves at the commit point or with the whole reply; rejects with a GatewayError. Never called twice. */
  run(): Promise<Answer> {
    this.rooms.deadlines.add(this)
    this.next()
    return this.answer.promise
  }

  /** The client's connection is gone: the vendor is let go, what was generated is recorded. */
  clientGone(): void {
    if (this.settled) return
    this.current?.abort()
    this.outlet?.break('the client left')
    this.report({ kind: 'none' })
    this.settle(clientGoneStatus, null, this.current?.sight ?? null, 'client_closed_request')
    this.answer.reject(new GatewayError('request_timeout', 'The client closed the connection.'))
  }

  /** Ends what is left of a stream because the gateway itself stops. */
  shutDown(): void {
    if (this.settled) return
    this.current?.abort()
    this.report({ kind: 'none' })
    this.refuse(
      new GatewayError('service_unavailable', 'The gateway is restarting.', { retryAfterMs: 1000 }),
      null,
    )
  }

  pause(): void {
    this.current?.pause()
  }

  resume(): void {
    this.current?.resume()
  }

  emit(bytes: Uint8Array): void {
    if (this.outlet === null) {
      this.held.push(bytes)
      return
    }
    this.lastEmitMs = performance.now()
    this.outlet.push(bytes)
  }

  commit(): void {
    this.ttftMs ??= performance.now() - this.ask.startedMs
    this.openReply()
  }

  completed(sight: Sight): void {
    this.commit()
    this.openReply().end()
    this.report({ kind: 'ok' })
    this.settle(200, null, sight, null)
  }

  answered(bytes: Uint8Array, sight: Sight): void {
    const nowMs = performance.now()
    this.ttftMs = nowMs - this.ask.startedMs
    this.vendorMs += nowMs - this.attemptStartedMs
    this.report({ kind: 'ok' })
    this.settle(200, null, sight, null)
    this.answer.resolve({ stream: false, body: bytes, vendorMs: this.vendorMs })
  }

  attemptFailed(fault: Fault): void {
    this.report({ kind: 'fault', fault })
    this.faults.push(fault)
    if (this.outlet === null) this.vendorMs += performance.now() - this.attemptStartedMs
    const again = this.mayFailOver(fault)
    const { current } = this
    if (current !== null) {
      const shown = {
        ...fault,
        message: this.rooms.scrub(fault.message, current.plan.channel.secrets),
      }
      this.rooms.attemptFailed(this.ask, current.plan.candidate, shown, again)
    }
    if (again) {
      this.held = []
      this.next()
    } else if (this.outlet !== null) this.breakOff(this.outlet, fault)
    else this.refuse(this.verdict(), fault)
  }

  tick(nowMs: number): void {
    this.watchClient()
    const { timeouts, heartbeatMs, commitAfterMs, writeStallMs } = this.rooms
    const { ask, current, outlet } = this
    const waitingBytes = outlet?.waitingBytes ?? 0
    if (outlet !== null && waitingBytes > 0 && nowMs - outlet.takenAtMs > writeStallMs) {
      ask.place.cutOff()
      this.clientGone()
      this.rooms.deadlines.delete(this)
      return
    }
    if (this.settled) {
      // The vendor is done; only a client that never takes the rest is still watched for.
      if (outlet === null || outlet.closed) this.rooms.deadlines.delete(this)
      return
    }
    if (nowMs - ask.startedMs > timeouts.totalMs) {
      current?.failed({ kind: 'timeout', message: 'the request took too long altogether' })
      return
    }
    current?.tick(nowMs)
    if (this.settled || !ask.peek.stream || waitingBytes > 0) return
    const due =
      this.outlet === null
        ? current?.accepted === true && nowMs - current.sentMs > commitAfterMs
        : nowMs - this.lastEmitMs > heartbeatMs
    if (!due) return
    // A quiet stream shows signs of life, or proxies on the way take it for dead.
    this.openReply()
    this.emit(heartbeat)
  }

  /** Not from the start: most replies are there before their first tick, and watching costs more than they do. */
  private watchClient(): void {
    if (this.clientWatched || this.settled) return
    this.clientWatched = true
    this.ask.place.watchClient()
  }

  /** From here on the client has its status, and no other channel may take over. */
  private openReply(): Outlet {
    if (this.outlet !== null) return this.outlet
    this.watchClient()
    const nowMs = performance.now()
    const outlet = new Outlet(this, nowMs)
    this.outlet = outlet
    this.lastEmitMs = nowMs
    this.vendorMs += nowMs - this.attemptStartedMs
    for (const bytes of this.held) outlet.push(bytes)
    this.held = []
    this.answer.resolve({
      stream: this.ask.peek.stream,
      body: outlet.body(),
      vendorMs: this.vendorMs,
    })
    return outlet
  }

  private next(): void {
    const candidate = this.attempts[this.tried]
    if (candidate === undefined) {
      this.refuse(this.verdict(), null)
      return
    }
    const prepared = this.prepared(candidate)
    if (prepared === null) return
    const nowMs = performance.now()
    this.tried++
    this.attemptStartedMs = nowMs
    this.rooms.health.begin(candidate.channelId, candidate.model, nowMs, this.tried > 1)
    const attempt = new Attempt(prepared.plan, this, nowMs)
    this.current = attempt
    attempt.carriedBy(send(prepared, attempt))
  }

  /** null where the request cannot be put in the vendor's format, which the client has then been told. */
  private prepared(candidate: Candidate): Prepared | null {
    try {
      return prepare(this.rooms, this.ask, candidate)
    } catch (error) {
      this.refuse(refusalFor(error), null)
      return null
    }
  }

  private mayFailOver(fault: Fault): boolean {
    const row = faultTable[fault.kind]
    if (this.outlet !== null || this.settled || !row.failover || this.tried >= this.attempts.length)
      return false
    if (row.uncertain && !this.rooms.retry.retryUncertain) return false
    const next = this.attempts[this.tried]
    const { health } = this.rooms
    const nowMs = performance.now()
    // The budget shields a channel in trouble; one that does well may take over all of another's load.
    const shielded = next !== undefined && health.state(next.channelId, nowMs) > 0
    if (shielded && !health.mayRetry(next.channelId)) return false
    return performance.now() - this.ask.startedMs < this.rooms.timeouts.totalMs
  }

  private verdict(): GatewayError {
    const secrets = this.current?.plan.channel.secrets ?? []
    if (this.faults.length === 0 && this.coolingMs !== null) {
      return new GatewayError(
        'rate_limit_exceeded',
        'Every channel for this model is at its rate limit.',
        {
          retryAfterMs: this.coolingMs,
        },
      )
    }
    return verdict(this.faults, (text) => this.rooms.scrub(text, secrets))
  }

  /** After the commit the status cannot change: the stream ends in an error frame, a whole reply breaks. */
  private breakOff(outlet: Outlet, fault: Fault): void {
    const error = new GatewayError(
      'service_unavailable',
      `The stream ended early: ${causeOf(fault)}.`,
    )
    if (this.ask.peek.stream) {
      this.emit(new TextEncoder().encode(`data: ${this.ask.dialect.refuse(error)}\n\n`))
      outlet.end()
    } else outlet.break(error.message)
    this.settle(200, fault, this.current?.sight ?? null, error.code)
  }

  private refuse(error: GatewayError, fault: Fault | null): void {
    if (this.outlet !== null) {
      this.breakOff(this.outlet, fault ?? { kind: 'cut', message: error.message })
      return
    }
    this.settle(
      errorTable[error.code].status,
      fault ?? this.faults.at(-1) ?? null,
      this.current?.sight ?? null,
      error.code,
    )
    this.answer.reject(error)
  }

  private report(outcome: Outcome): void {
    const candidate = this.current?.plan.candidate
    if (candidate === undefined) return
    this.rooms.health.report(
      candidate.channelId,
      candidate.model,
      outcome,
      performance.now(),
      this.tried > 1,
    )
  }

  private settle(
    status: number,
    fault: Fault | null,
    sight: Sight | null,
    errorCode: string | null,
  ): void {
    if (this.settled) return
    this.settled = true
    if (this.outlet === null || this.outlet.waitingBytes === 0) this.rooms.deadlines.delete(this)
    this.rooms.settle({
      ask: this.ask,
      candidate: this.current?.plan.candidate ?? null,
      attempts: this.tried,
      sight,
      status,
      fault,
      errorCode,
      ttftMs: this.ttftMs,
      durationMs: performance.now() - this.ask.startedMs,
      vendorMs: this.vendorMs,
    })
  }
}

/** Why a request could not be put in a vendor's format. A mistake of ours is told, and gives its place back too. */
function refusalFor(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  reportError(error)
  return new GatewayError('server_error', 'The gateway failed to handle this request.')
}
