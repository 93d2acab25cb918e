// Folds a reply that was streamed into the whole reply that it would have been without streaming.

import { UnfitReply } from '../wire/codec.ts'
import type { ClientDialectId } from '../wire/formats.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import { ResponseSoFar } from '../wire/openai-responses/so-far.ts'
import { loadedDialect } from '../wire/registry.ts'
import { FrameError } from '../wire/reply.ts'
import { SseFrames } from '../wire/sse-frames.ts'

/** In the client's format, or the list of its events if the format has no whole form. null if it is no event stream. */
export function foldedReply(format: ClientDialectId, bytes: Uint8Array): JsonValue | null {
  const events = eventsOf(bytes)
  if (events === null) return null
  if (format === 'openai-responses') return foldedResponse(events) ?? events
  return foldedChat(format, events) ?? events
}

function eventsOf(bytes: Uint8Array): JsonObject[] | null {
  const frames = new SseFrames(bytes.length + 2)
  try {
    return [...frames.push(bytes), ...frames.end()].map(parsedEvent)
  } catch (error) {
    if (error instanceof FrameError || error instanceof SyntaxError) return null
    throw error
  }
}

function parsedEvent(data: string): JsonObject {
  const event = JSON.parse(data) as JsonValue
  return isObject(event) ? event : { data: event }
}

/** The last event has the whole response, unless the stream broke off. */
function foldedResponse(events: readonly JsonObject[]): JsonObject | null {
  const first = events.find(({ response }) => isObject(response))?.['response']
  if (!isObject(first)) return null
  const soFar = new ResponseSoFar(first)
  for (const event of events) soFar.event(event)
  return soFar.ending(soFar.last ?? soFar.response)
}

/** Translates through the hub, which reads each format and writes it whole. */
function foldedChat(format: ClientDialectId, frames: readonly JsonObject[]): JsonObject | null {
  const dialect = loadedDialect(format)
  const client = dialect?.client?.hub
  const vendor = dialect?.vendor?.hub
  if (client === undefined || vendor === undefined) return null
  const reader = vendor.reader({})
  const events = [...frames.flatMap((each) => reader.frame(JSON.stringify(each))), ...reader.end()]
  const start = events.findLast(({ type }) => type === 'response-start')
  if (start?.type !== 'response-start') return null
  const { id, model, createdAt } = start
  try {
    const whole = client.writeWhole(events, { id, model, createdAt, wantsUsage: true })
    // Usage as the vendor reported it: the hub recounts it, and omits what it does not know.
    const usage = frames.findLast((each) => isObject(each['usage']))?.['usage']
    return format === 'openai-chat' && usage !== undefined ? { ...whole, usage } : whole
  } catch (error) {
    if (error instanceof UnfitReply) return null
    throw error
  }
}
