// Between a request's attempts and its client: holds bytes back before the commit and until the hold covers them.

import type { StopReason } from '../billing/authorization.ts'
import { HoldGate, type HoldGateOwner } from '../billing/hold-gate.ts'
import { costOf } from '../billing/settle.ts'
import type { Captured, ReplySummary } from '../billing/settlement.ts'
import type { GatewayError } from '../errors.ts'
import { join } from '../wire/json/splice.ts'
import type { AttemptSink } from './attempt.ts'
import type { Attempts } from './attempts.ts'
import { type BackpressureOwner, BackpressureQueue } from './backpressure-queue.ts'
import { type Ending, wellEnded } from './ending.ts'
import type { ReplyPath } from './path.ts'
import type { Answer, RelayRequest } from './request.ts'

const encoder = new TextEncoder()

export interface DeliveryOwner {
  /** No more money can be held for what the vendor still sends. */
  stopFor(why: StopReason): void
}

export class Delivery implements AttemptSink, BackpressureOwner, HoldGateOwner {
  readonly answer = Promise.withResolvers<Answer>()
  /** Made at the commit point, after which the client has its status. */
  queue: BackpressureQueue | null = null
  readonly gate: HoldGate
  private readonly request: RelayRequest
  private readonly attempts: Attempts
  private readonly ending: Ending
  private readonly capture: Capture | null
  private readonly owner: DeliveryOwner
  private held: Uint8Array[] = []
  /** The vendor is paused until the client has taken what is queued. */
  private clientBehind = false
  private clientWatched = false
  private lastEmitMs = 0

  constructor(
    request: RelayRequest,
    attempts: Attempts,
    ending: Ending,
    capture: Capture | null,
    owner: DeliveryOwner,
  ) {
    this.request = request
    this.attempts = attempts
    this.ending = ending
    this.capture = capture
    this.owner = owner
    this.gate = new HoldGate(request.authorization, this)
  }

  /** Passes bytes through the hold gate: the client gets nothing that the hold does not cover. */
  emit(bytes: Uint8Array): void {
    this.gate.emit(bytes)
  }

  commit(): void {
    this.attempts.ttftMs ??= performance.now() - this.request.startedMs
    this.open()
  }

  /** The commit point: the client gets its status, and no other channel may take over. */
  open(): BackpressureQueue {
    if (this.queue !== null) return this.queue
    this.watchClient()
    const nowMs = performance.now()
    const { request, attempts, capture } = this
    const isAlone =
      capture === null && request.transform === undefined && attempts.current?.path?.letsGo === true
    const queue = new BackpressureQueue(this, nowMs, isAlone)
    this.queue = queue
    this.lastEmitMs = nowMs
    attempts.waited(nowMs)
    for (const bytes of this.held) queue.push(bytes)
    this.held = []
    this.answer.resolve(this.answerOf(queue, request.peek.stream, null))
    return queue
  }

  /** Delivers a whole reply, after its money is settled. */
  whole(bytes: Uint8Array, summary: ReplySummary): void {
    const { authorization, dialect } = this.request
    const priced = this.ending.price(wellEnded, summary)
    const cost = costOf(priced)
    const shown = authorization.options.showCost ? dialect.client.withCost(bytes, cost) : bytes
    const body = this.transformed(shown, 'whole')
    this.capture?.add(body)
    const answer = this.answerOf(body, false, cost)
    this.ending.close(priced, { then: () => this.answer.resolve(answer) })
  }

  /** Ends a reply that has begun: a stream by an error frame, ahead of what waits for money; a whole one breaks off. */
  fail(queue: BackpressureQueue, error: GatewayError): void {
    const { dialect, requestId, peek } = this.request
    if (!peek.stream) {
      queue.break(error.message)
      return
    }
    const own = this.attempts.current?.path?.fail?.(error)
    this.hand(encoder.encode(own ?? dialect.client.errorFrames(error, requestId)))
    queue.end()
  }

  /** Another attempt begins; the client has received nothing yet. */
  restart(): void {
    this.held = []
    this.gate.restart()
    this.capture?.clear()
  }

