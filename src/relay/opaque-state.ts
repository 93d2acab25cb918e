// Opaque state of vendors, to and from the client: marked with its channel on the way out, opened for that channel alone.

import { Buffer } from 'node:buffer'
import { type Candidate, laneOf } from '../router/route.ts'
import { opaquePrefix, unwrapOpaque, wrapOpaque } from '../wire/hub/opaque-state.ts'
import type { ChatEvent, ChatRequest, Message, RequestPart } from '../wire/ir.ts'
import type { Channel } from './channel.ts'
import type { RelayRequest, RelayRooms } from './request.ts'
import { stateTag } from './state.ts'

/** The event as the client may be given it. */
export function markedEvent(event: ChatEvent, dialect: string, channel: Channel): ChatEvent {
  if (event.type !== 'part-end' || event.sealed === undefined) return event
  const { sealed, ...rest } = event
  const marked = wrapOpaque(sealed, { dialect, channel: channel.tag })
  return marked === null ? rest : { ...rest, sealed: marked }
}

/**
 * The request as this channel may be given it: its own opaque state is opened, that of others is left out, for a
 * vendor refuses what it cannot verify. What was never marked is taken for the vendor's where `own` says that the client
 * speaks its dialect.
 */
export function openedRequest(
  request: ChatRequest,
  dialect: string,
  channel: Channel,
  own: boolean,
): ChatRequest {
  if (!request.messages.some(({ parts }) => parts.some(isOpaque))) return request
  const opened = (part: RequestPart): RequestPart[] => {
    if (!isOpaque(part)) return [part]
    const { sealed, ...rest } = part
    const found = unwrapOpaque(sealed)
    const mine = found?.origin.dialect === dialect && found.origin.channel === channel.tag
    const value = found === null ? (own ? sealed : null) : mine ? found.value : null
    if (value !== null) return [{ ...part, sealed: value } as RequestPart]
    return part.type === 'reasoning' && part.redacted ? [] : [rest as RequestPart]
  }
  const messages = request.messages.map(
    (message): Message => ({ ...message, parts: message.parts.flatMap(opened) }),
  )
  return { ...request, messages }
}

/** The request without what a model thought, for vendors that refuse it; this one's opaque state stays. */
export function withoutThoughts(request: ChatRequest): ChatRequest {
  const isKept = (part: RequestPart): boolean => part.type !== 'reasoning' || isOpaque(part)
  if (request.messages.every(({ parts }) => parts.every(isKept))) return request
  const messages = request.messages.map((message) => ({
    ...message,
    parts: message.parts.filter(isKept),
  }))
  return { ...request, messages }
}

function isOpaque(part: RequestPart): part is RequestPart & { readonly sealed: string } {
  return 'sealed' in part && part.sealed !== undefined
}

/** The longest head of a marked text that names its channel. */
const headBytes = 128

/** The tag of the channel whose opaque state the client brings back, the latest of several; null for none. */
function originChannel(body: Uint8Array): string | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const at = bytes.lastIndexOf(opaquePrefix)
  if (at < 0) return null
  const [head = ''] = bytes
    .subarray(at, at + headBytes)
    .toString('latin1')
    .split('"', 1)
  // The head alone is read, cut where four characters stand for three whole bytes.
  return unwrapOpaque(head.slice(0, head.length - (head.length % 4)))?.origin.channel ?? null
}

/** The attempts, those at the channel that made, or keeps, the state that the client brings back first. */
export function originFirst(
  attempts: readonly Candidate[],
  { channels, health }: RelayRooms,
  request: RelayRequest,
  nowMs: number,
): readonly Candidate[] {
  const tag = stateTag(request) ?? originChannel(request.peek.body)
  if (tag === null) return attempts
  const isThere = ({ channelId }: Candidate) => channels.get(channelId)?.tag === tag
  const planned = attempts.filter(isThere)
  // Where more serve the model than are tried, the plan may have left it out.
  const first =
    planned.length > 0
      ? planned
      : request.candidates.filter(
          (each) => isThere(each) && health.usable(laneOf(each), each.model, nowMs),
        )
  return [...first, ...attempts.filter((each) => !isThere(each))]
}
