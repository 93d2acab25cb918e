// Counts of tokens as vendors report them: what is one, what is none, and what cannot be believed.

import type { ChatEvent, JsonObject, JsonValue, Usage } from '../ir.ts'

/** No request has more tokens than this. */
const mostTokens = 1e9
/** Members of a usage object that are counts of tokens, in every spelling, and such as are units of a price. */
const counted = /tokens?$|tokencount$|_units$|seconds$/i
const maxDepth = 4

/** A count that is there and is no whole number from 0 to 10^9: nothing that stands with it is believed. */
class BadCount extends Error {}

/** null where there is none. Throws BadCount. */
export function countOf(value: JsonValue | undefined): number | null {
  if (value === undefined || value === null) return null
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number)) throw new BadCount()
  if (number < 0 || number > mostTokens) throw new BadCount()
  return number
}

/** What `read` makes of a usage object; null where a count in it cannot be believed. */
export function believed<Raw>(raw: Raw, read: (raw: Raw) => Usage | null): Usage | null {
  try {
    return read(raw)
  } catch (error) {
    if (error instanceof BadCount) return null
    throw error
  }
}

/** Whether a usage object that nothing was read of reports all the same. Asked only then. */
export function isUnbelievable(raw: JsonValue | undefined, depth = 0): boolean {
  if (typeof raw !== 'object' || raw === null || depth > maxDepth) return false
  return Object.entries(raw).some(([name, value]) => {
    if (typeof value === 'object') return isUnbelievable(value, depth + 1)
    return counted.test(name) && isBad(value, /seconds$/i.test(name))
  })
}

function isBad(value: JsonValue | undefined, mayHaveParts: boolean): boolean {
  if (mayHaveParts && typeof value === 'number') return !(value >= 0 && value <= mostTokens)
  try {
    countOf(value)
    return false
  } catch (error) {
    if (error instanceof BadCount) return true
    throw error
  }
}

/** What a reply's usage is known to be until now. */
interface UsageSoFar {
  usage: Usage | null
  unbelieved?: boolean
}

/**
 * Takes over what was read of `raw`; a later report stands above an earlier one, and one that cannot be believed above
 * both, as what came before was only the beginning.
 */
export function take(known: UsageSoFar, read: Usage | null, raw: JsonObject): void {
  if (read !== null) {
    known.usage = read
    known.unbelieved = false
  } else if (isUnbelievable(raw)) {
    known.usage = null
    known.unbelieved = true
  }
}

/** The mark of a whole reply whose usage was not believed, to be spread into it. */
export function unbelieved(read: Usage | null, raw: JsonValue | undefined): { unbelieved?: true } {
  return read === null && isUnbelievable(raw) ? { unbelieved: true } : {}
}

/** The same as an event of a reply. */
export function report(out: ChatEvent[], read: Usage | null, raw: JsonValue | undefined): void {
  if (read !== null || isUnbelievable(raw)) out.push({ type: 'usage', usage: read })
}

/** Takes parts out of a count one after another, none of them beyond what is left. */
export class Remainder {
  left: number

  constructor(whole: number) {
    this.left = whole
  }

  take(wanted: number): number {
    const taken = Math.min(this.left, Math.max(0, wanted))
    this.left -= taken
    return taken
  }
}
