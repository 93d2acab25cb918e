// Readies one attempt: the bytes for the vendor, and the way there.

import type { TimeoutSettings } from '../config/types.ts'
import type { AdaptedHandler } from '../operations/adapters/adapted.ts'
import { formOf } from '../operations/adapters/form.ts'
import { openMedia } from '../operations/adapters/open.ts'
import { encodedList } from '../operations/embeddings/translate.ts'
import type { Candidate } from '../router/route.ts'
import type { Destination } from '../upstream/connection.ts'
import type { Segment } from '../vendors/media.ts'
import type { Exchange, LocalService } from '../vendors/transport.ts'
import { join } from '../wire/json/splice.ts'
import type { Peek } from '../wire/request.ts'
import type { AttemptPlan } from './attempt.ts'
import { openAuthorized } from './authorized.ts'
import type { Channel } from './channel.ts'
import { identityRequest } from './identity.ts'
import { onKept } from './repeatable.ts'
import type { RelayRequest, RelayRooms } from './request.ts'
import { bearsSeals } from './sealed.ts'
import { openedSeals, originOf } from './sealed-bytes.ts'
import { passedTo } from './state.ts'
import { type DecodedRequest, type Encoded, encoded, offersForeign } from './translate.ts'

export interface Prepared {
  readonly plan: AttemptPlan
  readonly segments: readonly Segment[]
  /** Of a form; null: JSON. */
  readonly contentType: string | null
  /** Where it goes: to an address, or into a service of this process. */
  readonly to: Destination | LocalService
}

/**
 * `asked` is the request in the hub's words. Throws, or rejects with, GatewayError where it cannot be put in the vendor's
 * format.
 */
export function prepare(
  rooms: RelayRooms,
  request: RelayRequest,
  candidate: Candidate,
  client: DecodedRequest,
): Prepared | Promise<Prepared> {
  const channel = rooms.channels.get(candidate.channelId)
  if (channel === undefined) throw new Error(`no channel ${candidate.channelId}`)
  const { vendor } = channel
  // Re-writing is for what is said in text; there is nothing to put sound or vectors into.
  const rewritten = vendor.quirks.rewrite === true && request.dialect.hub !== null
  const foreign = candidate.identity && offersForeign(request, candidate, channel, client)
  const identity = candidate.identity && !rewritten && !foreign
  const timeouts = timeoutsOf(rooms.timeouts, request, channel)
  const cut = request.peek.dropped ?? []
  const unsaid = { decoded: null, fitted: null, dropped: cut, list: null }
  const plan = { rooms, request, candidate, channel, identity, timeouts, ...unsaid }
  // What was sealed elsewhere must be opened or left out: such a request is put in the vendor's words anew.
  const alike = candidate.identity && request.rebuilt !== true && !foreign
  const peek = alike ? openedFor(request, channel) : null
  const contentType = null
  const to = vendor.local ?? destinationOf(plan)
  if (peek !== null && request.media?.isForm === true)
    return { plan, to, ...formOf(request.dialect, peek, request.media.uploads, candidate.model) }
  if (peek !== null) {
    const { segments, dropped } = identityRequest(peek, candidate, vendor)
    return { plan: { ...plan, dropped: [...cut, ...dropped] }, segments, contentType, to }
  }
  const listed = encodedList(rooms, request, candidate)
  if (listed !== null) {
    const { segments, dropped, list } = listed
    return { plan: { ...plan, dropped, list }, segments, contentType, to }
  }
  const planned = ({ segments, decoded, fitted, dropped }: Encoded): Prepared => ({
    plan: { ...plan, decoded, fitted, dropped: [...cut, ...dropped] },
    segments,
    contentType,
    to,
  })
  const made = encoded(rooms, request, candidate, channel, client)
  return made instanceof Promise ? made.then(planned) : planned(made)
}

/** Throws GatewayError where the model's name cannot stand in an address. */
function destinationOf({ request, candidate, channel }: AttemptPlan): Destination {
  const { dialect, model } = candidate
  const passed = passedTo(request, channel, candidate)
  return channel.destination({ dialect, model, stream: request.peek.stream }, passed)
}

/** The request as the client put it, this channel's seals opened; null where it bears another's. */
function openedFor({ dialect, peek }: RelayRequest, channel: Channel): Peek | null {
  if (dialect.hub === null || !bearsSeals(peek.body)) return peek
  const opened = openedSeals(peek.body, originOf(dialect, channel))
  return opened && { ...peek, vendorEdits: [...(peek.vendorEdits ?? []), ...opened] }
}

/** Sends the request; the handler hears of its reply. */
export function send(prepared: Prepared, handler: AdaptedHandler): Exchange {
  const { plan, segments, contentType, to } = prepared
  const { rooms, request, channel, candidate, timeouts } = plan
  const { dialect, model } = candidate
  const adapted = request.media === undefined ? null : openMedia(plan, request.media, handler)
  if (adapted !== null) return adapted
  if (!('open' in to)) {
    const call = { dialect, model, stream: request.peek.stream }
    const signed = channel.signed?.(call, joined(segments), Date.now())
    const destination = ofType(signed ?? to, contentType)
    const { connectMs, sendIdleMs } = timeouts
    const dialled = { destination, segments, connectMs, sendIdleMs, onKept: onKept(rooms, request) }
    const { tokens } = channel
    return tokens === undefined
      ? rooms.dialer.open(dialled, handler)
      : openAuthorized(rooms.dialer, dialled, handler, tokens)
  }
  return to.open(
    {
      dialect,
      model,
      body: joined(segments),
      ...(request.media !== undefined && { uploads: request.media.uploads }),
    },
    handler,
  )
}

function joined(segments: readonly Segment[]): Uint8Array {
  return join(segments.map((each) => (each instanceof Uint8Array ? each : each.read(0, each.size))))
}

/** The head says JSON unless told otherwise. */
function ofType(destination: Destination, contentType: string | null): Destination {
  if (contentType === null) return destination
  const head = destination.head.replace('application/json', contentType)
  return { ...destination, head }
}

/** The channel's own timers win over the model's, and those over the general ones. */
function timeoutsOf(
  settings: TimeoutSettings,
  request: RelayRequest,
  channel: Channel,
): TimeoutSettings {
  const { timeouts } = request.model
  const general = request.dialect.operation === 'image' ? forImages(settings) : settings
  if (isEmpty(channel.timeouts) && isEmpty(timeouts)) return general
  return { ...general, ...timeouts, ...channel.timeouts }
}

/** An image takes a minute or more, and nothing is heard of it meanwhile. */
function forImages(general: TimeoutSettings): TimeoutSettings {
  const { firstEventMs, idleMs, semanticIdleMs } = general
  return {
    ...general,
    firstEventMs: Math.max(firstEventMs, semanticIdleMs),
    idleMs: Math.max(idleMs, semanticIdleMs),
  }
}

function isEmpty(settings: object): boolean {
  for (const _name in settings) return false
  return true
}
