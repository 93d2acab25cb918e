// Finds where a long JSON string with escaped quotes ends, 32 bytes at a time, by a few instructions of WebAssembly.

import { stringEndCode } from './string-end-code.ts'

interface Finder {
  readonly memory: Uint8Array
  /** As `string-end.wat` says. */
  readonly find: (end: number, carried: number) => number
}

/** Copied at first, then four times as much each time: most strings end soon. Whole blocks of 32. */
const firstBytes = 1_024
const mostBytes = 16_384
/** What `find` may read behind the end. */
const blockBytes = 32

/** undefined: not tried yet; null: this machine has no such instructions. */
let finder: Finder | null | undefined

function compiled(): Finder | null {
  if (typeof WebAssembly === 'undefined') return null
  try {
    const code = new WebAssembly.Module(Uint8Array.fromBase64(stringEndCode))
    const { memory, find } = new WebAssembly.Instance(code).exports
    if (!(memory instanceof WebAssembly.Memory)) return null
    return { memory: new Uint8Array(memory.buffer), find: find as Finder['find'] }
  } catch (error) {
    // The bytes are always the same: what does not compile them lacks vectors.
    if (error instanceof WebAssembly.CompileError) return null
    throw error
  }
}

/** Whether `blockwiseEnd` may be called here. */
export function hasBlocks(): boolean {
  finder ??= compiled()
  return finder !== null
}

/** The offset behind a string that goes on at `from`, where no escape is under way; -1 where it has no end. */
export function blockwiseEnd(bytes: Uint8Array, from: number): number {
  finder ??= compiled()
  if (finder === null) throw new Error('this machine has no vectors')
  const { memory, find } = finder
  let carried = 0
  let most = firstBytes
  for (let at = from; at < bytes.length; ) {
    const length = Math.min(most, bytes.length - at)
    memory.set(bytes.subarray(at, at + length))
    memory.fill(0, length, length + blockBytes)
    const found = find(length, carried)
    if (found >= 0) return at + found + 1
    carried = -1 - found
    at += length
    most = Math.min(mostBytes, most * 4)
  }
  return -1
}