  /** What is known of the reply; where the rest was not paid for, only what the client has received. */
  get summary(): ReplySummary | null {
    const summary = this.attempts.current?.summary ?? null
    if (summary === null || !this.gate.isBehind) return summary
    const { deliveredBytes: outputBytes } = this.gate
    return { usage: null, outputBytes, finishReason: null, model: summary.model }
  }

  /** Called at the first tick or at the commit, and not from the start: most replies are complete before either. */
  watchClient(): void {
    if (this.clientWatched || this.ending.settled) return
    this.clientWatched = true
    this.request.clientSlot.watchClient()
  }

  /** Sends a heartbeat on a quiet stream, or proxies on the way would close it as idle. */
  heartbeat(nowMs: number): void {
    const { queue, ending, request, attempts } = this
    const { current } = attempts
    if (ending.over || ending.drainsUntilMs !== null || !request.peek.stream) return
    if (queue !== null && queue.waitingBytes > 0) return
    const { heartbeatMs, commitAfterMs } = attempts.rooms.client
    const due =
      queue === null
        ? current?.accepted === true && nowMs - current.sentMs > commitAfterMs
        : nowMs - this.lastEmitMs > heartbeatMs
    if (!due || current?.path?.inFrame === true) return
    this.open()
    this.emit(encoder.encode(request.dialect.client.heartbeat))
  }

  get settled(): boolean {
    return this.ending.settled
  }

  get outputBytes(): number {
    return this.attempts.current?.summary.outputBytes ?? 0
  }

  hand(paid: Uint8Array): void {
    if (this.ending.drainsUntilMs !== null) return
    const bytes = this.transformed(paid, 'piece')
    this.capture?.add(bytes)
    if (this.queue === null) this.held.push(bytes)
    else {
      this.lastEmitMs = performance.now()
      this.queue.push(bytes)
    }
  }

  paid(): void {
    this.ending.note()
  }

  stopFor(why: StopReason): void {
    this.owner.stopFor(why)
  }

  holdBack(wait: boolean): void {
    if (wait) this.attempts.current?.pause()
    else if (!this.ending.over) this.flow()
  }

  pause(): void {
    this.clientBehind = true
    this.attempts.current?.pause()
  }

  resume(): void {
    this.clientBehind = false
    this.flow()
  }

  /** Resumes the vendor where neither the client nor the money holds it back. */
  private flow(): void {
    if (!this.clientBehind && !this.gate.waiting) this.attempts.current?.resume()
  }

  private transformed(bytes: Uint8Array, kind: 'whole' | 'piece'): Uint8Array {
    const { transform } = this.request
    if (transform === undefined) return bytes
    return transform(bytes, kind, this.attempts.current?.origin ?? null)
  }

  private answerOf(body: Answer['body'], stream: boolean, cost: string | null): Answer {
    const { current, vendorMs } = this.attempts
    const { path = null, droppedFields: dropped = [], state: headers = {} } = current ?? {}
    const bodyBytes = body instanceof Uint8Array ? null : bodyBytesOf(this.request, path)
    return { stream, body, bodyBytes, type: path?.type ?? null, vendorMs, cost, dropped, headers }
  }
}

/**
 * The length of a reply that passes as it comes; null: not known. Not told with `durability: strict`, where the client
 * must not know that it has the last byte before the ledger's commit.
 */
function bodyBytesOf(request: RelayRequest, path: ReplyPath | null): number | null {
  const { transform, authorization, peek } = request
  const isStrict = authorization.rooms.policies.durability !== 'normal'
  if (peek.stream || transform !== undefined || isStrict) return null
  return path?.statedBytes ?? null
}

/** Keeps a copy of a reply whose client may ask for it again by its `Idempotency-Key`. */
export class Capture implements Captured {
  private readonly maxBytes: number
  private chunks: Uint8Array[] = []
  private length = 0

  /** A longer reply is not kept: a repeated key then only says that the work was done. */
  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  add(chunk: Uint8Array): void {
    this.length += chunk.length
    if (this.length <= this.maxBytes) this.chunks.push(chunk)
    else this.chunks = []
  }

  clear(): void {
    this.chunks = []
    this.length = 0
  }

  bytes(): Uint8Array | null {
    return this.length <= this.maxBytes ? join(this.chunks) : null
  }
}
