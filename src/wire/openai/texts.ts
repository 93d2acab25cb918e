// Checks texts or token ids, one or many: the `prompt` of text completions and the `input` of embeddings.

import { invalidRequest } from '../../errors.ts'
import { ElementScan, type JsonKind, kindAt, type Member } from '../json/scan.ts'
import { numberOf } from './rules.ts'

/** What may stand in the field. */
export interface InputRules {
  /** The field, as errors name it. */
  readonly name: string
  /** Most elements of each list, and then nothing may be empty either; null: no bound. */
  readonly maxItems: number | null
}

const list = new ElementScan()
const tokens = new ElementScan()

function complain(rules: InputRules): string {
  return `${rules.name} must be a string, an array of strings, an array of token ids or an array of arrays of token ids`
}

function checkText(bytes: Uint8Array, at: number, param: string, rules: InputRules): void {
  if (rules.maxItems === null || bytes[at + 1] !== 0x22) return
  throw invalidRequest(`${param} must not be empty`, param)
}

function isPlain(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > 15) return false
  for (let at = start; at < end; at++) {
    const code = bytes[at] ?? 0
    if (code < 0x30 || code > 0x39) return false
  }
  return true
}

function checkToken(bytes: Uint8Array, start: number, end: number, param: () => string): void {
  // Nearly all are digits alone, and there may be a million of them.
  if (isPlain(bytes, start, end)) return
  const value = numberOf(bytes, start, end)
  if (Number.isSafeInteger(value) && value >= 0) return
  throw invalidRequest(`${param()} must be a token id, an integer of at least 0`, param())
}

function checkCount(count: number, param: string, rules: InputRules): void {
  if (rules.maxItems === null || count <= rules.maxItems) return
  throw invalidRequest(`${param} must have at most ${rules.maxItems} elements`, param)
}

/** Checks one list of token ids; gives the offset behind it. */
function checkTokens(bytes: Uint8Array, at: number, param: string, rules: InputRules): number {
  const path = (): string => `${param}[${tokens.count - 1}]`
  tokens.open(bytes, at)
  while (tokens.next()) {
    const start = tokens.value
    if (kindAt(bytes, start) !== 'number') {
      throw invalidRequest(`${path()} must be a token id, an integer of at least 0`, path())
    }
    checkToken(bytes, start, tokens.skip(), path)
    checkCount(tokens.count, param, rules)
  }
  if (tokens.count === 0) throw invalidRequest(`${param} must not be empty`, param)
  return tokens.at
}

/** Checks the value of `member`. Throws GatewayError naming the element at fault. */
export function readInput(
  bytes: Uint8Array,
  member: Member,
  rules: InputRules,
): { readonly holdsTokens: boolean } {
  const { name } = rules
  if (member.kind === 'string') {
    checkText(bytes, member.start, name, rules)
    return { holdsTokens: false }
  }
  if (member.kind !== 'array') throw invalidRequest(complain(rules), name)
  list.open(bytes, member.start)
  if (!list.next()) throw invalidRequest(`${name} must not be empty`, name)
  const kind = kindAt(bytes, list.value)
  if (kind === 'number') {
    checkTokens(bytes, member.start, name, rules)
    return { holdsTokens: true }
  }
  if (kind !== 'string' && kind !== 'array') throw invalidRequest(complain(rules), `${name}[0]`)
  checkList(bytes, kind, rules)
  return { holdsTokens: kind === 'array' }
}

/** The rest of a list whose first element is a `kind`. */
function checkList(bytes: Uint8Array, kind: JsonKind, rules: InputRules): void {
  const { name } = rules
  do {
    const at = list.value
    const param = `${name}[${list.count - 1}]`
    if (kindAt(bytes, at) !== kind) {
      const wanted = kind === 'string' ? 'a string' : 'an array of token ids'
      throw invalidRequest(`${param} must be ${wanted}, as the elements before it`, param)
    }
    checkCount(list.count, name, rules)
    if (kind === 'string') checkText(bytes, at, param, rules)
    else list.resume(checkTokens(bytes, at, param, rules))
  } while (list.next())
}
