// One request from its first attempt to its settlement: the only place that fails over, commits and settles.

import { failedAttempt } from '../billing/charging-policy.ts'
import { HoldGate, type HoldGateOwner } from '../billing/hold-gate.ts'
import { costOf, price, progress } from '../billing/settle.ts'
import type { Keeping, ReplySummary, Settlement } from '../billing/settlement.ts'
import { type Fault, GatewayError } from '../errors.ts'
import type { Outcome } from '../router/route.ts'
import type { FailedAttempt } from '../store/usage-row.ts'
import { scrub } from '../telemetry/scrub.ts'
import { Attempt, type AttemptOwner } from './attempt.ts'
import { Attempts } from './attempts.ts'
import { type BackpressureOwner, BackpressureQueue } from './backpressure-queue.ts'
import { Capture } from './capture.ts'
import type { Timed } from './deadlines.ts'
import { closeRequest } from './ending.ts'
import { interruption, refusalStatus, stoppedFor } from './final-error.ts'
import type { RelayOperation } from './operation.ts'
import type { Answer, RelayRequest, RelayRooms } from './request.ts'
import { type Prepared, send } from './send.ts'

const atOnce: Keeping = { now: true }
const encoder = new TextEncoder()

/** The client left before the reply was whole; nginx's number for it, seen only in records. */
const clientGoneStatus = 499

export class Call implements AttemptOwner, BackpressureOwner, HoldGateOwner, Timed {
  slot = -1
  readonly request: RelayRequest
  private readonly rooms: RelayRooms
  private readonly attempts: Attempts
  private readonly answer = Promise.withResolvers<Answer>()
  /** Made at the commit: from then on the client has its status. */
  private queue: BackpressureQueue | null = null
  private held: Uint8Array[] = []
  private current: Attempt | null = null
  /** The money and the record are done. */
  settled = false
  /** Nothing more will be relayed. */
  private over = false
  /** The client has left, and the vendor is heard to its end: until then, by `performance.now()`. */
  private drainsUntilMs: number | null = null
  private readonly money: HoldGate
  /** The vendor waits until the client has taken what there is. */
  private clientBehind = false
  private readonly failedAttempts: FailedAttempt[] = []
  private readonly capture: Capture | null
  private clientWatched = false
  private attemptStartedMs = 0
  private vendorMs = 0
  private ttftMs: number | null = null
  private lastEmitMs = 0
  /** Health was told how the current attempt ended. */
  private reported = true

  /** `operation`: what a request beside plain text does otherwise. */
  constructor(rooms: RelayRooms, request: RelayRequest, operation: RelayOperation | null = null) {
    this.rooms = rooms
    this.request = request
    const nowMs = performance.now()
    this.attempts = new Attempts(rooms, request, operation, nowMs)
    this.money = new HoldGate(request.authorization, this)
    this.capture = request.authorization.options.idempotencyKey === null ? null : new Capture()
  }

  /** Resolves at the commit point or with the whole reply; rejects with a GatewayError. Never called twice. */
  run(): Promise<Answer> {
    this.rooms.deadlines.add(this)
    this.next()
    return this.answer.promise
  }

  /** The client's connection is gone: by policy the vendor is let go, or heard to its end for the true usage. */
  clientGone(): void {
    if (this.over || this.drainsUntilMs !== null) return
    this.queue?.break('the client left')
    if (this.mayDrain()) {
      this.rooms.drains.running++
      this.drainsUntilMs = performance.now() + this.rooms.drains.limitMs
      this.resume()
    } else this.letGo()
    this.answer.reject(new GatewayError('request_timeout', 'The client closed the connection.'))
  }

  /** Whoever asked wants no more of it: the vendor is let go at once, whatever the policy. */
  cancel(): void {
    if (this.over) return
    this.queue?.break('the request was cancelled')
    this.letGo()
    this.answer.reject(new GatewayError('request_timeout', 'The request was cancelled.'))
  }

  private mayDrain(): boolean {
    const { drains } = this.rooms
    const { clientLeaves } = this.request.authorization.rooms.policies
    const isAccepted = this.current?.accepted === true
    return clientLeaves === 'drain' && isAccepted && drains.running < drains.most
  }

  /** Nobody waits for the reply: the vendor is stopped, and what it delivered is owed. */
  private letGo(): void {
    this.current?.abort()
    this.report({ kind: 'none' })
    this.finishGone(this.summary, null)
  }

