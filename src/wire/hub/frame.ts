// One frame of a stream as the object it holds.

import type { JsonObject, JsonValue } from '../ir.ts'

/** Else what is wrong with it, as a fault's message. */
export function frameObject(data: string): JsonObject | string {
  let frame: JsonValue
  try {
    frame = JSON.parse(data) as JsonValue
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return 'an event of the stream is not JSON'
  }
  const isObject = typeof frame === 'object' && frame !== null && !Array.isArray(frame)
  return isObject ? (frame as JsonObject) : 'an event of the stream is no object'
}
