// Shared by tests of the Responses format: replies written, divided into their events and read again.

import { expect } from 'bun:test'
import type { WriterHead } from '../src/wire/codec.ts'
import type { ChatEvent, JsonObject, JsonValue, PartHead } from '../src/wire/ir.ts'
import { ResponsesFrames } from '../src/wire/openai-responses/frames.ts'
import { responsesHub } from '../src/wire/openai-responses/hub.ts'
import { replay } from '../src/wire/openai-responses/replay.ts'
import { ResponseSoFar } from '../src/wire/openai-responses/so-far.ts'
import { breaches, readAll } from './replies.ts'

export const head: WriterHead = { id: 'resp_1', model: 'asked', createdAt: 7, wantsUsage: true }
const encoder = new TextEncoder()

export function written(events: readonly ChatEvent[], to = head): string {
  const writer = responsesHub.writer(to)
  return events.map((event) => writer.event(event)).join('') + writer.end()
}

/** The data of the events, taken from bytes that come in pieces of `size`. */
export function cut(text: string, size = text.length): string[] {
  const frames = new ResponsesFrames()
  const bytes = encoder.encode(text)
  const found: string[] = []
  for (let at = 0; at < bytes.length; at += size) {
    found.push(...frames.push(bytes.slice(at, at + size)))
  }
  return [...found, ...frames.end()]
}

export function eventsOf(text: string): JsonObject[] {
  return cut(text).map((data) => JSON.parse(data))
}

export function read(list: readonly JsonValue[]): ChatEvent[] {
  const events = readAll(
    responsesHub.reader({}),
    list.map((frame) => JSON.stringify(frame)),
  )
  expect(breaches(events)).toEqual([])
  return events
}

/** Without the fields that only this format has for a response and its items. */
export function plain(events: readonly ChatEvent[]): ChatEvent[] {
  return events.flatMap((event): ChatEvent[] => {
    if (event.type === 'extra') return []
    if (event.type === 'part-start' && event.head.type === 'text') {
      return [{ ...event, head: { type: 'text' } }]
    }
    if (event.type !== 'response-start') return [event]
    const { extra: _, ...rest } = event
    return [rest]
  })
}

/** A part that sends its pieces. */
export function part(number: number, partHead: PartHead, pieces: readonly string[]): ChatEvent[] {
  const at = { choice: 0, part: number }
  return [
    { type: 'part-start', ...at, head: partHead },
    ...pieces.map((text) => ({ type: 'part-delta' as const, ...at, text })),
    { type: 'part-end', ...at },
  ]
}

export const start = {
  type: 'response-start',
  id: 'r',
  model: 'm',
  createdAt: 5,
} satisfies ChatEvent
export const ended = { type: 'choice-end', choice: 0, reason: 'stop' } satisfies ChatEvent

/** Frames until no more is known. */
export function pulled(frames: ReturnType<typeof replay>): string {
  let text = ''
  for (let next = frames.next(); !next.done && next.value !== null; next = frames.next()) {
    text += next.value
  }
  return text
}

/** A response that has ended. */
export function replayed(response: JsonObject, after = -1): string {
  const source = new ResponseSoFar(response)
  source.end(response)
  return pulled(replay(source, after))
}

/** Followed from its first event on, and replayed at its end. */
export function followed(events: readonly JsonObject[]) {
  const [first] = events
  const source = new ResponseSoFar(first?.['response'] as JsonObject)
  const frames = replay(source, -1)
  let live = ''
  for (const event of events) {
    source.event(structuredClone(event))
    live += pulled(frames)
  }
  const last = source.ending(source.last ?? { ...source.response, status: 'failed' })
  source.end(last)
  live += pulled(frames)
  return { live, last, again: replayed(last) }
}
