// Readies one attempt: the bytes for the vendor, and the way there.

import type { TimeoutSettings } from '../config/types.ts'
import type { Candidate } from '../router/route.ts'
import type { Exchange, ReplyHandler } from '../vendors/transport.ts'
import type { Peek } from '../wire/dialect.ts'
import { join } from '../wire/json/splice.ts'
import type { Ask, RelayRooms } from './ask.ts'
import type { AttemptPlan } from './attempt.ts'
import { openAuthorized } from './authorized.ts'
import type { Channel } from './channel.ts'
import { identitySegments } from './identity.ts'
import { bearsSeals } from './sealed.ts'
import { openedSeals, originOf } from './sealed-bytes.ts'
import { headersFor } from './state.ts'
import { type Asked, type Encoded, encoded } from './translate.ts'
import { encodedList } from './translate-list.ts'

export interface Prepared {
  readonly plan: AttemptPlan
  readonly segments: readonly Uint8Array[]
}

/**
 * `asked` is the request in the hub's words. Throws, or rejects with, GatewayError where it cannot be put in the vendor's
 * format.
 */
export function prepare(
  rooms: RelayRooms,
  ask: Ask,
  candidate: Candidate,
  asked: Asked,
): Prepared | Promise<Prepared> {
  const channel = rooms.channels.get(candidate.channelId)
  if (channel === undefined) throw new Error(`no channel ${candidate.channelId}`)
  const { vendor } = channel
  const identity = candidate.identity && vendor.quirks.rewrite !== true
  const timeouts = timeoutsOf(rooms.timeouts, ask, channel)
  const unsaid = { request: null, dropped: [], list: null }
  const plan = { rooms, ask, candidate, channel, identity, timeouts, ...unsaid }
  // What was sealed elsewhere must be opened or left out: such a request is put in the vendor's words anew.
  const alike = candidate.identity && ask.rebuilt !== true
  const peek = alike ? openedFor(ask, channel) : null
  if (peek !== null) return { plan, segments: identitySegments(peek, candidate, vendor) }
  const listed = encodedList(rooms, ask, candidate)
  if (listed !== null) {
    const { segments, dropped, list } = listed
    return { plan: { ...plan, dropped, list }, segments }
  }
  const planned = ({ segments, request, dropped }: Encoded): Prepared => ({
    plan: { ...plan, request, dropped },
    segments,
  })
  const made = encoded(rooms, ask, candidate, channel, asked)
  return made instanceof Promise ? made.then(planned) : planned(made)
}

/** The request as the client put it, this channel's seals opened; null where it bears another's. */
function openedFor({ dialect, peek }: Ask, channel: Channel): Peek | null {
  if (dialect.hub === null || !bearsSeals(peek.body)) return peek
  const opened = openedSeals(peek.body, originOf(dialect, channel))
  return opened && { ...peek, vendorEdits: [...(peek.vendorEdits ?? []), ...opened] }
}

/** Sends the request; the handler hears of its reply. */
export function send({ plan, segments }: Prepared, handler: ReplyHandler): Exchange {
  const { rooms, ask, channel, candidate, timeouts } = plan
  const { dialect, model } = candidate
  const { local } = channel.vendor
  if (local === undefined) {
    const call = { dialect, model, stream: ask.peek.stream }
    // The client's own headers are of use to a vendor of its format alone.
    const passed = candidate.identity ? headersFor(ask, channel) : undefined
    const signed = channel.signed?.(call, join(segments), Date.now())
    const destination = signed ?? channel.destination(call, passed)
    const { connectMs, sendIdleMs } = timeouts
    const dialled = { destination, segments, connectMs, sendIdleMs }
    const { tokens } = channel
    return tokens === undefined
      ? rooms.dialer.open(dialled, handler)
      : openAuthorized(rooms.dialer, dialled, handler, tokens)
  }
  return local.open({ dialect, model, body: join(segments) }, handler)
}

/** The channel's own timers win over the model's, and those over the general ones. */
function timeoutsOf(general: TimeoutSettings, ask: Ask, channel: Channel): TimeoutSettings {
  const { timeouts } = ask.model
  if (isEmpty(channel.timeouts) && isEmpty(timeouts)) return general
  return { ...general, ...timeouts, ...channel.timeouts }
}

function isEmpty(settings: object): boolean {
  for (const _name in settings) return false
  return true
}
