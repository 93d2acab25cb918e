// The end of a request: settles its money exactly once, whatever happens, and notifies the observers.

import { type Priced, price, progress, settle } from '../billing/settle.ts'
import type { Captured, Keeping, ReplySummary, Settlement } from '../billing/settlement.ts'
import type { Fault } from '../errors.ts'
import type { Attempts } from './attempts.ts'
import { tokensOf } from './observer.ts'
import type { Observer, RelayRequest, RelayRooms } from './request.ts'

/** How a request ended. */
export interface End {
  /** The client's HTTP status; 499 when it left before the end. */
  readonly status: number
  readonly fault: Fault | null
  readonly errorCode: string | null
}

export const wellEnded: End = { status: 200, fault: null, errorCode: null }

export class Ending {
  /** Nothing more is relayed. */
  over = false
  /** The money is settled and the record written. */
  settled = false
  /** The client has left and the vendor is read to its end, until this time by `performance.now()`; null: not so. */
  drainsUntilMs: number | null = null
  private readonly rooms: Pick<RelayRooms, 'drains' | 'observer'>
  private readonly request: RelayRequest
  private readonly attempts: Attempts
  private readonly capture: Captured | null

  constructor(
    rooms: Pick<RelayRooms, 'drains' | 'observer'>,
    request: RelayRequest,
    attempts: Attempts,
    capture: Captured | null,
  ) {
    this.rooms = rooms
    this.request = request
    this.attempts = attempts
    this.capture = capture
  }

  /** The client has left: whether the vendor is read to its end anyway, for the true usage. */
  drain(): boolean {
    const { drains } = this.rooms
    const { clientLeaves } = this.request.authorization.rooms.policies
    const isAccepted = this.attempts.current?.accepted === true
    if (clientLeaves !== 'drain' || !isAccepted || drains.running >= drains.most) return false
    drains.running++
    this.drainsUntilMs = performance.now() + drains.limitMs
    return true
  }

  /** Saves what is owed so far, in case the process dies. */
  note(): void {
    progress(this.settlement(wellEnded, this.attempts.current?.summary ?? null))
  }

  price(end: End, summary: ReplySummary | null): Priced {
    return price(this.settlement(end, summary))
  }

  /** Settles once; later calls do nothing. */
  settle(end: End, summary: ReplySummary | null, keeping: Keeping): void {
    if (this.settled) return
    this.settled = true
    this.close(this.price(end, summary), keeping)
  }

  close(priced: Priced, keeping: Keeping): void {
    this.settled = true
    const { request, rooms } = this
    this.attempts.room?.end(tokensOf(priced.row))
    if (request.settle === undefined) settleRequest(rooms.observer, request, priced, keeping)
    else request.settle(request, priced, keeping)
  }

  /** Releases the spool and the place among the drained requests. */
  leave(): void {
    this.request.media?.spool.close()
    if (this.drainsUntilMs !== null) this.rooms.drains.running--
  }

  private settlement({ status, fault, errorCode }: End, summary: ReplySummary | null): Settlement {
    const { request, attempts } = this
    const { current, tried, failed, ttftMs, vendorMs } = attempts
    return {
      request,
      candidate: current?.plan.candidate ?? null,
      vendor: current?.plan.channel.vendor.id ?? null,
      attempts: tried,
      vendorRequestId: current?.vendorRequestId ?? null,
      failedAttempts: failed,
      accepted: current?.accepted === true,
      drained: this.drainsUntilMs !== null,
      reply: this.capture,
      type: current?.path?.type ?? null,
      summary,
      status,
      fault,
      errorCode,
      ttftMs,
      durationMs: performance.now() - request.startedMs,
      vendorMs,
      sentAfterMs: current === null ? 0 : current.sentMs - request.startedMs,
    }
  }
}

export function settleRequest(
  observer: Observer,
  request: RelayRequest,
  priced: Priced,
  keeping: Keeping,
): void {
  const beganMs = performance.now()
  settle(priced, keeping)
  observer.settled(request, priced)
  observer.settling(performance.now() - beganMs)
}
