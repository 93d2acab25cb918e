// One request from its first attempt to its settlement: the only place that fails over, commits and settles.

import type { StopReason } from '../billing/authorization.ts'
import { isDelivered } from '../billing/charging-policy.ts'
import type { Keeping, ReplySummary } from '../billing/settlement.ts'
import { type Fault, GatewayError } from '../errors.ts'
import type { AttemptOwner } from './attempt.ts'
import { Attempts } from './attempts.ts'
import type { Timed } from './deadlines.ts'
import { Capture, Delivery, type DeliveryOwner } from './delivery.ts'
import { type End, Ending, wellEnded } from './ending.ts'
import { interruption, refusalStatus, restarting, stoppedFor } from './final-error.ts'
import type { RelayOperation } from './operation.ts'
import type { Answer, RelayRequest, RelayRooms } from './request.ts'
import type { Prepared } from './send.ts'

const atOnce: Keeping = { now: true }

/** nginx's status for a client that left before the reply was complete; used only in records. */
const clientGoneStatus = 499

export class Call implements AttemptOwner, DeliveryOwner, Timed {
  slot = -1
  readonly request: RelayRequest
  readonly attempts: Attempts
  readonly ending: Ending
  readonly delivery: Delivery
  private readonly rooms: RelayRooms

  /** `operation`: what differs for a request that is not a plain text one; null: nothing. */
  constructor(rooms: RelayRooms, request: RelayRequest, operation: RelayOperation | null = null) {
    const { options, rooms: billing } = request.authorization
    const { idempotencyReplyBytes } = billing.policies
    const capture = options.idempotencyKey === null ? null : new Capture(idempotencyReplyBytes)
    this.rooms = rooms
    this.request = request
    this.attempts = new Attempts(rooms, request, operation, performance.now())
    this.ending = new Ending(rooms, request, this.attempts, capture)
    this.delivery = new Delivery(request, this.attempts, this.ending, capture, this)
  }

  /** Resolves at the commit point or with the whole reply; rejects with a GatewayError. Never called twice. */
  run(): Promise<Answer> {
    this.rooms.deadlines.add(this)
    this.next()
    return this.delivery.answer.promise
  }

  /** The client's connection is gone: by policy the vendor is aborted, or read to its end for the true usage. */
  clientGone(): void {
    const { ending, delivery } = this
    if (ending.over || ending.drainsUntilMs !== null) return
    delivery.queue?.break('the client left')
    if (ending.drain()) delivery.resume()
    else this.letGo()
    delivery.answer.reject(new GatewayError('request_timeout', 'The client closed the connection.'))
  }

  /** The caller cancels the request: the vendor is aborted at once, whatever the policy. */
  cancel(): void {
    const { ending, delivery } = this
    if (ending.over) return
    delivery.queue?.break('the request was cancelled')
    this.letGo()
    delivery.answer.reject(new GatewayError('request_timeout', 'The request was cancelled.'))
  }

  /** Nobody waits for the reply: the vendor is aborted, and what it delivered is charged. */
  private letGo(): void {
    this.attempts.stop()
    this.finishGone(this.delivery.summary, null)
  }

  /**
   * Ends a running request: the gateway shuts down or cannot charge any more, or somebody stopped this request; `fault`:
   * written to its record, null where it was not this one request that was stopped.
   */
  shutDown(why: GatewayError = restarting(), fault: Fault | null = null): void {
    const { ending, attempts } = this
    if (ending.over) return
    if (fault !== null && ending.drainsUntilMs !== null) {
      this.letGo()
      return
    }
    attempts.stop()
    this.refuse(why, fault)
  }

  tick(nowMs: number): void {
    const { delivery, ending, attempts, request } = this
    const { queue } = delivery
    const { timeouts, client, deadlines } = this.rooms
    delivery.watchClient()
    const isDrained = ending.drainsUntilMs !== null && !ending.over
    const isStalled =
      queue !== null && queue.waitingBytes > 0 && nowMs - queue.takenAtMs > client.writeStallMs
    if (isStalled && !isDrained) {
      request.clientSlot.cutOff()
      this.clientGone()
      // A vendor that is read to its end has its own limits.
      if (ending.over) deadlines.delete(this)
    } else if (ending.over) {
      // The vendor is done; the timer only watches for a client that never takes the rest.
      if (queue === null || queue.closed) deadlines.delete(this)
    } else if (ending.drainsUntilMs !== null && nowMs > ending.drainsUntilMs) this.letGo()
    else if (nowMs - request.startedMs > timeouts.totalMs) this.expire()
    else {
      attempts.current?.tick(nowMs)
      delivery.heartbeat(nowMs)
    }
  }

  /** `totalMs` bounds a request, whatever it waits for: the vendor, the client or the ledger. */
  private expire(): void {
    const fault = { kind: 'timeout', message: 'the request took too long altogether' } as const
    this.attempts.current?.stopped(fault)
    if (this.ending.over) return
    this.attempts.report({ kind: 'none' })
    if (this.ending.drainsUntilMs === null) this.refuse(interruption(fault), fault)
    else this.letGo()
  }

