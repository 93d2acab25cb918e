// Reads vendor events of a realtime session: which responses start, what they deliver, what they used.

import type { Fault } from '../../errors.ts'
import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { JsonSyntaxError, type Member, members, parseSpan, skipSpace } from '../json/scan.ts'
import { isObject, objectOf } from '../json/value.ts'
import { faultInside } from '../openai/fault.ts'
import { stringOf } from '../openai/rules.ts'
import { type SessionFacts, sessionFacts } from './session-facts.ts'
import {
  type CachedMedia,
  readCachedMedia,
  readRealtimeUsage,
  readTranscriptUsage,
  type TranscriptUsage,
} from './usage.ts'

export type VendorEvent =
  | { readonly kind: 'other' }
  /** About the operator's account alone; not passed to the client. */
  | { readonly kind: 'withheld' }
  | { readonly kind: 'session'; readonly facts: SessionFacts }
  | { readonly kind: 'begun'; readonly responseId: string }
  | {
      readonly kind: 'output'
      readonly responseId: string
      readonly medium: 'text' | 'audio'
      /** Bytes of text, or of audio after decoding. */
      readonly bytes: number
    }
  | {
      readonly kind: 'ended'
      readonly responseId: string
      readonly status: string
      readonly usage: Usage | null
      readonly cached: CachedMedia
      readonly fault: Fault | null
      /** The parsed event, to which the cost can be added. */
      readonly body: JsonObject
    }
  /** Speech in the audio received so far begins or ends, at this time of the session's audio. */
  | {
      readonly kind: 'speech'
      readonly item: string
      readonly begins: boolean
      readonly atMs: number
    }
  /** The audio received so far became an item of the conversation. */
  | { readonly kind: 'committed'; readonly item: string }
  | {
      readonly kind: 'transcribed'
      readonly item: string
      /** The item and the part of it that was transcribed; empty if the vendor names no item. */
      readonly part: string
      readonly used: TranscriptUsage | null
      readonly text: string
    }
  /** Of the vendor, in whose words its key may stand. */
  | { readonly kind: 'error' }

const other: VendorEvent = { kind: 'other' }
const error: VendorEvent = { kind: 'error' }

/** Never throws: an unreadable event is passed on like any other. */
export function readVendorEvent(bytes: Uint8Array): VendorEvent {
  try {
    const start = skipSpace(bytes, 0)
    if (bytes[start] !== 0x7b) return other
    const found = members(bytes, start)
    const type = textIn(bytes, found, 'type')
    return type === null ? other : readByType(bytes, found, type)
  } catch (error) {
    if (error instanceof JsonSyntaxError) return other
    throw error
  }
}

function memberIn(found: readonly Member[], key: string): Member | undefined {
  return found.findLast((member) => member.key === key)
}

function textIn(bytes: Uint8Array, found: readonly Member[], key: string): string | null {
  const member = memberIn(found, key)
  return member?.kind === 'string' ? stringOf(bytes, member.start, member.end) : null
}

/** Delta events by their names in the current API and in its beta. */
const outputs: ReadonlyMap<string, 'text' | 'audio'> = new Map(
  Object.entries({
    'response.output_audio.delta': 'audio',
    'response.audio.delta': 'audio',
    'response.output_text.delta': 'text',
    'response.text.delta': 'text',
    'response.output_audio_transcript.delta': 'text',
    'response.audio_transcript.delta': 'text',
    'response.function_call_arguments.delta': 'text',
  }),
)

