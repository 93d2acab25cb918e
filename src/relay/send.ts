// Prepares one attempt (the bytes for the vendor and where they go) and sends it.

import { Buffer } from 'node:buffer'
import type { TimeoutSettings } from '../config/types.ts'
import { type Candidate, laneOf } from '../router/route.ts'
import type { Destination } from '../upstream/connect.ts'
import type { DialCall } from '../upstream/connection.ts'
import type { Segment } from '../vendors/media.ts'
import type { Exchange, LocalService } from '../vendors/transport.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { join } from '../wire/json/splice.ts'
import type { Peek, Span } from '../wire/request.ts'
import type { Channel } from './channel.ts'
import { clientName } from './client-names.ts'
import { identityRequest } from './identity.ts'
import { hasOpaque, openedOpaque, originOf } from './opaque-bytes.ts'
import type { AttemptHandler, AttemptPlan, RelayOperation } from './operation.ts'
import { memberOf } from './parameters.ts'
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
  /** The content type of a form; null: JSON. */
  readonly contentType: string | null
  /** Where it goes: to an address, or to a service in this process. */
  readonly to: Destination | LocalService
}

/**
 * Prepares an attempt. `client` decodes the request where it has to be translated. Throws, or rejects with,
 * GatewayError where it cannot be expressed in the vendor's format.
 */
export function prepare(
  rooms: RelayRooms,
  request: RelayRequest,
  planned: Candidate,
  client: RequestDecoder,
  operation: RelayOperation | null = null,
): Prepared | Promise<Prepared> {
  const channel = rooms.channels.get(laneOf(planned))
  if (channel === undefined) throw new Error(`no channel ${planned.channelId}`)
  const { vendor } = channel
  const candidate = planned.instead === undefined ? planned : chosen(planned, request, vendor)
  // Only text is rewritten: the hub has no form for audio or vectors.
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
  const alike = candidate.identity && request.rebuilt !== true && !foreign
  const peek = alike ? ownPeek(request, candidate, channel) : null
  const to = vendor.local ?? destinationOf(plan)
  const own = operation?.encode?.(plan, peek) ?? null
  if (own !== null) {
    const { segments, contentType, path = null } = own
    return { plan: { ...without(plan, own.dropped), path }, segments, contentType, to }
  }
  if (peek === null) return translated(plan, client, to)
  const { segments, dropped } = identityRequest(peek, candidate, channel)
  const changed = changedBy(channel, segments)
  const named = dropped.map((name) => clientName(request, name))
  return { plan: without(plan, named), segments: changed, contentType: null, to }
}

/** The candidate in the dialect in which the vendor takes this request. */
function chosen(candidate: Candidate, { peek }: RelayRequest, { quirks }: Vendor): Candidate {
  const { dialect, model, instead, identity } = candidate
  if (instead === undefined || !identity) return candidate
  const call = { dialect, model, asked: peek.model }
  const isMoved = quirks.asksInFirst?.(call, peek.keys, memberOf(peek)) === true
  return isMoved ? { ...candidate, dialect: instead, identity: false } : candidate
}

/** Translates the request into the vendor's format. */
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

/** The plan with these fields added to the dropped ones. */
function without(plan: AttemptPlan, names: readonly string[]): AttemptPlan {
  return names.length === 0 ? plan : { ...plan, dropped: [...plan.dropped, ...names] }
}

/** Applies the channel's own changes last, to the final body. */
function changedBy({ changes }: Channel, segments: readonly Uint8Array[]): readonly Uint8Array[] {
  return changes === undefined ? segments : changes(join(segments))
}

/** Throws GatewayError where the model's name cannot stand in a URL. */
function destinationOf({ request, candidate, channel }: AttemptPlan): Destination {
  const { dialect, model } = candidate
  const { address, caller } = request
  const isPlain = address?.headers === undefined && caller.traceparent === null
  const passed = isPlain ? undefined : passedTo(request, channel, candidate)
  return channel.destination({ dialect, model, stream: request.peek.stream }, passed)
}

/** Some vendors that speak the client's format do not support all of its tools. */
function mayOfferForeign({ dialect }: RelayRequest, { vendor }: Channel): boolean {
  return dialect.vendor?.toolMarks !== undefined && vendor.quirks.everyTool !== true
}

/**
 * The client's request as this channel takes it; null where it has opaque state of other channels, or what others left
 * unsigned: that must be left out.
 */
export function ownPeek(
  request: Pick<RelayRequest, 'dialect' | 'peek'>,
  candidate: Candidate,
  channel: Channel,
): Peek | null {
  return hasRefused(request.peek, candidate, channel) ? null : openedFor(request, channel)
}

function hasRefused({ body }: Peek, { model }: Candidate, { vendor }: Channel): boolean {
  const names = vendor.quirks.refusesEmpty?.(model) ?? nothing
  if (names.length === 0) return false
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  // Few requests have any empty text, and a search from the end is the quicker one.
  if (bytes.lastIndexOf('""') < 0) return false
  return names.some((name) => bytes.includes(`"${name}":""`) || bytes.includes(`"${name}": ""`))
}

/** The client's request with this channel's opaque state opened; null where it holds another channel's. */
function openedFor(
  { dialect, peek }: Pick<RelayRequest, 'dialect' | 'peek'>,
  channel: Channel,
): Peek | null {
  if (dialect.client.hub === undefined || !hasOpaque(peek.body)) return peek
  const opened = openedOpaque(peek.body, originOf(dialect, channel))
  if (opened === null) return null
  const { vendorEdits = [] } = peek
  // Only a forged mark stands in what is rewritten anyway.
  const isWithin = ({ start }: Span) =>
    vendorEdits.some((edit) => start >= edit.start && start < edit.end)
  return opened.some(isWithin) ? null : { ...peek, vendorEdits: [...vendorEdits, ...opened] }
}

/** Sends the request; the handler receives the reply. */
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

/** Sets the content type; the prepared head says JSON. */
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

/** Whether a request whose outcome is unknown may be sent again. */
export function mayRepeat({ rooms, operation }: Pick<AttemptPlan, 'rooms' | 'operation'>): boolean {
  return rooms.retry.retryUncertain && operation?.isCostly !== true
}

/** How the request uses a kept-alive connection, which the vendor may have closed meanwhile. */
function onKept(plan: AttemptPlan): DialCall['onKept'] {
  if (plan.operation?.isCostly === true) return 'avoid'
  return mayRepeat(plan) ? 'resend' : 'fail'
}

function isEmpty(settings: object): boolean {
  for (const _name in settings) return false
  return true
}