  /** Ends what is left of a stream because the gateway itself stops. */
  shutDown(): void {
    if (this.over) return
    this.current?.abort()
    this.report({ kind: 'none' })
    this.refuse(
      new GatewayError('service_unavailable', 'The gateway is restarting.', { retryAfterMs: 1000 }),
      null,
    )
  }

  /** Nothing lasts longer than `totalMs`, whoever is waited for: the vendor, the client, the ledger. */
  private expire(): void {
    const fault = { kind: 'timeout', message: 'the request took too long altogether' } as const
    this.current?.stopped(fault)
    if (this.over) return
    this.report({ kind: 'none' })
    if (this.drainsUntilMs === null) this.refuse(interruption(fault, ''), fault)
    else this.letGo()
  }

  pause(): void {
    this.clientBehind = true
    this.current?.pause()
  }

  resume(): void {
    this.clientBehind = false
    this.flow()
  }

  /** The vendor goes on where neither the client nor the money holds it back. */
  private flow(): void {
    if (!this.clientBehind && !this.money.waiting) this.current?.resume()
  }

  /** Paid for, then delivered: nothing goes to the client that its hold does not cover. */
  emit(bytes: Uint8Array): void {
    this.money.emit(bytes)
  }

  hand(paid: Uint8Array): void {
    if (this.drainsUntilMs !== null) return
    const bytes = this.passed(paid, 'piece')
    this.capture?.add(bytes)
    if (this.queue === null) this.held.push(bytes)
    else {
      this.lastEmitMs = performance.now()
      this.queue.push(bytes)
    }
  }

  private passed(bytes: Uint8Array, kind: 'whole' | 'piece'): Uint8Array {
    const { transform } = this.request
    if (transform === undefined) return bytes
    const { candidate, channel } = this.current?.plan ?? {}
    const origin = candidate && channel && { dialect: candidate.dialect, channel: channel.tag }
    return transform(bytes, kind, origin ?? null)
  }

  get outputBytes(): number {
    return this.current?.summary.outputBytes ?? 0
  }

  paid(): void {
    progress(this.settlement(200, null, this.current?.summary ?? null, null))
  }

  holdBack(wait: boolean): void {
    if (wait) this.current?.pause()
    else if (!this.over) this.flow()
  }

  commit(): void {
    this.ttftMs ??= performance.now() - this.request.startedMs
    this.openReply()
  }

  completed(summary: ReplySummary): void {
    this.money.finish(() => this.ended(summary))
  }

  private ended(summary: ReplySummary): void {
    this.report({ kind: 'ok' })
    if (this.drainsUntilMs !== null) {
      this.finishGone(summary, null)
      return
    }
    this.commit()
    const queue = this.openReply()
    this.finish(() => {
      if (this.request.authorization.rooms.policies.durability === 'normal') {
        this.settle(200, null, summary, null, atOnce)
        queue.end()
      } else this.settle(200, null, summary, null, { then: () => queue.end() })
    })
  }

  answered(bytes: Uint8Array, summary: ReplySummary): void {
    const nowMs = performance.now()
    this.ttftMs = nowMs - this.request.startedMs
    this.vendorMs += nowMs - this.attemptStartedMs
    this.report({ kind: 'ok' })
    if (this.drainsUntilMs !== null) {
      this.finishGone(summary, null)
      return
    }
    this.finish(() => this.resolveWhole(bytes, summary))
  }

  private resolveWhole(bytes: Uint8Array, summary: ReplySummary): void {
    const { authorization, dialect } = this.request
    const priced = price(this.settlement(200, null, summary, null))
    const cost = costOf(priced)
    const shown = authorization.options.showCost ? dialect.client.withCost(bytes, cost) : bytes
    const body = this.passed(shown, 'whole')
    this.capture?.add(body)
    const answer = this.answerOf(body, false, cost)
    this.settled = true
    const then = () => this.answer.resolve(answer)
    closeRequest(this.rooms.observer, this.request, priced, { then })
  }

  /** Nobody is told any more. */
  private finishGone(summary: ReplySummary | null, fault: Fault | null): void {
    this.finish(() => this.settle(clientGoneStatus, fault, summary, 'client_closed_request', null))
  }

