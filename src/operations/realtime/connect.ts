// Opens a realtime session's socket to a vendor, trying one channel after another, before the client gets its own.

import { failedAttempt } from '../../billing/charging-policy.ts'
import type { Fault, GatewayError } from '../../errors.ts'
import { type Channel, failsOver } from '../../relay/channel.ts'
import { finalError, withoutSecrets } from '../../relay/final-error.ts'
import type { RelayRequest, RelayRooms } from '../../relay/request.ts'
import { passedTo } from '../../relay/state.ts'
import { plan } from '../../router/plan.ts'
import { type Candidate, laneOf } from '../../router/route.ts'
import type { FailedAttempt } from '../../store/usage-row.ts'
import { openSocket } from '../../upstream/socket.ts'
import type { HandshakeHandler, OpenLocal, VendorSocket } from '../../vendors/transport.ts'

export interface Connected {
  readonly socket: VendorSocket
  readonly channel: Channel
  readonly candidate: Candidate
}

/** The outcome of connecting. */
interface Connecting {
  readonly connected: Connected | null
  readonly attempts: number
  readonly failedAttempts: readonly FailedAttempt[]
  /** The last candidate tried, or the one that accepted. */
  readonly candidate: Candidate | null
  readonly fault: Fault | null
  /** The error for the client where none accepted. */
  readonly error: GatewayError | null
}

const nothingSeen = { usage: null, outputBytes: null, finishReason: null, model: null }

/** Never rejects. `signal`: the client has left. */
export async function connectVendor(
  rooms: RelayRooms,
  request: RelayRequest,
  signal: AbortSignal,
  maxMessageBytes: number,
): Promise<Connecting> {
  const { maxAttempts } = rooms.retry
  const own = request.candidates.filter(({ identity }) => identity)
  const { attempts: order, blocked } = plan(own, rooms.health, performance.now(), Math.random, {
    maxAttempts,
  })
  const failedAttempts: FailedAttempt[] = []
  const faults: Fault[] = []
  let last: Candidate | null = null
  for (const [at, candidate] of order.entries()) {
    const channel = rooms.channels.get(laneOf(candidate))
    if (channel === undefined) continue
    const { local } = channel.vendor
    if (local !== undefined && local.sockets === undefined) continue
    last = candidate
    const openLocal = await local?.sockets?.()
    const trying = { channel, candidate, openLocal, signal, maxMessageBytes, at }
    const made = await attempt(rooms, request, trying)
    if ('socket' in made) return { ...made.rest, attempts: at + 1, failedAttempts, connected: made }
    const again = !signal.aborted && failsOver(channel, made) && at + 1 < order.length
    const shown = withoutSecrets(made, channel.secrets)
    rooms.observer.attemptFailed(request, { candidate, channel }, shown, again)
    faults.push(shown)
    failedAttempts.push(
      failedAttempt(request, candidate, { accepted: false, summary: nothingSeen }, made),
    )
    if (!again) break
  }
  const error = finalError(faults, blocked)
  const fault = faults.at(-1) ?? null
  const attempts = failedAttempts.length
  return { connected: null, attempts, failedAttempts, candidate: last, fault, error }
}

interface Attempted extends Connected {
  readonly rest: { readonly candidate: Candidate; readonly fault: null; readonly error: null }
}

interface Trying {
  readonly channel: Channel
  readonly candidate: Candidate
  /** Opens a socket to a vendor inside this process. */
  readonly openLocal: OpenLocal | undefined
  readonly signal: AbortSignal
  readonly maxMessageBytes: number
  /** Its index in the order of attempts. */
  readonly at: number
}

function attempt(
  rooms: RelayRooms,
  request: RelayRequest,
  { channel, candidate, openLocal, signal, maxMessageBytes, at }: Trying,
): Promise<Attempted | Fault> {
  const { timeouts: own } = request.model
  const { model, dialect } = candidate
  const lane = laneOf(candidate)
  const { connectMs, firstEventMs } = { ...rooms.timeouts, ...own, ...channel.timeouts }
  const { promise, resolve } = Promise.withResolvers<Attempted | Fault>()
  rooms.health.begin(lane, model, performance.now(), at > 0)
  const report = (fault: Fault | null): void => {
    signal.removeEventListener('abort', gone)
    const nowMs = performance.now()
    const outcome = fault === null ? ({ kind: 'ok' } as const) : ({ kind: 'fault', fault } as const)
    rooms.health.report(lane, model, signal.aborted ? none : outcome, nowMs, at > 0)
  }
  const failed = (fault: Fault): void => {
    report(fault)
    resolve(fault)
  }
  const call = { dialect, model, stream: true } as const
  const handler: HandshakeHandler = {
    open(opened) {
      report(null)
      const rest = { candidate, fault: null, error: null }
      resolve({ socket: opened, channel, candidate, rest })
    },
    refused(status, header, body) {
      const fault = rooms.dialects[dialect].vendor.fault(status, header, body)
      failed(channel.vendor.quirks.refine?.(fault, status, body) ?? fault)
    },
    fault: failed,
  }
  const socket =
    openLocal?.({ model, answerMs: firstEventMs }, handler) ??
    openSocket(
      {
        destination: channel.socket(call, passedTo(request, channel, candidate)),
        connectMs,
        answerMs: firstEventMs,
        maxMessageBytes,
      },
      handler,
    )
  const gone = (): void => {
    socket.abort()
    failed({ kind: 'reset', message: 'the client left' })
  }
  signal.addEventListener('abort', gone, { once: true })
  // The client may have left while money was held.
  if (signal.aborted) gone()
  return promise
}

const none = { kind: 'none' } as const
