// The attempts of one request in their order: which comes next, whether one may follow a failure, what to say after the last.

import { type Fault, faultTable, type GatewayError } from '../errors.ts'
import { plan } from '../router/plan.ts'
import type { Blocked, Candidate } from '../router/route.ts'
import { scrub } from '../telemetry/scrub.ts'
import { finalError, refusalFor } from './final-error.ts'
import type { RelayOperation } from './operation.ts'
import type { RelayRequest, RelayRooms } from './request.ts'
import { sealedFirst } from './sealed.ts'
import { mayRepeat, type Prepared, prepare } from './send.ts'
import { type DecodedRequest, decodedRequestOf } from './translate.ts'

export class Attempts {
  /** Those handed out. */
  tried = 0
  readonly faults: Fault[] = []
  readonly rooms: RelayRooms
  readonly operation: RelayOperation | null
  private readonly request: RelayRequest
  private readonly order: readonly Candidate[]
  /** The place in it of the next. */
  private at = 0
  /** No channel may be tried: why, and for how long. */
  private readonly blocked: Blocked | null
  private readonly client: DecodedRequest
  /** Why the last channel could not even be asked: its format cannot say what the client wants. */
  private unsayable: GatewayError | null = null

  constructor(
    rooms: RelayRooms,
    request: RelayRequest,
    operation: RelayOperation | null,
    nowMs: number,
  ) {
    const { maxAttempts } = rooms.retry
    const planned = plan(request.candidates, rooms.health, nowMs, rooms.random, { maxAttempts })
    this.rooms = rooms
    this.request = request
    this.operation = operation
    this.order = sealedFirst(planned.attempts, rooms, request)
    this.blocked = planned.blocked
    this.client = decodedRequestOf(request)
  }

  /** The next attempt made ready; null where none is left. A promise where something has to be fetched for it. */
  next(): Prepared | null | Promise<Prepared | null> {
    for (;;) {
      const candidate = this.order[this.at]
      if (candidate === undefined) return null
      this.at++
      try {
        const prepared = prepare(this.rooms, this.request, candidate, this.client, this.operation)
        return prepared instanceof Promise ? this.later(prepared) : this.ready(prepared)
      } catch (error) {
        this.pass(error)
      }
    }
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

  /** Whether another channel may take over after the fault, before the client has heard anything. */
  mayFollow(fault: Fault): boolean {
    const row = faultTable[fault.kind]
    const next = this.order[this.at]
    if (!row.failover || next === undefined) return false
    if (row.uncertain && !mayRepeat(this)) return false
    const { health } = this.rooms
    const nowMs = performance.now()
    // The budget shields a channel in trouble; one that does well may take over all of another's load.
    const shielded = health.state(next.channelId, nowMs) > 0
    if (shielded && !health.mayRetry(next.channelId)) return false
    return nowMs - this.request.startedMs < this.rooms.timeouts.totalMs
  }

  /** What the client is told when no attempt is left. */
  refusal(secrets: readonly string[]): GatewayError {
    if (this.faults.length === 0 && this.unsayable !== null) return this.unsayable
    return finalError(this.faults, (text) => scrub(text, secrets), this.blocked)
  }

  /** The attempt that was handed out last asked its vendor nothing. */
  unsaid(error: GatewayError): void {
    this.tried--
    this.pass(error)
  }

  /** Another channel may speak a format that can say it. */
  private pass(error: unknown): void {
    this.unsayable = refusalFor(error)
  }
}
