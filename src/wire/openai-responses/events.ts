// Finds the type of a Responses stream event, and the span of its data, without parsing the rest.

import { MemberScan, textOf } from '../json/scan.ts'
import { frameData, plainDataStart, unframedJson } from '../sse.ts'

const LF = 0x0a
const OPEN_OBJECT = 0x7b
const eventField = [0x65, 0x76, 0x65, 0x6e, 0x74, 0x3a]
const encoder = new TextEncoder()
const scan = new MemberScan()

/** One event; `bytes[start, end)` is its JSON. */
export interface Event {
  readonly type: string
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

/** Offset of the value of a line that begins with `event:`; -1 for any other line. */
function nameStart(bytes: Uint8Array, start: number): number {
  for (let i = 0; i < eventField.length; i++) if (bytes[start + i] !== eventField[i]) return -1
  const at = start + eventField.length
  return bytes[at] === 0x20 ? at + 1 : at
}

/** The object's own `type` member. Throws JsonSyntaxError. */
function typeIn(bytes: Uint8Array, at: number): string {
  scan.open(bytes, at)
  let type = ''
  while (scan.next()) {
    if (!scan.is('type') || bytes[scan.value] !== 0x22) continue
    const start = scan.value + 1
    type = textOf(bytes, start, scan.skip() - 1)
    break
  }
  return type
}

/** Offset of the JSON in a frame that ends with a single data line; -1 for any other frame. */
function dataStart(bytes: Uint8Array, lineStart: number, end: number): number {
  const at = plainDataStart(bytes, lineStart, end)
  if (at < 0 || bytes[at] !== OPEN_OBJECT) return -1
  const lineEnd = bytes.indexOf(LF, at)
  return lineEnd < 0 || lineEnd + 1 >= end || bytes[lineEnd + 1] === LF ? at : -1
}

/**
 * The event in the frame `bytes[start, end)`; null for a comment or the terminator of other formats. Its type comes
 * from the `event:` line, or from its data if there is none. Throws JsonSyntaxError for data that is not an object.
 */
export function eventIn(bytes: Uint8Array, start: number, end: number): Event | null {
  const name = nameStart(bytes, start)
  const nameEnd = name < 0 ? -1 : bytes.indexOf(LF, name)
  const data = dataStart(bytes, name < 0 ? start : nameEnd + 1, end)
  if (data >= 0) {
    const type = name < 0 ? typeIn(bytes, data) : textOf(bytes, name, nameEnd)
    return { type, bytes, start: data, end }
  }
  return unusual(bytes, start, end)
}

/** Reads a frame with several data lines, or with its fields in another order. */
function unusual(bytes: Uint8Array, start: number, end: number): Event | null {
  const { data, event } = frameData(bytes, start, end)
  const text = (data ?? unframedJson(bytes, start, end)).trim()
  if (text === '' || text === '[DONE]') return null
  // Joins data lines with spaces: a line end between them is white space in JSON.
  const document = encoder.encode(text.replaceAll('\n', ' '))
  return { type: event ?? typeIn(document, 0), bytes: document, start: 0, end: document.length }
}

/** Events that end a stream; each carries the whole response. */
export const terminals: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
])
