// Readies one attempt: the bytes for the vendor, the way there, and the way its reply is read.

import type { TimeoutSettings } from '../config/types.ts'
import type { Candidate } from '../router/route.ts'
import type { Exchange, ReplyHandler } from '../vendors/transport.ts'
import type { Ask, RelayRooms } from './ask.ts'
import type { AttemptPlan, ChoosePath } from './attempt.ts'
import type { Channel } from './channel.ts'
import { IdentityStream, IdentityWhole, identitySegments } from './identity.ts'
import { joined } from './outlet.ts'
import { ErrorReply } from './path.ts'
import { translatedPath, translatedSegments } from './translate.ts'

export interface Prepared {
  readonly plan: AttemptPlan
  open(handler: ReplyHandler): Exchange
}

/** Throws GatewayError where the request cannot be put in the vendor's format. */
export function prepare(rooms: RelayRooms, ask: Ask, candidate: Candidate): Prepared {
  const channel = rooms.channels.get(candidate.channelId)
  if (channel === undefined) throw new Error(`no channel ${candidate.channelId}`)
  const timeouts = timeoutsOf(rooms.timeouts, ask, channel)
  const identity = candidate.identity && channel.vendor.quirks.rewrite !== true
  const segments = identity
    ? identitySegments(ask.peek, candidate, channel.vendor)
    : translatedSegments(rooms, ask, candidate, channel.vendor)
  const plan: AttemptPlan = {
    candidate,
    channel,
    stream: ask.peek.stream,
    timeouts,
    choosePath: choosePath(rooms, ask, candidate, channel, identity),
  }
  return { plan, open: (handler) => send(rooms, channel, candidate, segments, timeouts, handler) }
}

function send(
  rooms: RelayRooms,
  channel: Channel,
  candidate: Candidate,
  segments: readonly Uint8Array[],
  timeouts: TimeoutSettings,
  handler: ReplyHandler,
): Exchange {
  const { dialect, model } = candidate
  const { local } = channel.vendor
  if (local !== undefined) {
    const body = joined(
      segments,
      segments.reduce((sum, segment) => sum + segment.length, 0),
    )
    return local.open({ dialect, model, body }, handler)
  }
  return rooms.dialer.open(
    {
      destination: channel.destination(dialect, model),
      segments,
      connectMs: timeouts.connectMs,
      sendIdleMs: timeouts.sendIdleMs,
    },
    handler,
  )
}

/** The channel's own timers win over the model's, and those over the general ones. */
function timeoutsOf(general: TimeoutSettings, ask: Ask, channel: Channel): TimeoutSettings {
  return { ...general, ...ask.model.timeouts, ...channel.timeouts }
}

function choosePath(
  rooms: RelayRooms,
  ask: Ask,
  candidate: Candidate,
  channel: Channel,
  identity: boolean,
): ChoosePath {
  return (status, header, listener) => {
    const { vendor } = channel
    const dialect = rooms.dialects[candidate.dialect]
    if (status < 200 || status >= 300)
      return new ErrorReply(status, header, { dialect, vendor }, listener)
    const streamed = header('content-type')?.includes('text/event-stream') === true
    if (!identity || streamed !== ask.peek.stream) {
      return translatedPath({ rooms, ask, candidate, vendor, streamed }, listener)
    }
    return streamed
      ? new IdentityStream(ask.dialect, ask.peek, vendor, listener)
      : new IdentityWhole(ask.dialect, ask.peek, vendor, listener)
  }
}
