// Opaque state in replies that are handed through: marked where another account might be brought it, and opened.

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
/** As bytes: a text would be made into them at every search. */
const opaqueMark = Buffer.from(opaquePrefix, 'latin1')

/** Whose the opaque state in a channel's reply is. */
export function originOf(dialect: ClientDialect, { tag }: Channel): OpaqueOrigin {
  return { dialect: dialect.vendor?.opaqueFrom ?? dialect.id, channel: tag }
}

/** Where one channel alone may be asked in a format, its opaque state needs no mark to find it again. */
export function marksOpaque({ vendor }: ClientDialect, candidates: readonly Candidate[]): boolean {
  if (vendor?.opaqueMember === undefined || candidates.length < 2) return false
  return candidates.filter(({ identity }) => identity).length > 1
}

/** The bytes, whole values in them, with all opaque state marked; the same bytes where there is none. */
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

/** A text of the vendor's own: not empty, in one piece, not marked before. */
function isOpaque(value: string): boolean {
  return value !== '' && !value.includes('\\') && !value.startsWith(opaquePrefix)
}

/**
 * Whether opaque state that was marked here stands anywhere in a request. A buffer made of the body would cost more than
 * the search. It is from the end: the runtime then takes a fifth of the time in prose, and no more in other texts.
 */
export function hasOpaque(bytes: Uint8Array): boolean {
  return Buffer.prototype.lastIndexOf.call(bytes, opaqueMark) >= 0
}

/**
 * What opens every marked text in a request, where all of them are of this origin: the request can go on as it is. Null
 * where one is another's, or stands where it was not put.
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
    // Anybody can make up what is in a mark: it must not reach beyond the text it stands in.
    edits.push({ start: at, end, text: JSON.stringify(opened.value).slice(1, -1) })
    at = end
  }
  return edits
}
