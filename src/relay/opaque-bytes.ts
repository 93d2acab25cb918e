// Opaque state in relayed bytes: marked in replies where another channel might get it back, and opened in requests.

import { Buffer } from 'node:buffer'
import type { Candidate } from '../router/route.ts'
import type { ClientDialect } from '../wire/dialect.ts'
import {
  type OpaqueOrigin,
  opaquePrefix,
  unwrapOpaque,
  wrapOpaque,
} from '../wire/hub/opaque-state.ts'
import { skipSpace } from '../wire/json/scan.ts'
import { type Edit, join, splice } from '../wire/json/splice.ts'
import type { Channel } from './channel.ts'

const quote = 0x22
const colon = 0x3a
/** Kept as bytes: a string would be converted at every search. */
const opaqueMark = Buffer.from(opaquePrefix, 'latin1')

/** The dialect and channel that opaque state in a channel's reply belongs to. */
export function originOf(dialect: ClientDialect, { tag }: Channel): OpaqueOrigin {
  return { dialect: dialect.vendor?.opaqueFrom ?? dialect.id, channel: tag }
}

/** Whether to mark opaque state: with only one channel on the identity path there is no other to confuse it with. */
export function marksOpaque({ vendor }: ClientDialect, candidates: readonly Candidate[]): boolean {
  if (vendor?.opaqueMember === undefined || candidates.length < 2) return false
  return candidates.filter(({ identity }) => identity).length > 1
}

/** Marks all opaque state in bytes that hold whole values; returns the same bytes where there is none. */
export function markedOpaque(bytes: Uint8Array, name: string, origin: OpaqueOrigin): Uint8Array {
  const needle = `"${name}"`
  const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const edits: Edit[] = []
  for (let at = found.indexOf(needle); at >= 0; at = found.indexOf(needle, at + 1)) {
    const separator = skipSpace(found, at + needle.length)
    const start = skipSpace(found, separator + 1)
    if (found[separator] !== colon || found[start] !== quote) continue
    const end = found.indexOf(quote, start + 1)
    const value = found.toString('latin1', start + 1, end)
    const marked = isOpaque(value) ? wrapOpaque(value, origin) : null
    if (marked !== null) edits.push({ start: start + 1, end, text: marked })
  }
  return edits.length === 0 ? bytes : join(splice(bytes, edits))
}

/** Whether a value is the vendor's own opaque state: not empty, without escapes, not marked before. */
function isOpaque(value: string): boolean {
  return value !== '' && !value.includes('\\') && !value.startsWith(opaquePrefix)
}

/**
 * Whether marked opaque state occurs anywhere in a request. Wrapping the body in a Buffer would cost more than the
 * search. It searches from the end: the runtime then takes a fifth of the time in prose, and no more in other texts.
 */
export function hasOpaque(bytes: Uint8Array): boolean {
  return Buffer.prototype.lastIndexOf.call(bytes, opaqueMark) >= 0
}

/**
 * The edits that open every marked text in a request, if all of them are of this origin: it can then be relayed. Null
 * where one is of another origin, or stands where the gateway did not put it.
 */
export function openedOpaque(bytes: Uint8Array, origin: OpaqueOrigin): readonly Edit[] | null {
  const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const edits: Edit[] = []
  for (let at = found.indexOf(opaquePrefix); at >= 0; at = found.indexOf(opaquePrefix, at + 1)) {
    const end = found.indexOf(quote, at)
    if (found[at - 1] !== quote || end < 0) return null
    const opened = unwrapOpaque(found.toString('latin1', at, end))
    if (opened?.origin.dialect !== origin.dialect || opened.origin.channel !== origin.channel)
      return null
    // Anybody can forge the content of a mark: its JSON escapes keep it within the string it stands in.
    edits.push({ start: at, end, text: JSON.stringify(opened.value).slice(1, -1) })
    at = end
  }
  return edits
}
