// Opaque state of vendors: marked with its channel on the way to the client, and opened for that channel alone.

import { Buffer } from 'node:buffer'
import { type Candidate, laneOf } from '../router/route.ts'
import { opaquePrefix, unwrapOpaque, wrapOpaque } from '../wire/hub/opaque-state.ts'
import type { ChatEvent, ChatRequest, Message, RequestPart } from '../wire/ir.ts'
import type { Channel } from './channel.ts'
import type { RelayRequest, RelayRooms } from './request.ts'
import { stateTag } from './state.ts'

/** The event with its opaque state marked, as it goes to the client. */
export function markedEvent(event: ChatEvent, dialect: string, channel: Channel): ChatEvent {
  if (event.type !== 'part-end' || event.sealed === undefined) return event
  const { sealed, ...rest } = event
  const marked = wrapOpaque(sealed, { dialect, channel: channel.tag })
  return marked === null ? rest : { ...rest, sealed: marked }
}

/**
 * The request for this channel: its own opaque state is opened; that of others is left out, since a vendor refuses what
 * it cannot verify. `own` says that the client speaks the vendor's dialect: unmarked state is then kept.
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

/** The request without reasoning, for vendors that refuse it; parts with this vendor's opaque state stay. */
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

/** The beginning of a marked text that is long enough to name its channel. */
const headBytes = 128

/** The tag of the channel in the last opaque state of the request; null: there is none. */
function originChannel(body: Uint8Array): string | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const at = bytes.lastIndexOf(opaquePrefix)
  if (at < 0) return null
  const [head = ''] = bytes
    .subarray(at, at + headBytes)
    .toString('latin1')
    .split('"', 1)
  // Only the beginning is decoded: it is cut at a multiple of four characters, which are three whole base64 bytes.
  return unwrapOpaque(head.slice(0, head.length - (head.length % 4)))?.origin.channel ?? null
}

/** The attempts, with those at the channel whose state the client sends back first. */
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
  // Where more channels serve the model than are tried, the plan may have left that one out.
  const first =
    planned.length > 0
      ? planned
      : request.candidates.filter(
          (each) => isThere(each) && health.usable(laneOf(each), each.model, nowMs),
        )
  return [...first, ...attempts.filter((each) => !isThere(each))]
}
