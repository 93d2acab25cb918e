// Corrects members of a response for the client with what only the gateway knows, and notes the final response.

import type { JsonObject } from '../ir.ts'
import { JsonSyntaxError, parseSpan, textOf } from '../json/scan.ts'
import { join } from '../json/splice.ts'
import { isObject } from '../json/value.ts'
import { FrameSplitter, frameTooLong } from '../sse.ts'
import { type Event, eventIn, terminals } from './events.ts'

/** Gives the members that replace the vendor's own. */
type Correction = (response: JsonObject) => Readonly<JsonObject>

export interface Shown {
  readonly bytes: Uint8Array
  /** The finished response, if these bytes contain it. */
  readonly response: JsonObject | null
}

/** In every event with a response, but never within a text, where quotes are escaped. */
const responseKey = new TextEncoder().encode('"response"')
const encoder = new TextEncoder()

/** Corrects a whole response. */
export function showWhole(bytes: Uint8Array, correction: Correction): Shown {
  const response = objectAt(bytes, 0, bytes.length)
  if (response === null) return { bytes, response: null }
  const corrected = correct(response, correction)
  if (corrected === response) return { bytes, response }
  return { bytes: encoder.encode(JSON.stringify(corrected)), response: corrected }
}

/** Corrects whole frames of a stream; `includes` searches bytes. */
export function showFrames(
  bytes: Uint8Array,
  correction: Correction,
  includes: (bytes: Uint8Array, text: Uint8Array) => boolean,
): Shown {
  if (!includes(bytes, responseKey)) return { bytes, response: null }
  const splitter = new FrameSplitter(bytes.length + 1)
  const count = splitter.push(bytes)
  if (count === frameTooLong) return { bytes, response: null }
  const { starts, ends, bytes: cut } = splitter
  const pieces: Uint8Array[] = []
  let ended: JsonObject | null = null
  for (let at = 0; at < count; at++) {
    const frame = cut.subarray(starts[at], ends[at])
    const found = responseIn(frame)
    if (found === null) {
      pieces.push(frame)
      continue
    }
    const { event, data, response } = found
    const corrected = correct(response, correction)
    if (terminals.has(event.type)) ended = corrected
    if (corrected === response) pieces.push(frame)
    else {
      const text = JSON.stringify({ ...data, response: corrected })
      pieces.push(encoder.encode(`event: ${event.type}\ndata: ${text}\n\n`))
    }
  }
  const last = ends[count - 1] ?? 0
  if (last < cut.length) pieces.push(cut.subarray(last))
  return { bytes: join(pieces), response: ended }
}

function responseIn(
  frame: Uint8Array,
): { readonly event: Event; readonly data: JsonObject; readonly response: JsonObject } | null {
  try {
    const event = eventIn(frame, 0, frame.length)
    if (event === null) return null
    const data = parseSpan(event.bytes, event.start, event.end)
    if (!isObject(data) || !isObject(data['response'])) return null
    return { event, data, response: data['response'] }
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null
    throw error
  }
}

/** Gives the same object if nothing needs correction. */
function correct(response: JsonObject, correction: Correction): JsonObject {
  const members = correction(response)
  const differs = Object.entries(members).some(([name, value]) => response[name] !== value)
  return differs ? { ...response, ...members } : response
}

function objectAt(bytes: Uint8Array, start: number, end: number): JsonObject | null {
  try {
    const value = parseSpan(bytes, start, end)
    return isObject(value) ? value : null
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null
    throw error
  }
}

/** The id in the first bytes of a whole response; null where there is none. */
export function idAtStart(bytes: Uint8Array): string | null {
  const text = textOf(bytes, 0, Math.min(bytes.length, 1_024))
  return /"id"\s*:\s*"([\w-]{1,200})"/.exec(text)?.[1] ?? null
}
