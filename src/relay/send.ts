// Readies one attempt: the bytes for the vendor, and the way there.

import type { TimeoutSettings } from '../config/types.ts'
import { type Candidate, laneOf } from '../router/route.ts'
import type { Destination } from '../upstream/connect.ts'
import type { DialCall } from '../upstream/connection.ts'
import type { Segment } from '../vendors/media.ts'
import type { Exchange, LocalService } from '../vendors/transport.ts'
import { join } from '../wire/json/splice.ts'
import type { Peek } from '../wire/request.ts'
import type { Channel } from './channel.ts'
import { identityRequest } from './identity.ts'
import { hasOpaque, openedOpaque, originOf } from './opaque-bytes.ts'
import type { AttemptHandler, AttemptPlan, RelayOperation } from './operation.ts'
import type { RelayRequest, RelayRooms } from './request.ts'
import { passedTo } from './state.ts'
import { openAuthorized } from './tokens.ts'
import { type DecodedRequest, type Encoded, encoded, offersForeign } from './translate.ts'

const nothing: readonly string[] = []

interface RequestDecoder {
  decoded(): DecodedRequest
}

export interface Prepared {
  readonly plan: AttemptPlan
  readonly segments: readonly Segment[]
  /** Of a form; null: JSON. */
  readonly contentType: string | null
  /** Where it goes: to an address, or into a service of this process. */
  readonly to: Destination | LocalService
}

/**
 * `client` decodes the request where it has to be put in other words. Throws, or rejects with, GatewayError where it cannot be put in the vendor's
 * format.
 */
export function prepare(
  rooms: RelayRooms,
  request: RelayRequest,
  candidate: Candidate,
  client: RequestDecoder,
  operation: RelayOperation | null = null,
): Prepared | Promise<Prepared> {
  const channel = rooms.channels.get(laneOf(candidate))
  if (channel === undefined) throw new Error(`no channel ${candidate.channelId}`)
  const { vendor } = channel
  // Re-writing is for what is said in text; there is nothing to put sound or vectors into.
  const rewritten = vendor.quirks.rewrite === true && request.dialect.client.hub !== undefined
  const foreign =
    candidate.identity &&
    mayOfferForeign(request, channel) &&
    offersForeign(request, candidate, channel, client.decoded())
  const identity = candidate.identity && !rewritten && !foreign
  const general = operation?.timeouts?.(rooms.timeouts) ?? rooms.timeouts
  const timeouts = timeoutsOf(general, request, channel)
  const plan: AttemptPlan = {
    rooms,
    request,
    operation,
    candidate,
    channel,
    identity,
    timeouts,
    decoded: null,
    fitted: null,
    dropped: request.peek.dropped ?? nothing,
    path: null,
  }
  // Opaque state of others must be left out: such a request is encoded anew in the vendor's format.
  const alike = candidate.identity && request.rebuilt !== true && !foreign
  const peek = alike ? openedFor(request, channel) : null
  const to = vendor.local ?? destinationOf(plan)
  const own = operation?.encode?.(plan, peek) ?? null
  if (own !== null) {
    const { segments, contentType, path = null } = own
    return { plan: { ...without(plan, own.dropped), path }, segments, contentType, to }
  }
  if (peek === null) return translated(plan, client, to)
  const { segments, dropped } = identityRequest(peek, candidate, vendor)
  const changed = changedBy(channel, segments)
  return { plan: without(plan, dropped), segments: changed, contentType: null, to }
}

/** The request in the vendor's own format. */
function translated(
  plan: AttemptPlan,
  client: RequestDecoder,
  to: Prepared['to'],
): Prepared | Promise<Prepared> {
  const { rooms, request, candidate, channel } = plan
  const planned = ({ segments, decoded, fitted, dropped }: Encoded): Prepared => ({
    plan: { ...without(plan, dropped), decoded, fitted },
    segments: changedBy(channel, segments),
    contentType: null,
    to,
  })
  const made = encoded(rooms, request, candidate, channel, client.decoded())
  return made instanceof Promise ? made.then(planned) : planned(made)
}

/** The vendor is not told of these members either. */
function without(plan: AttemptPlan, names: readonly string[]): AttemptPlan {
  return names.length === 0 ? plan : { ...plan, dropped: [...plan.dropped, ...names] }
}

/** The channel has the last word on what its vendor is told. */
function changedBy({ changes }: Channel, segments: readonly Uint8Array[]): readonly Uint8Array[] {
  return changes === undefined ? segments : changes(join(segments))
}

/** Throws GatewayError where the model's name cannot stand in an address. */
function destinationOf({ request, candidate, channel }: AttemptPlan): Destination {
  const { dialect, model } = candidate
  const { address, caller } = request
  const isPlain = address?.headers === undefined && caller.traceparent === null
  const passed = isPlain ? undefined : passedTo(request, channel, candidate)
  return channel.destination({ dialect, model, stream: request.peek.stream }, passed)
}

/** Some vendors of the client's own format lack tools of it. */
function mayOfferForeign({ dialect }: RelayRequest, { vendor }: Channel): boolean {
  return dialect.vendor?.toolMarks !== undefined && vendor.quirks.everyTool !== true
}

/** The request as the client put it, this channel's opaque state opened; null where it holds another's. */
function openedFor({ dialect, peek }: RelayRequest, channel: Channel): Peek | null {
  if (dialect.client.hub === undefined || !hasOpaque(peek.body)) return peek
  const opened = openedOpaque(peek.body, originOf(dialect, channel))
  return opened && { ...peek, vendorEdits: [...(peek.vendorEdits ?? []), ...opened] }
}

/** Sends the request; the handler hears of its reply. */
export function send(prepared: Prepared, handler: AttemptHandler): Exchange {
  const { plan, segments, contentType, to } = prepared
  const { rooms, request, channel, candidate, timeouts } = plan
  const { dialect, model } = candidate
  const own = plan.operation?.send?.(plan, handler) ?? null
  if (own !== null) return own
  if (!('open' in to)) {
    const call = { dialect, model, stream: request.peek.stream }
    const signed = channel.signed?.(call, joined(segments), Date.now())
    const destination = ofType(signed ?? to, contentType)
    const { connectMs, sendIdleMs } = timeouts
    const dialled = { destination, segments, connectMs, sendIdleMs, onKept: onKept(plan) }
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
  general: TimeoutSettings,
  request: RelayRequest,
  channel: Channel,
): TimeoutSettings {
  const { timeouts } = request.model
  if (isEmpty(channel.timeouts) && isEmpty(timeouts)) return general
  return { ...general, ...timeouts, ...channel.timeouts }
}

/** Whether a request may be sent again of which nobody knows what came of it. */
export function mayRepeat({ rooms, operation }: Pick<AttemptPlan, 'rooms' | 'operation'>): boolean {
  return rooms.retry.retryUncertain && operation?.isCostly !== true
}

/** How such a request deals with a connection that is kept open. */
function onKept(plan: AttemptPlan): DialCall['onKept'] {
  if (plan.operation?.isCostly === true) return 'avoid'
  return mayRepeat(plan) ? 'resend' : 'fail'
}

function isEmpty(settings: object): boolean {
  for (const _name in settings) return false
  return true
}
