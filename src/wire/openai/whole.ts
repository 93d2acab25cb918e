// Inspects a whole chat or text completion, and corrects its usage in place where the vendor's form differs.

import type { Fault } from '../../errors.ts'
import { unbelieved } from '../hub/counts.ts'
import type { JsonObject, Usage } from '../ir.ts'
import { JsonSyntaxError, parseSpan, skipSpace, spells, stringEnd, valueEnd } from '../json/scan.ts'
import { type Edit, join, splice } from '../json/splice.ts'
import { isObject } from '../json/value.ts'
import type { ReplyQuirks, WholeReply } from '../reply.ts'
import { ChunkScan } from './chunk.ts'
import { errorIn, faultInside, faultOfFinish, saidIn } from './fault.ts'
import { withPlainMessages } from './message-repair.ts'
import { placeOf } from './place.ts'
import { stringOf } from './rules.ts'
import { readUsage, shownUsage } from './usage.ts'

/** In an unusable reply larger than this the vendor's message is not looked for. */
const maxSaidBytes = 65_536

/** The result for a reply that cannot be used. */
export function faulty(bytes: Uint8Array, fault: Fault): WholeReply {
  return { fault, bytes, usage: null, outputBytes: 0, finishReason: null, model: null }
}

/** The fault of a success reply without its required list; a message in the reply becomes part of it. */
export function withoutList(bytes: Uint8Array, at: number, end: number, list: string): Fault {
  const message = `the reply has no list \`${list}\``
  if (end - at > maxSaidBytes) return { kind: 'unreadable', message }
  const said = saidIn(parseSpan(bytes, at, end) as JsonObject).message
  return {
    kind: 'unreadable',
    message: said === '' ? message : `${message}: ${said.slice(0, 400)}`,
  }
}

/** Offset of the reply after a byte order mark and white space, which some vendors send while they work. */
function replyStart(bytes: Uint8Array): number {
  const mark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  return skipSpace(bytes, mark)
}

/** Runs `read`; a reply that is not JSON becomes an `unreadable` fault. */
export function readable(bytes: Uint8Array, read: (at: number) => WholeReply): WholeReply {
  try {
    const at = replyStart(bytes)
    if (bytes[at] !== 0x7b) {
      const what = skipSpace(bytes, at) >= bytes.length ? 'is empty' : 'is not a JSON object'
      return faulty(bytes, { kind: 'unreadable', message: `the reply ${what}` })
    }
    return read(at)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    return faulty(bytes, { kind: 'unreadable', message: `the reply is not JSON: ${error.message}` })
  }
}

/** A reply's usage, and the edit that corrects it for the client. */
interface Corrected {
  readonly usage: Usage | null
  readonly unbelieved?: true
  readonly edit: Edit | null
}

/** The reply on which `correctUsage` works. */
interface ReplyText {
  readonly bytes: Uint8Array
  /** Offsets of the opening brace and after the closing one. */
  readonly start: number
  readonly end: number
  /** Offset of the object `usage` at the top level, or -1. */
  readonly usageAt: number
}

/** Reads the usage, corrects it by the vendor's quirk and gives it the form that `shape` requires. */
export function correctUsage(
  reply: ReplyText,
  quirks: ReplyQuirks,
  shape: (raw: JsonObject, usage: Usage | null) => JsonObject | null,
): Corrected {
  const { bytes, usageAt } = reply
  const span =
    usageAt >= 0
      ? { start: usageAt, end: valueEnd(bytes, usageAt) }
      : placeOf(bytes, reply.start, quirks.usagePath ?? [])
  if (span === null || bytes[span.start] !== 0x7b) return { usage: null, edit: null }
  const raw = parseSpan(bytes, span.start, span.end) as JsonObject
  const corrected = quirks.usage?.(raw) ?? raw
  const usage = readUsage(corrected)
  const shaped = shape(corrected, usage)
  const counts = { usage, ...unbelieved(usage, raw) }
  if (shaped === raw && usageAt >= 0) return { ...counts, edit: null }
  const text = JSON.stringify(shaped ?? corrected)
  if (usageAt < 0) return { ...counts, edit: insertion(reply, text) }
  return { ...counts, edit: text === JSON.stringify(raw) ? null : { ...span, text } }
}

/** Inserts usage that was found elsewhere where clients look for it. */
function insertion({ bytes, start, end }: ReplyText, text: string): Edit {
  const empty = placeOf(bytes, start, ['usage'])
  if (empty !== null) return { start: empty.start, end: empty.end, text }
  return { start: end - 1, end: end - 1, text: `,"usage":${text}` }
}

/** Up to this size JSON.parse is faster than a scan. */
const smallBytes = 8_192
const utf8 = new TextDecoder()
const encoder = new TextEncoder()

