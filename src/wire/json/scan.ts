// A shallow JSON scanner over bytes: finds members and elements, checks structure, builds no values.
//
// Checked: brackets, commas, colons, literals, numbers, terminated strings, depth, trailing bytes.
// Not checked, inside strings: escapes, raw control characters and UTF-8. None of them can move the
// end of a string (that is the first quote with an even count of backslashes before it, in UTF-8 as
// in ASCII), so every JSON reader agrees with this one on where each member begins and ends; whoever
// needs a string's meaning reads its span with JSON.parse, which is strict.

import { endOfString } from './strings.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d

/** The most nested containers inside one skipped value. */
const MAX_DEPTH = 64
/** The same for a document whose names are checked, which includes levels outside the skipped value. */
const MAX_DOCUMENT_DEPTH = 72
/** The most members listed of one object; a request has a few dozen. */
const MAX_MEMBERS = 1024
/** Texts up to this many bytes are looked up in a cache before they are decoded. */
const SHORT = 24

export type JsonKind = 'string' | 'number' | 'object' | 'array' | 'true' | 'false' | 'null'

/** The bytes are not JSON; `offset` is where the error was found. */
export class JsonSyntaxError extends Error {
  readonly offset: number

  constructor(offset: number, what: string) {
    super(`${what} at byte ${offset}`)
    this.name = 'JsonSyntaxError'
    this.offset = offset
  }
}

function unexpected(bytes: Uint8Array, at: number): JsonSyntaxError {
  const code = bytes[at]
  return new JsonSyntaxError(
    Math.min(at, bytes.length),
    code === undefined
      ? 'unexpected end'
      : code > 0x20 && code < 0x7f
        ? `unexpected ${String.fromCharCode(code)}`
        : `unexpected byte 0x${code.toString(16).padStart(2, '0')}`,
  )
}

/** The first offset from `at` on that is not JSON white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let next = at
  for (;;) {
    const code = bytes[next]
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return next
    next++
  }
}

const nothing = new Uint8Array(0)

/** The offset after the string whose opening quote is at `open`. Throws JsonSyntaxError. */
export function stringEnd(bytes: Uint8Array, open: number): number {
  const end = endOfString(bytes, open)
  if (end < 0) throw new JsonSyntaxError(bytes.length, 'unterminated string')
  return end
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= 0x30 && code <= 0x39
}

function digitsEnd(bytes: Uint8Array, at: number): number {
  if (!isDigit(bytes[at])) throw unexpected(bytes, at)
  let next = at + 1
  while (isDigit(bytes[next])) next++
  return next
}

function numberEnd(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === 0x2d ? start + 1 : start
  at = bytes[at] === 0x30 ? at + 1 : digitsEnd(bytes, at)
  if (bytes[at] === 0x2e) at = digitsEnd(bytes, at + 1)
  const exponent = bytes[at]
  if (exponent === 0x65 || exponent === 0x45) {
    const sign = bytes[at + 1]
    at = digitsEnd(bytes, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1)
  }
  return at
}

function literalEnd(bytes: Uint8Array, at: number, word: string): number {
  for (let i = 0; i < word.length; i++) {
    if (bytes[at + i] !== word.charCodeAt(i)) throw unexpected(bytes, at + i)
  }
  return at + word.length
}

function scalarEnd(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case 0x74:
      return literalEnd(bytes, at, 'true')
    case 0x66:
      return literalEnd(bytes, at, 'false')
    case 0x6e:
      return literalEnd(bytes, at, 'null')
    default:
      return numberEnd(bytes, at)
  }
}

/** Steps over `"key" :` and white space to the member's value. */
function keyToValue(bytes: Uint8Array, at: number, visitor: StructureVisitor | null): number {
  if (bytes[at] !== QUOTE) throw unexpected(bytes, at)
  const colon = skipSpace(bytes, visitor === null ? stringEnd(bytes, at) : visitor.key(at))
  if (bytes[colon] !== COLON) throw unexpected(bytes, colon)
  return skipSpace(bytes, colon + 1)
}

/** The offset after the value at `at` (no white space before it). Throws JsonSyntaxError. */
export function valueEnd(bytes: Uint8Array, at: number): number {
  const first = bytes[at]
  if (first === QUOTE) return stringEnd(bytes, at)
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return containerEnd(bytes, at, null)
  return scalarEnd(bytes, at)
}

/** Callbacks for a document's structure while it is walked. */
export interface StructureVisitor {
  open(isObject: boolean): void
  /** The key whose opening quote is at `at`; gives the offset after its closing quote. */
  key(at: number): number
  /** Another element of an array begins. */
  element(): void
  close(isObject: boolean): void
}

/** Walks the container at `at` and everything inside it; gives the offset after it. Throws JsonSyntaxError. */
export function walk(bytes: Uint8Array, at: number, visitor: StructureVisitor): number {
  return containerEnd(bytes, at, visitor)
}