  private next(): void {
    try {
      const next = this.attempts.next()
      if (!(next instanceof Promise)) {
        this.begin(next)
        return
      }
      next
        .then((prepared) => {
          // The client may have left meanwhile.
          if (!this.ending.over) this.begin(prepared)
        })
        .catch((error) => this.crashed(error))
    } catch (error) {
      this.crashed(error)
    }
  }

  private begin(prepared: Prepared | null): void {
    if (prepared === null) this.refuse(this.attempts.refusal(), null)
    else this.attempts.begin(prepared, this, this.delivery)
  }

  crashed(error: unknown): void {
    reportError(error)
    this.attempts.stop()
    this.finish(() => this.fail())
  }

  completed(summary: ReplySummary): void {
    this.delivery.gate.finish(() => this.ended(summary))
  }

  private ended(summary: ReplySummary): void {
    const { ending, delivery } = this
    this.attempts.report({ kind: 'ok' })
    if (ending.drainsUntilMs !== null) {
      this.finishGone(summary, null)
      return
    }
    delivery.commit()
    const queue = delivery.open()
    this.finish(() => {
      if (this.request.authorization.rooms.policies.durability === 'normal') {
        ending.settle(wellEnded, summary, atOnce)
        queue.end()
      } else ending.settle(wellEnded, summary, { then: () => queue.end() })
    })
  }

  answered(bytes: Uint8Array, summary: ReplySummary): void {
    const { attempts, ending, delivery, request } = this
    const nowMs = performance.now()
    attempts.ttftMs = nowMs - request.startedMs
    attempts.waited(nowMs)
    attempts.report({ kind: 'ok' })
    if (ending.drainsUntilMs === null) this.finish(() => delivery.whole(bytes, summary))
    else this.finishGone(summary, null)
  }

  attemptFailed(fault: Fault): void {
    const { attempts, ending, delivery } = this
    const shown = attempts.fail(fault)
    if (ending.drainsUntilMs !== null) {
      this.finishGone(delivery.summary, fault)
      return
    }
    const isOpen = delivery.queue !== null
    if (!isOpen) attempts.waited(performance.now())
    const then = isOpen || ending.settled ? 'already_answering' : attempts.after(fault)
    const again = then === 'next_channel'
    attempts.tell(shown, again)
    // What was delivered is charged to the client: it is not the gateway's own loss.
    if (!isOpen || !isDelivered(this.request, delivery.summary)) attempts.writeOff(fault, then)
    if (again) {
      delivery.restart()
      this.next()
    } else this.refuse(isOpen ? interruption(shown) : attempts.refusal(), fault)
  }

  attemptUnsayable(error: GatewayError): void {
    this.attempts.unsupported(error)
    this.next()
  }

  /** The hold cannot be extended: aborts the vendor, charges what was delivered, and sends the client an error. */
  stopFor(why: StopReason): void {
    if (this.ending.drainsUntilMs !== null) {
      this.letGo()
      return
    }
    this.attempts.stop()
    this.delivery.open()
    this.refuse(stoppedFor(why), null)
  }

  /** After the commit point the status cannot change: a stream ends in an error frame, a whole reply breaks off. */
  private refuse(error: GatewayError, fault: Fault | null): void {
    const { attempts, ending, delivery } = this
    const { queue } = delivery
    const errorCode = error.code
    this.finish(() => {
      if (queue === null) {
        const known = fault ?? attempts.faults.at(-1) ?? null
        const status = refusalStatus(this.request.dialect, error)
        ending.settle({ status, fault: known, errorCode }, delivery.summary, null)
        delivery.answer.reject(error)
        return
      }
      // The record is written first: what follows are the stream's last bytes.
      ending.settle({ status: 200, fault, errorCode }, delivery.summary, atOnce)
      delivery.fail(queue, error)
    })
  }

  /** Settles a request whose client is gone: no reply is sent. */
  private finishGone(summary: ReplySummary | null, fault: Fault | null): void {
    const end: End = { status: clientGoneStatus, fault, errorCode: 'client_closed_request' }
    this.finish(() => this.ending.settle(end, summary, null))
  }

  /** A bug in the gateway: the client gets an error where it can still be sent. */
  private fail(): void {
    const { queue, answer, summary } = this.delivery
    const error = new GatewayError('server_error', 'The gateway failed to handle this request.')
    queue?.break(error.message)
    answer.reject(error)
    const end: End = { status: queue === null ? 500 : 200, fault: null, errorCode: error.code }
    this.ending.settle(end, summary, null)
  }

  /** Ends the request: `last` settles and ends the reply. If it throws, the client still gets an end. */
  private finish(last: () => void): void {
    const { ending, delivery } = this
    if (ending.over) return
    ending.over = true
    try {
      last()
    } catch (error) {
      reportError(error)
      this.fail()
    } finally {
      delivery.gate.drop()
      ending.leave()
      const { queue } = delivery
      if (queue === null || queue.waitingBytes === 0) this.rooms.deadlines.delete(this)
    }
  }
}
