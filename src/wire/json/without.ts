// Removes or renames members in a JSON object's bytes and keeps the rest as it was written.

import type { Span } from '../request.ts'
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

/** The edits with those that cut these ordered spans out, in which nothing else is then edited. */
export function cutting(edits: readonly Edit[], spans: readonly Span[]): Edit[] {
  let at = 0
  const ordered = [...edits].sort((a, b) => a.start - b.start)
  const outside = ordered.filter(({ start }) => {
    while ((spans[at]?.end ?? start + 1) <= start) at++
    return start < (spans[at]?.start ?? start + 1)
  })
  return [...outside, ...spans.map((span) => ({ ...span, text: '' }))]
}
