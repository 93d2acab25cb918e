// Converts vectors between JSON lists and base64 of little-endian 32-bit floats, as OpenAI encodes them.

import { UnfitReply } from '../codec.ts'

/** The text is not base64 of whole 32-bit floats, or the list contains something other than numbers. */
export class BadVector extends UnfitReply {
  constructor(what: string) {
    super(`a vector of the reply: ${what}`)
  }
}

const floatBytes = 4
const strict = { lastChunkHandling: 'strict' } as const

/** A list of numbers as base64. Throws BadVector. */
export function packVector(numbers: readonly unknown[]): string {
  const bytes = new Uint8Array(numbers.length * floatBytes)
  const view = new DataView(bytes.buffer)
  for (const [at, number] of numbers.entries()) {
    if (typeof number !== 'number') throw new BadVector(`element ${at} is no number`)
    view.setFloat32(at * floatBytes, number, true)
  }
  return bytes.toBase64()
}

function decoded(text: string): Uint8Array {
  let bytes: Uint8Array
  try {
    bytes = Uint8Array.fromBase64(text, strict)
  } catch {
    throw new BadVector('not base64')
  }
  if (bytes.length % floatBytes !== 0) throw new BadVector('not whole 32-bit floats')
  return bytes
}

/** Decodes base64 to a list of numbers. Throws BadVector. */
export function unpackVector(text: string): number[] {
  const bytes = decoded(text)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const numbers = new Array<number>(bytes.length / floatBytes)
  for (let at = 0; at < numbers.length; at++) {
    const number = view.getFloat32(at * floatBytes, true)
    // JSON cannot express such a number.
    if (!Number.isFinite(number)) throw new BadVector(`element ${at} is not finite`)
    numbers[at] = number
  }
  return numbers
}

/** Throws BadVector for a text that `unpackVector` could not read as floats. */
export function checkPacked(text: string): void {
  decoded(text)
}
