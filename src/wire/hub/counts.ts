// Reads token counts that vendors report, and decides which are plausible.

import type { ChatEvent, JsonObject, JsonValue, Usage } from '../ir.ts'

/** A larger count is implausible. */
export const mostTokens = 1e9
/** Names, in every spelling, of usage members that are token counts or units of a price. */
const counted = /tokens?$|tokencount$|_units$|seconds$/i
const maxDepth = 4

/** A count that is present but not a whole number from 0 to 10^9: the whole usage object is then disbelieved. */
class BadCount extends Error {}

/** The count; null where it is absent. Throws BadCount. */
export function countOf(value: JsonValue | undefined): number | null {
  if (value === undefined || value === null) return null
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number)) throw new BadCount()
  if (number < 0 || number > mostTokens) throw new BadCount()
  return number
}

/** The result of `read` on a usage object; null where a count in it is implausible. */
export function believed<Raw>(raw: Raw, read: (raw: Raw) => Usage | null): Usage | null {
  try {
    return read(raw)
  } catch (error) {
    if (error instanceof BadCount) return null
    throw error
  }
}

/** Whether a usage object from which nothing was read contains implausible counts. Call it only then. */
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

/** The usage of a reply as far as it is known. */
interface UsageSoFar {
  usage: Usage | null
  unbelieved?: boolean
}

/**
 * Updates `known` with what was read of `raw`: a later report replaces an earlier one. An implausible report voids
 * the usage, since whatever came before covered only the beginning.
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

/** For a whole reply: `{ unbelieved: true }` where its usage was implausible, to be spread into it. */
export function unbelieved(read: Usage | null, raw: JsonValue | undefined): { unbelieved?: true } {
  return read === null && isUnbelievable(raw) ? { unbelieved: true } : {}
}

/** Emits the usage as an event, with null for implausible usage. */
export function report(out: ChatEvent[], read: Usage | null, raw: JsonValue | undefined): void {
  if (read !== null || isUnbelievable(raw)) out.push({ type: 'usage', usage: read })
}

/** Splits a count into parts taken one after another; no part exceeds what is left. */
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
