// Finds a member of a JSON document by its path, and removes it without touching other bytes.

import { ElementScan, MemberScan, skipSpace } from '../json/scan.ts'
import type { Edit } from '../json/splice.ts'

const COMMA = 0x2c

/** A member's value, and the edit that removes the whole member. */
interface Place {
  readonly start: number
  readonly end: number
  readonly cut: Edit
}

function memberAt(bytes: Uint8Array, at: number, name: string): Place | null {
  const scan = new MemberScan()
  scan.open(bytes, at)
  let comma = -1
  let found: Place | null = null
  while (scan.next()) {
    const keyAt = scan.keyAt
    const { value } = scan
    const matches = scan.is(name)
    const end = scan.skip()
    const next = skipSpace(bytes, end)
    if (matches) {
      const followed = bytes[next] === COMMA
      const cut = followed
        ? { start: keyAt, end: skipSpace(bytes, next + 1), text: '' }
        : { start: comma < 0 ? keyAt : comma, end, text: '' }
      found = { start: value, end, cut }
    }
    comma = next
  }
  return found
}

function elementAt(bytes: Uint8Array, at: number, index: number): number {
  const scan = new ElementScan()
  scan.open(bytes, at)
  while (scan.next()) if (scan.count - 1 === index) return scan.value
  return -1
}

/** The member to which `path` leads from the object at `at`; a number in the path selects a list's element. */
export function placeOf(bytes: Uint8Array, at: number, path: readonly string[]): Place | null {
  let value = at
  for (const [depth, name] of path.entries()) {
    const first = bytes[value]
    if (first === 0x5b) {
      value = elementAt(bytes, value, Number(name))
      if (value < 0) return null
    } else if (first === 0x7b) {
      const place = memberAt(bytes, value, name)
      if (place === null || depth === path.length - 1) return place
      value = place.start
    } else return null
  }
  return null
}