/** Reads a small reply without peculiarities; null where the scan must inspect it. */
function readPlain(body: Uint8Array, quirks: ReplyQuirks): WholeReply | null {
  if (body.length > smallBytes || quirks.usage !== undefined || quirks.usagePath !== undefined)
    return null
  let reply: JsonObject
  try {
    reply = JSON.parse(utf8.decode(body)) as JsonObject
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
  const choices = reply?.choices
  const choice = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined
  const { usage: raw, model } = reply ?? {}
  if (!isObject(choice) || !isObject(raw) || 'error' in reply) return null
  if (withPlainMessages(reply) !== null) return null
  const usage = readUsage(raw)
  if (usage === null || shownUsage(raw, usage) !== raw) return null
  const finish = choice.finish_reason
  if (typeof finish !== 'string' || faultOfFinish(finish) !== null || typeof model !== 'string')
    return null
  return { fault: null, bytes: body, usage, outputBytes: null, finishReason: finish, model }
}

/** Inspects a reply; one with a fault keeps its bytes. */
export function readWhole(body: Uint8Array, quirks: ReplyQuirks): WholeReply {
  return readPlain(body, quirks) ?? scanWhole(body, quirks)
}

function scanWhole(body: Uint8Array, quirks: ReplyQuirks): WholeReply {
  return readable(body, (at) => {
    const scan = new ChunkScan(quirks.usagePath?.[0], false)
    scan.read(body, at)
    if (skipSpace(body, scan.end) < body.length) {
      throw new JsonSyntaxError(scan.end, 'unexpected bytes after the reply')
    }
    if (scan.error) {
      const error = errorIn(parseSpan(body, at, scan.end) as JsonObject)
      if (error !== null) return faulty(body, faultInside(error))
    }
    if (scan.choices < 0) return faulty(body, withoutList(body, at, scan.end, 'choices'))
    if (scan.choices === 0)
      return faulty(body, { kind: 'unreadable', message: 'the reply has no choice' })
    if (scan.oddCalls || scan.varied || scan.pieces > 1) {
      const repaired = withPlainMessages(parseSpan(body, at, scan.end) as JsonObject)
      if (repaired !== null) return readWhole(encoder.encode(JSON.stringify(repaired)), quirks)
    }
    const finishReason = scan.finishAt < 0 ? null : stringOf(body, scan.finishAt, scan.finishEnd)
    const failed = finishReason === null ? null : faultOfFinish(finishReason)
    if (failed !== null) return faulty(body, failed)
    const { usageAt, end } = scan
    const { edit, ...counts } = correctUsage(
      { bytes: body, start: at, end, usageAt },
      quirks,
      shownUsage,
    )
    return {
      fault: null,
      bytes: edit === null ? body : join(splice(body, [edit])),
      ...counts,
      // Counted only on demand: where the vendor reports usage, it is not needed.
      get outputBytes() {
        return countedBytes(body, at)
      },
      finishReason,
      model: scan.modelAt < 0 ? null : stringOf(body, scan.modelAt, scan.modelEnd),
    }
  })
}

function countedBytes(body: Uint8Array, at: number): number {
  const scan = new ChunkScan()
  scan.read(body, at)
  return scan.outputBytes
}

/** The offsets of the last member `name` before `before` and of its value; -1 where there is none. */
export function lastMember(
  bytes: Uint8Array,
  name: string,
  before: number,
): { at: number; value: number } {
  for (let at = bytes.lastIndexOf(0x22, before); at >= 0; at = bytes.lastIndexOf(0x22, at - 1)) {
    const close = at + 1 + name.length
    // Inside a string every quote is preceded by a backslash, so that this can only be a whole string.
    if (bytes[close] === 0x22 && spells(bytes, at + 1, close, name)) {
      const colon = skipSpace(bytes, close + 1)
      if (bytes[colon] === 0x3a) return { at, value: skipSpace(bytes, colon + 1) }
    }
    if (at === 0) break
  }
  return { at: -1, value: -1 }
}

function tailUsage(bytes: Uint8Array, quirks: ReplyQuirks): Usage | null {
  let before = bytes.length
  for (;;) {
    const { at, value } = lastMember(bytes, 'usage', before)
    if (at < 0) return null
    if (bytes[value] === 0x7b) {
      const usage = usageFrom(bytes, value, quirks)
      if (usage !== null) return usage
    }
    if (at === 0) return null
    before = at - 1
  }
}

function usageFrom(bytes: Uint8Array, at: number, quirks: ReplyQuirks): Usage | null {
  try {
    const raw = parseSpan(bytes, at, valueEnd(bytes, at))
    return isObject(raw) ? readUsage(quirks.usage?.(raw) ?? raw) : null
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null
    throw error
  }
}

function tailFinish(bytes: Uint8Array): string | null {
  const { value } = lastMember(bytes, 'finish_reason', bytes.length)
  if (value < 0 || bytes[value] !== 0x22) return null
  return stringOf(bytes, value, stringEnd(bytes, value))
}

/** What the end of a reply says; `bytes` may begin anywhere in the reply. */
export function readTail(
  bytes: Uint8Array,
  quirks: ReplyQuirks,
): Omit<WholeReply, 'fault' | 'bytes'> {
  return {
    usage: tailUsage(bytes, quirks),
    outputBytes: bytes.length,
    finishReason: tailFinish(bytes),
    model: null,
  }
}
