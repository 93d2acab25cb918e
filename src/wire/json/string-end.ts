// Finds the end of a long JSON string with escaped quotes, 32 bytes at a time, with WebAssembly vector instructions.

import { stringEndCode } from './string-end-code.ts'

interface Finder {
  readonly memory: Uint8Array
  /** See `string-end.wat`. */
  readonly find: (end: number, carried: number) => number
}

/** Bytes copied for the first call of `find`, then four times as many each: most strings end soon. Multiples of 32. */
const firstBytes = 1_024
const mostBytes = 16_384
/** Bytes that `find` may read after the end. */
const blockBytes = 32

/** Undefined: not tried yet; null: this machine lacks the instructions. */
let finder: Finder | null | undefined

function compiled(): Finder | null {
  if (typeof WebAssembly === 'undefined') return null
  try {
    const code = new WebAssembly.Module(Uint8Array.fromBase64(stringEndCode))
    const { memory, find } = new WebAssembly.Instance(code).exports
    if (!(memory instanceof WebAssembly.Memory)) return null
    return { memory: new Uint8Array(memory.buffer), find: find as Finder['find'] }
  } catch (error) {
    // The code is constant, so that only missing vector instructions can make it fail.
    if (error instanceof WebAssembly.CompileError) return null
    throw error
  }
}

/** Whether this machine can run `blockwiseEnd`. */
export function hasBlocks(): boolean {
  finder ??= compiled()
  return finder !== null
}

/** The offset after a string that continues at `from`, not within an escape; -1 if it has no end. */
export function blockwiseEnd(bytes: Uint8Array, from: number): number {
  finder ??= compiled()
  if (finder === null) throw new Error('this runtime does not support SIMD')
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
