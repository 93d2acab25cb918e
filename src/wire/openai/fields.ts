// Finds a few members of a JSON object in one pass, for checks that do not parse values.

import type { MemberScan } from '../json/scan.ts'

/** The index in `names` of the current member, or -1. */
function fieldIndex(scan: MemberScan, names: readonly string[]): number {
  for (let i = 0; i < names.length; i++) if (scan.is(names[i] ?? '')) return i
  return -1
}

/** Offsets of an object's member values, by name; -1 where absent. Each name must occur at most once. */
export class Fields {
  readonly names: readonly string[]
  readonly at: number[]
  end = 0
  /** The object has members of other names. */
  hasOthers = false

  constructor(...names: string[]) {
    this.names = names
    this.at = names.map(() => -1)
  }

  read(bytes: Uint8Array, scan: MemberScan, start: number): void {
    this.at.fill(-1)
    this.hasOthers = false
    scan.open(bytes, start)
    while (scan.next()) {
      const index = fieldIndex(scan, this.names)
      if (index >= 0) this.at[index] = scan.value
      else this.hasOthers = true
    }
    this.end = scan.at
  }

  /** The offset of a value that is present and not null, else -1. */
  value(bytes: Uint8Array, index: number): number {
    const at = this.at[index] ?? -1
    return at >= 0 && bytes[at] === 0x6e ? -1 : at
  }
}