function readByType(bytes: Uint8Array, found: readonly Member[], type: string): VendorEvent {
  const medium = outputs.get(type)
  if (medium !== undefined) {
    const delta = memberIn(found, 'delta')
    const length = delta?.kind === 'string' ? delta.end - delta.start - 2 : 0
    return {
      kind: 'output',
      responseId: textIn(bytes, found, 'response_id') ?? '',
      medium,
      bytes: medium === 'audio' ? Math.floor((length * 3) / 4) : length,
    }
  }
  switch (type) {
    case 'response.created':
      return { kind: 'begun', responseId: responseIdOf(objectAt(bytes, found, 'response')) }
    case 'response.done':
      return endedOf(parseSpan(bytes, 0, bytes.length) as JsonObject)
    case 'session.created':
    case 'session.updated':
    case 'transcription_session.updated':
      return { kind: 'session', facts: sessionFacts(objectAt(bytes, found, 'session')) }
    case 'input_audio_buffer.committed':
      return { kind: 'committed', item: textIn(bytes, found, 'item_id') ?? '' }
    case 'input_audio_buffer.speech_started':
    case 'input_audio_buffer.speech_stopped':
      return speechOf(parseSpan(bytes, 0, bytes.length) as JsonObject)
    case 'conversation.item.input_audio_transcription.completed':
      return transcribedOf(parseSpan(bytes, 0, bytes.length) as JsonObject)
    case 'rate_limits.updated':
      return { kind: 'withheld' }
    case 'error':
      return error
    default:
      // `conversation.item.input_audio_transcription.failed`, `mcp_list_tools.failed` and others have one too.
      return type.endsWith('.failed') || memberIn(found, 'error')?.kind === 'object' ? error : other
  }
}

function objectAt(bytes: Uint8Array, found: readonly Member[], key: string): JsonObject {
  const member = memberIn(found, key)
  if (member?.kind !== 'object') return {}
  return parseSpan(bytes, member.start, member.end) as JsonObject
}

function responseIdOf({ id }: JsonObject): string {
  return typeof id === 'string' ? id : ''
}

function endedOf(body: JsonObject): VendorEvent {
  const response: JsonObject = objectOf(body.response)
  const status = typeof response.status === 'string' ? response.status : 'completed'
  return {
    kind: 'ended',
    responseId: responseIdOf(response),
    status,
    usage: readRealtimeUsage(response.usage),
    cached: readCachedMedia(response.usage),
    fault: status === 'failed' ? faultInside(errorOf(response.status_details)) : null,
    body,
  }
}

function speechOf(event: JsonObject): VendorEvent {
  const { item_id: item, audio_start_ms: startMs, audio_end_ms: endMs } = event
  const begins = event.type === 'input_audio_buffer.speech_started'
  const atMs = begins ? startMs : endMs
  if (typeof item !== 'string' || typeof atMs !== 'number') return other
  return { kind: 'speech', item, begins, atMs }
}

function transcribedOf(event: JsonObject): VendorEvent {
  const { item_id: id, content_index: index, usage, transcript } = event
  const item = typeof id === 'string' ? id : ''
  const part = item === '' ? '' : `${item} ${Number(index ?? 0)}`
  const text = typeof transcript === 'string' ? transcript : ''
  return { kind: 'transcribed', item, part, used: readTranscriptUsage(usage), text }
}

function errorOf(details: JsonValue | undefined): JsonValue {
  const error = isObject(details) ? details.error : undefined
  return error ?? { message: 'the response failed' }
}

/** Null for text that is not strict JSON, though the byte scan accepted it. */
function parsed(text: string): JsonObject | null {
  try {
    return JSON.parse(text) as JsonObject
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** The event without a client secret of the operator's account, which some servers put into session events. */
export function withoutSecret(text: string): string {
  if (!text.includes('"client_secret"')) return text
  const event = parsed(text)
  const session = event?.session
  if (!isObject(session)) return text
  return JSON.stringify({ ...event, session: { ...session, client_secret: null } })
}

/** A `response.done` with its cost in the usage. */
export function withResponseCost(body: JsonObject, cost: string): string {
  const { response } = body
  if (!isObject(response) || !isObject(response.usage)) return JSON.stringify(body)
  return JSON.stringify({
    ...body,
    response: { ...response, usage: { ...response.usage, cost } },
  })
}
