// Checks a field with one or many texts or token ids: `prompt` of text completions, `input` of embeddings.

import { invalidRequest } from '../../errors.ts'
import type { Place } from '../json/names.ts'
import { ElementScan, kindAt, skipSpace } from '../json/scan.ts'
import { type Body, type Inside, present } from './body.ts'
import { numberOf } from './rules.ts'

/** What the field may contain. */
interface InputRules {
  /** The field's name in error texts. */
  readonly name: string
  /** The most elements of each list; if set, no text or list may be empty. Null: no limit. */
  readonly maxItems: number | null
}

const list = new ElementScan()
const tokens = new ElementScan()

function complaint(rules: InputRules): string {
  return `${rules.name} must be a string, an array of strings, an array of token ids or an array of arrays of token ids`
}

function checkText(bytes: Uint8Array, at: number, param: string, rules: InputRules): void {
  if (rules.maxItems === null || bytes[at + 1] !== 0x22) return
  throw invalidRequest(`${param} must not be empty`, param)
}

function checkToken(bytes: Uint8Array, start: number, end: number, param: string): void {
  const value = kindAt(bytes, start) === 'number' ? numberOf(bytes, start, end) : -1
  if (Number.isSafeInteger(value) && value >= 0) return
  throw invalidRequest(`${param} must be a token id, an integer of at least 0`, param)
}

/** The longest run of digits that needs no closer check to be a token id. */
const maxDigits = 15

/**
 * Counts the elements of a list of token ids at `at` that is written without anything unusual; -1 where an element is
 * anything else. There may be a million.
 */
function plainTokens(
  bytes: Uint8Array,
  at: number,
): { readonly count: number; readonly end: number } {
  let count = 0
  let next = at
  for (;;) {
    next = skipSpace(bytes, next + 1)
    const start = next
    let code = bytes[next] ?? 0
    const zero = code === 0x30
    while (code >= 0x30 && code <= 0x39) code = bytes[++next] ?? 0
    const digits = next - start
    if (digits === 0 || digits > maxDigits || (zero && digits > 1)) return { count: -1, end: -1 }
    count++
    if (code !== 0x2c && code !== 0x5d) return { count: -1, end: -1 }
    if (code === 0x5d) return { count, end: next + 1 }
  }
}

function checkCount(count: number, param: string, rules: InputRules): void {
  if (rules.maxItems === null || count <= rules.maxItems) return
  throw invalidRequest(`${param} must have at most ${rules.maxItems} elements`, param)
}

/** Checks one list of token ids; gives the offset after it. */
function checkTokens(bytes: Uint8Array, at: number, param: string, rules: InputRules): number {
  const plain = plainTokens(bytes, at)
  if (plain.count >= 0) {
    checkCount(plain.count, param, rules)
    return plain.end
  }
  tokens.open(bytes, at)
  while (tokens.next()) {
    const start = tokens.value
    checkToken(bytes, start, tokens.skip(), `${param}[${tokens.count - 1}]`)
    checkCount(tokens.count, param, rules)
  }
  if (tokens.count === 0) throw invalidRequest(`${param} must not be empty`, param)
  return tokens.at
}

/** Checks a list at `at`; gives the offset after it. */
function checkList(bytes: Uint8Array, at: number, rules: InputRules): number {
  const { name } = rules
  list.open(bytes, at)
  if (!list.next()) throw invalidRequest(`${name} must not be empty`, name)
  const kind = kindAt(bytes, list.value)
  if (kind === 'number') return checkTokens(bytes, at, name, rules)
  if (kind !== 'string' && kind !== 'array') throw invalidRequest(complaint(rules), `${name}[0]`)
  do {
    const param = `${name}[${list.count - 1}]`
    if (kindAt(bytes, list.value) !== kind) {
      const wanted = kind === 'string' ? 'a string' : 'an array of token ids'
      throw invalidRequest(`${param} must be ${wanted}, as the elements before it`, param)
    }
    checkCount(list.count, name, rules)
    if (kind === 'string') checkText(bytes, list.value, param, rules)
    else list.resume(checkTokens(bytes, list.value, param, rules))
  } while (list.next())
  return list.at
}

/** Checks the field during the pass over the body, if it is a list. Throws GatewayError naming the element at fault. */
export function inputList(rules: InputRules, names: Place): Inside {
  return { key: rules.name, visit: (bytes, at) => checkList(bytes, at, rules), names }
}

interface Input {
  readonly holdsTokens: boolean
  /** Number of texts, or of lists of token ids. */
  readonly items: number
}

/** Checks the field if it is not a list, and says what it contains. Throws GatewayError naming it. */
export function readInput(body: Body, rules: InputRules): Input {
  const { bytes } = body
  const { name } = rules
  const member = present(body, name)
  if (member === null) throw invalidRequest(`${name} is required`, name)
  if (member.kind === 'string') {
    checkText(bytes, member.start, name, rules)
    return { holdsTokens: false, items: 1 }
  }
  if (member.kind !== 'array') throw invalidRequest(complaint(rules), name)
  const kind = kindAt(bytes, skipSpace(bytes, member.start + 1))
  // The pass over this body has just checked the list.
  return { holdsTokens: kind !== 'string', items: kind === 'number' ? 1 : list.count }
}
