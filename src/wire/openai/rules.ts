// Rules for single request fields: type and range as the OpenAI API defines them, checked on the field's bytes.

import { invalidRequest } from '../../errors.ts'
import {
  ElementScan,
  type JsonKind,
  kindAt,
  type Member,
  MemberScan,
  parseSpan,
  textOf,
} from '../json/scan.ts'

/** What is wrong with the value, as the end of a sentence that begins with the field's name; null where it is valid. */
export type Rule = (bytes: Uint8Array, start: number, end: number, kind: JsonKind) => string | null

/** The value of a JSON number's span; not finite on overflow. */
export function numberOf(bytes: Uint8Array, start: number, end: number): number {
  return Number(textOf(bytes, start, end))
}

/** The value of a JSON string's span, quotes included. */
export function stringOf(bytes: Uint8Array, start: number, end: number): string {
  const raw = textOf(bytes, start + 1, end - 1)
  if (!raw.includes('\\')) return raw
  return String(parseSpan(bytes, start, end))
}

export function number(low: number, high: number): Rule {
  const complaint = `must be a number between ${low} and ${high}`
  return (bytes, start, end, kind) => {
    if (kind !== 'number') return complaint
    const value = numberOf(bytes, start, end)
    return value >= low && value <= high ? null : complaint
  }
}

export function integer(low: number, high = Number.MAX_SAFE_INTEGER): Rule {
  const complaint =
    high === Number.MAX_SAFE_INTEGER
      ? `must be an integer of at least ${low}`
      : `must be an integer between ${low} and ${high}`
  return (bytes, start, end, kind) => {
    if (kind !== 'number') return complaint
    const value = numberOf(bytes, start, end)
    return Number.isInteger(value) && value >= low && value <= high ? null : complaint
  }
}

/** Accepts any 64-bit integer, which a double may hold only approximately. */
export const wholeNumber: Rule = (bytes, start, end, kind) =>
  kind === 'number' && Number.isInteger(numberOf(bytes, start, end)) ? null : 'must be an integer'

export const boolean: Rule = (_bytes, _start, _end, kind) =>
  kind === 'true' || kind === 'false' ? null : 'must be a boolean'

export const string: Rule = (_bytes, _start, _end, kind) =>
  kind === 'string' ? null : 'must be a string'

/** One of a few texts. */
export function oneOf(...words: readonly string[]): Rule {
  const complaint = `must be one of ${words.join(', ')}`
  return (bytes, start, end, kind) =>
    kind === 'string' && words.includes(stringOf(bytes, start, end)) ? null : complaint
}

export const object: Rule = (_bytes, _start, _end, kind) =>
  kind === 'object' ? null : 'must be an object'

export const stringOrObject: Rule = (_bytes, _start, _end, kind) =>
  kind === 'string' || kind === 'object' ? null : 'must be a string or an object'

/** `stop`: a string, or an array of up to four. */
export const stop: Rule = (bytes, start, _end, kind) => {
  const complaint = 'must be a string or an array of at most 4 strings'
  if (kind === 'string') return null
  if (kind !== 'array') return complaint
  const scan = new ElementScan()
  scan.open(bytes, start)
  while (scan.next()) {
    if (scan.count > 4 || kindAt(bytes, scan.value) !== 'string') return complaint
  }
  return null
}

const typeScan = new MemberScan()

/** The kind of the object's member `type`, or null where it is absent; afterwards `typeScan.at` is after the object. */
function typeKind(bytes: Uint8Array, start: number): JsonKind | null {
  const scan = typeScan
  scan.open(bytes, start)
  let found: JsonKind | null = null
  while (scan.next()) if (scan.is('type')) found = kindAt(bytes, scan.value)
  return found
}

export const typedObject: Rule = (bytes, start, _end, kind) =>
  kind === 'object' && typeKind(bytes, start) === 'string'
    ? null
    : 'must be an object with a string `type`'

/** Throws GatewayError for the first of `members` that breaks its rule; null counts as absent. */
export function checkFields(
  bytes: Uint8Array,
  members: readonly Member[],
  rules: ReadonlyMap<string, Rule>,
): void {
  for (const member of members) {
    if (member.kind === 'null') continue
    const complaint = rules.get(member.key)?.(bytes, member.start, member.end, member.kind)
    if (complaint) throw invalidRequest(`${member.key} ${complaint}`, member.key)
  }
}

/** `tools`: an array of objects, each with a `type`. */
export function checkTools(bytes: Uint8Array, member: Member): void {
  if (member.kind !== 'array') throw invalidRequest('tools must be an array', 'tools')
  const scan = new ElementScan()
  scan.open(bytes, member.start)
  while (scan.next()) {
    const param = `tools[${scan.count - 1}]`
    if (kindAt(bytes, scan.value) !== 'object') {
      throw invalidRequest(`${param} must be an object`, param)
    }
    if (typeKind(bytes, scan.value) !== 'string') {
      throw invalidRequest(`${param}.type must be a string`, `${param}.type`)
    }
    scan.resume(typeScan.at)
  }
}