  attemptFailed(fault: Fault): void {
    const { current } = this
    const secrets = current?.plan.channel.secrets ?? []
    const shown = { ...fault, message: scrub(fault.message, secrets) }
    this.report({ kind: 'fault', fault: shown })
    this.attempts.faults.push(fault)
    if (this.drainsUntilMs !== null) {
      this.finishGone(this.summary, fault)
      return
    }
    if (this.queue === null) this.vendorMs += performance.now() - this.attemptStartedMs
    const again = this.queue === null && !this.settled && this.attempts.mayFollow(fault)
    if (current !== null)
      this.rooms.observer.attemptFailed(this.request, current.plan, shown, again)
    if (!this.hasDelivered()) this.noteFailed(fault)
    if (again) {
      this.held = []
      this.money.restart()
      this.capture?.clear()
      this.next()
    } else if (this.queue !== null) this.refuse(interruption(fault, shown.message), fault)
    else this.refuse(this.attempts.refusal(secrets), fault)
  }

  broken(): void {
    if (!this.over) this.finish(() => this.fail(this.queue))
  }

  attemptUnsayable(error: GatewayError): void {
    this.report({ kind: 'none' })
    this.attempts.unsaid(error)
    this.next()
  }

  tick(nowMs: number): void {
    this.watchClient()
    const { timeouts, heartbeatMs, commitAfterMs, writeStallMs } = this.rooms
    const { request, current, queue } = this
    const waitingBytes = queue?.waitingBytes ?? 0
    if (queue !== null && waitingBytes > 0 && nowMs - queue.takenAtMs > writeStallMs) {
      request.clientSlot.cutOff()
      this.clientGone()
      this.rooms.deadlines.delete(this)
      return
    }
    if (this.over) {
      // The vendor is done; only a client that never takes the rest is still watched for.
      if (queue === null || queue.closed) this.rooms.deadlines.delete(this)
      return
    }
    if (this.drainsUntilMs !== null && nowMs > this.drainsUntilMs) {
      this.letGo()
      return
    }
    if (nowMs - request.startedMs > timeouts.totalMs) {
      this.expire()
      return
    }
    current?.tick(nowMs)
    if (this.drainsUntilMs !== null || !request.peek.stream || waitingBytes > 0) return
    const due =
      this.queue === null
        ? current?.accepted === true && nowMs - current.sentMs > commitAfterMs
        : nowMs - this.lastEmitMs > heartbeatMs
    if (!due || current?.inFrame === true) return
    // A quiet stream shows signs of life, or proxies on the way take it for dead.
    this.openReply()
    this.emit(encoder.encode(this.request.dialect.client.heartbeat))
  }

  /** Not from the start: most replies are there before their first tick, and watching costs more than they do. */
  private watchClient(): void {
    if (this.clientWatched || this.settled) return
    this.clientWatched = true
    this.request.clientSlot.watchClient()
  }

  /** From here on the client has its status, and no other channel may take over. */
  private openReply(): BackpressureQueue {
    if (this.queue !== null) return this.queue
    this.watchClient()
    const nowMs = performance.now()
    const queue = new BackpressureQueue(this, nowMs)
    this.queue = queue
    this.lastEmitMs = nowMs
    this.vendorMs += nowMs - this.attemptStartedMs
    for (const bytes of this.held) queue.push(bytes)
    this.held = []
    this.answer.resolve(this.answerOf(queue.body(), this.request.peek.stream, null))
    return queue
  }

  private answerOf(body: Answer['body'], stream: boolean, cost: string | null): Answer {
    const { type = null, unsaid: dropped = [], state: headers = {} } = this.current ?? {}
    return { stream, body, type, vendorMs: this.vendorMs, cost, dropped, headers }
  }

  private next(): void {
    const next = this.attempts.next()
    if (!(next instanceof Promise)) {
      this.begin(next)
      return
    }
    void next.then((prepared) => {
      // The client may have left meanwhile.
      if (!this.over) this.begin(prepared)
    })
  }

  private begin(prepared: Prepared | null): void {
    if (prepared === null) {
      const secrets = this.current?.plan.channel.secrets ?? []
      this.refuse(this.attempts.refusal(secrets), null)
      return
    }
    const { channelId, model } = prepared.plan.candidate
    const nowMs = performance.now()
    this.attemptStartedMs = nowMs
    this.reported = false
    this.rooms.health.begin(channelId, model, nowMs, this.attempts.tried > 1)
    const attempt = new Attempt(prepared.plan, this, nowMs)
    this.current = attempt
    attempt.carriedBy(send(prepared, attempt))
  }

