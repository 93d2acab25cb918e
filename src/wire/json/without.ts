// Removes or renames members in a JSON object's bytes and keeps the rest as it was written.

import { type Member, members, skipSpace, textOf } from './scan.ts'
import { type Edit, join, splice } from './splice.ts'

/** The document without the top-level member, and that member's value as JSON text; null if there is no such member. */
export function withoutMember(
  bytes: Uint8Array,
  key: string,
): { readonly bytes: Uint8Array; readonly value: string } | null {
  const found = members(bytes, skipSpace(bytes, 0))
  const member = found.find((each) => each.key === key)
  if (member === undefined) return null
  return {
    bytes: join(
      splice(
        bytes,
        removals(found, (each) => each === member),
      ),
    ),
    value: textOf(bytes, member.start, member.end),
  }
}

/** Edits that remove the members for which `gone` is true, each with the comma that joins it to a neighbour. */
export function removals(found: readonly Member[], gone: (member: Member) => boolean): Edit[] {
  const edits: Edit[] = []
  const lastKept = found.findLastIndex((member) => !gone(member))
  for (const [at, member] of found.entries()) {
    const next = found[at + 1]
    if (at > lastKept || next === undefined) break
    if (gone(member)) edits.push({ start: member.keyAt, end: next.keyAt, text: '' })
  }
  const [first, last] = [found[lastKept + 1], found.at(-1)]
  if (first !== undefined && last !== undefined) {
    const start = found[lastKept]?.end ?? first.keyAt
    edits.push({ start, end: last.end, text: '' })
  }
  return edits
}

/** The edit that renames a member whose key is plain ASCII. */
export function renaming(member: Member, name: string): Edit {
  const end = member.keyAt + member.key.length + 2
  return { start: member.keyAt, end, text: JSON.stringify(name) }
}
