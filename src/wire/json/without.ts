// Takes one member out of a JSON object's bytes, leaving the rest as it was written.

import { members, skipSpace, textOf } from './scan.ts'
import { join, splice } from './splice.ts'

/** The document without the top-level member, and that member's value as JSON text; null where it is not there. */
export function withoutMember(
  bytes: Uint8Array,
  key: string,
): { readonly bytes: Uint8Array; readonly value: string } | null {
  const found = members(bytes, skipSpace(bytes, 0))
  const at = found.findIndex((member) => member.key === key)
  const member = found[at]
  if (member === undefined) return null
  const next = found[at + 1]
  const before = found[at - 1]
  // With the comma that joins it to a neighbour.
  const start = next === undefined && before !== undefined ? before.end : member.keyAt
  const end = next === undefined ? member.end : next.keyAt
  return {
    bytes: join(splice(bytes, [{ start, end, text: '' }])),
    value: textOf(bytes, member.start, member.end),
  }
}