/** Which of the open containers are objects; only used within one call. */
const insideObject = new Uint8Array(MAX_DOCUMENT_DEPTH)

function containerEnd(bytes: Uint8Array, start: number, visitor: StructureVisitor | null): number {
  const maxDepth = visitor === null ? MAX_DEPTH : MAX_DOCUMENT_DEPTH
  let depth = 0
  let at = start
  for (;;) {
    const code = bytes[at]
    if (code === QUOTE) {
      at = stringEnd(bytes, at)
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (depth === maxDepth) throw new JsonSyntaxError(at, 'nested too deeply')
      const isObject = code === OPEN_OBJECT
      insideObject[depth++] = isObject ? 1 : 0
      visitor?.open(isObject)
      at = skipSpace(bytes, at + 1)
      if (bytes[at] !== (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        if (isObject) at = keyToValue(bytes, at, visitor)
        continue
      }
    } else {
      at = scalarEnd(bytes, at)
    }
    at = skipSpace(bytes, at)
    while (bytes[at] === (insideObject[depth - 1] === 1 ? CLOSE_OBJECT : CLOSE_ARRAY)) {
      depth--
      visitor?.close(insideObject[depth] === 1)
      if (depth === 0) return at + 1
      at = skipSpace(bytes, at + 1)
    }
    if (bytes[at] !== COMMA) throw unexpected(bytes, at)
    at = skipSpace(bytes, at + 1)
    if (insideObject[depth - 1] === 1) at = keyToValue(bytes, at, visitor)
    else visitor?.element()
  }
}

/** The kind of the value that begins at `at`. */
export function kindAt(bytes: Uint8Array, at: number): JsonKind {
  switch (bytes[at]) {
    case QUOTE:
      return 'string'
    case OPEN_OBJECT:
      return 'object'
    case OPEN_ARRAY:
      return 'array'
    case 0x74:
      return 'true'
    case 0x66:
      return 'false'
    case 0x6e:
      return 'null'
    default:
      return 'number'
  }
}

/** Whether `bytes[start, end)` is the ASCII `name`. */
export function spells(bytes: Uint8Array, start: number, end: number, name: string): boolean {
  if (end - start !== name.length) return false
  for (let i = 0; i < name.length; i++) {
    if (bytes[start + i] !== name.charCodeAt(i)) return false
  }
  return true
}

/**
 * Walks the members of one object. Reusable without allocation: `open`, then `next` until it is false; `at` is then
 * after the closing brace.
 */
export class MemberScan {
  /** Offset of the key's opening quote. */
  keyAt = 0
  /** The key's bytes, without its quotes. */
  keyStart = 0
  keyEnd = 0
  /** Offset of the member's value. */
  value = 0
  at = 0
  private bytes: Uint8Array = nothing
  private fresh = true

  /** Starts at the opening brace at `at`. */
  open(bytes: Uint8Array, at: number): void {
    if (bytes[at] !== OPEN_OBJECT) throw unexpected(bytes, at)
    this.bytes = bytes
    this.at = at + 1
    this.value = -1
    this.fresh = true
  }

  /** Moves to the next member; skips the current value first if that was not done. */
  next(): boolean {
    const bytes = this.bytes
    if (this.at === this.value) this.at = valueEnd(bytes, this.value)
    let at = skipSpace(bytes, this.at)
    const code = bytes[at]
    if (code === CLOSE_OBJECT) {
      this.at = at + 1
      this.bytes = nothing
      return false
    }
    if (this.fresh) {
      this.fresh = false
    } else {
      if (code !== COMMA) throw unexpected(bytes, at)
      at = skipSpace(bytes, at + 1)
    }
    if (bytes[at] !== QUOTE) throw unexpected(bytes, at)
    const keyEnd = stringEnd(bytes, at)
    this.keyAt = at
    this.keyStart = at + 1
    this.keyEnd = keyEnd - 1
    at = skipSpace(bytes, keyEnd)
    if (bytes[at] !== COLON) throw unexpected(bytes, at)
    at = skipSpace(bytes, at + 1)
    this.value = at
    this.at = at
    return true
  }

  /** Skips the current value; gives the offset after it. */
  skip(): number {
    if (this.at === this.value) this.at = valueEnd(this.bytes, this.value)
    return this.at
  }

  /** Tells the scan that the current value was read by other code and ends at `end`. */
  resume(end: number): void {
    this.at = end
  }

  is(name: string): boolean {
    return spells(this.bytes, this.keyStart, this.keyEnd, name)
  }
}

/** Walks the elements of one array as MemberScan does members. */
export class ElementScan {
  /** Offset of the current element. */
  value = 0
  at = 0
  /** Number of elements begun so far. */
  count = 0
  private bytes: Uint8Array = nothing

  open(bytes: Uint8Array, at: number): void {
    if (bytes[at] !== OPEN_ARRAY) throw unexpected(bytes, at)
    this.bytes = bytes
    this.at = at + 1
    this.value = -1
    this.count = 0
  }

  next(): boolean {
    const bytes = this.bytes
    if (this.at === this.value) this.at = valueEnd(bytes, this.value)
    let at = skipSpace(bytes, this.at)
    const code = bytes[at]
    if (code === CLOSE_ARRAY) {
      this.at = at + 1
      this.bytes = nothing
      return false
    }
    if (this.count > 0) {
      if (code !== COMMA) throw unexpected(bytes, at)
      at = skipSpace(bytes, at + 1)
    }
    this.count++
    this.value = at
    this.at = at
    return true
  }

  skip(): number {
    if (this.at === this.value) this.at = valueEnd(this.bytes, this.value)
    return this.at
  }

  resume(end: number): void {
    this.at = end
  }
}

/** One member of an object; `start` and `end` span its value. */
export interface Member {
  readonly key: string
  readonly keyAt: number
  readonly start: number
  readonly end: number
  readonly kind: JsonKind
}

export interface Element {
  readonly start: number
  readonly end: number
  readonly kind: JsonKind
}

const decoder = new TextDecoder()

/** A cache of recent texts by a rough hash: requests and frames repeat the same few words. */
const lately = new Array<string>(1_024).fill('')

/** The text of a span, decoded as UTF-8. */
export function textOf(bytes: Uint8Array, start: number, end: number): string {
  const length = end - start
  if (length === 0) return ''
  if (length > SHORT) return decoder.decode(bytes.subarray(start, end))
  const first = bytes[start] ?? 0
  const middle = bytes[start + (length >> 1)] ?? 0
  const hash = (length * 31 + first * 7 + middle * 5 + (bytes[end - 1] ?? 0)) & 1_023
  const known = lately[hash] ?? ''
  if (known.length === length) {
    let at = 0
    while (at < length && known.charCodeAt(at) === bytes[start + at]) at++
    // Equal codes mean equal text only for ASCII; nothing else is cached.
    if (at === length) return known
  }
  const text = decoder.decode(bytes.subarray(start, end))
  if (isAscii(bytes, start, end)) lately[hash] = text
  return text
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((bytes[at] ?? 0) > 0x7e) return false
  return true
}

/** Walks the value at `at` and gives the offset after it. */
export type Visit = (bytes: Uint8Array, at: number) => number

function memberOf(bytes: Uint8Array, scan: MemberScan, visit: Visit | undefined): Member {
  const { keyAt, keyStart, keyEnd, value } = scan
  const raw = textOf(bytes, keyStart, keyEnd)
  const key = raw.includes('\\') ? parseSpan(bytes, keyAt, keyEnd + 1) : raw
  if (visit !== undefined) scan.resume(visit(bytes, value))
  return {
    key: typeof key === 'string' ? key : raw,
    keyAt,
    start: value,
    end: scan.skip(),
    kind: kindAt(bytes, value),
  }
}

/**
 * All members of the object at `at`. If the value of `visitKey` is an array, `visit` walks it, so that it is not
 * scanned twice. Throws JsonSyntaxError.
 */
export function members(bytes: Uint8Array, at: number, visitKey = '', visit?: Visit): Member[] {
  const scan = new MemberScan()
  scan.open(bytes, at)
  const found: Member[] = []
  while (scan.next()) {
    if (found.length === MAX_MEMBERS) throw new JsonSyntaxError(scan.keyAt, 'too many members')
    const visited = bytes[scan.value] === OPEN_ARRAY && scan.is(visitKey)
    found.push(memberOf(bytes, scan, visited ? visit : undefined))
  }
  return found
}

/** All elements of the array at `at`. Throws JsonSyntaxError. */
export function elements(bytes: Uint8Array, at: number): Element[] {
  const scan = new ElementScan()
  scan.open(bytes, at)
  const found: Element[] = []
  while (scan.next()) {
    found.push({ start: scan.value, end: scan.skip(), kind: kindAt(bytes, scan.value) })
  }
  return found
}

/** The value of `bytes[start, end)`, parsed by JSON.parse. Throws JsonSyntaxError. */
export function parseSpan(bytes: Uint8Array, start: number, end: number): unknown {
  try {
    return JSON.parse(textOf(bytes, start, end))
  } catch (cause) {
    throw new JsonSyntaxError(start, cause instanceof Error ? cause.message : 'not JSON')
  }
}

/** Throws JsonSyntaxError for anything but white space from `at` on. */
export function expectEnd(bytes: Uint8Array, at: number): void {
  const next = skipSpace(bytes, at)
  if (next < bytes.length) throw unexpected(bytes, next)
}