  /** After the commit the status cannot change: a stream ends in an error frame, a whole reply breaks. */
  private refuse(error: GatewayError, fault: Fault | null): void {
    const { queue } = this
    this.finish(() => {
      if (queue === null) {
        const known = fault ?? this.attempts.faults.at(-1) ?? null
        const status = refusalStatus(this.request.dialect, error)
        this.settle(status, known, this.summary, error.code, null)
        this.answer.reject(error)
        return
      }
      // The record first: what follows are the stream's last bytes.
      this.settle(200, fault, this.summary, error.code, atOnce)
      if (this.request.peek.stream) this.endWithError(queue, error)
      else queue.break(error.message)
    })
  }

  /** Past all that waits to be paid for, which is the client's no more. */
  private endWithError(queue: BackpressureQueue, error: GatewayError): void {
    const { dialect, requestId } = this.request
    const frames = this.current?.failFrames(error) ?? dialect.client.errorFrames(error, requestId)
    this.hand(encoder.encode(frames))
    queue.end()
  }

  /** A mistake of ours: the client hears of it as far as it still can. */
  private fail(queue: BackpressureQueue | null): void {
    const error = new GatewayError('server_error', 'The gateway failed to handle this request.')
    queue?.break(error.message)
    this.answer.reject(error)
    this.settle(queue === null ? 500 : 200, null, this.summary, error.code, null)
  }

  private report(outcome: Outcome): void {
    const candidate = this.current?.plan.candidate
    if (candidate === undefined || this.reported) return
    this.reported = true
    const { channelId, model } = candidate
    const isAgain = this.attempts.tried > 1
    this.rooms.health.report(channelId, model, outcome, performance.now(), isAgain)
  }

  /** What is known of the reply; of one whose end was not paid for, what the client has. */
  private get summary(): ReplySummary | null {
    const summary = this.current?.summary ?? null
    if (summary === null || !this.money.isBehind) return summary
    const { deliveredBytes: outputBytes } = this.money
    return { usage: null, outputBytes, finishReason: null, model: summary.model }
  }

  /** The money is used up: the vendor is stopped, what was delivered is owed and said. */
  stopFor(why: 'refused' | 'over-cap'): void {
    if (this.drainsUntilMs !== null) {
      this.letGo()
      return
    }
    this.current?.abort()
    this.report({ kind: 'none' })
    this.openReply()
    this.refuse(stoppedFor(why), null)
  }

  /** From here on the client owes something: the attempt is no longer the gateway's own loss. */
  private hasDelivered(): boolean {
    const { usage = null, outputBytes = null } = this.summary ?? {}
    return this.queue !== null && (usage !== null || (outputBytes ?? 0) > 0)
  }

  /** An attempt nobody is charged for: what its vendor may ask for it is the gateway's own cost. */
  private noteFailed(fault: Fault): void {
    if (this.current === null) return
    const { id } = this.current.plan.channel
    this.failedAttempts.push(failedAttempt(this.request, id, this.current, fault))
  }

  private settlement(
    status: number,
    fault: Fault | null,
    summary: ReplySummary | null,
    errorCode: string | null,
  ): Settlement {
    const { current, request } = this
    return {
      request,
      candidate: current?.plan.candidate ?? null,
      vendor: current?.plan.channel.vendor.id ?? null,
      attempts: this.attempts.tried,
      failedAttempts: this.failedAttempts,
      accepted: current?.accepted === true,
      drained: this.drainsUntilMs !== null,
      reply: this.capture,
      type: current?.type ?? null,
      summary,
      status,
      fault,
      errorCode,
      ttftMs: this.ttftMs,
      durationMs: performance.now() - request.startedMs,
      vendorMs: this.vendorMs,
    }
  }

  /** Closes the bill, once. */
  private settle(
    status: number,
    fault: Fault | null,
    summary: ReplySummary | null,
    errorCode: string | null,
    keeping: Keeping,
  ): void {
    if (this.settled) return
    this.settled = true
    this.money.drop()
    const priced = price(this.settlement(status, fault, summary, errorCode))
    closeRequest(this.rooms.observer, this.request, priced, keeping)
  }

  /** Nothing more will come of it: `last` settles and ends the reply. Whatever fails in that, the client is not left waiting. */
  private finish(last: () => void): void {
    if (this.over) return
    this.over = true
    try {
      last()
    } catch (error) {
      reportError(error)
      this.fail(this.queue)
    } finally {
      this.request.media?.spool.close()
      if (this.drainsUntilMs !== null) this.rooms.drains.running--
      if (this.queue === null || this.queue.waitingBytes === 0) this.rooms.deadlines.delete(this)
    }
  }
}
