// Vectors in JSON and in base64: little-endian 32-bit floats, as OpenAI's embeddings put them.

import { UnfitReply } from '../codec.ts'

/** The text is not base64 of whole 32-bit floats, or the list holds what is no number. */
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

/** Base64 as a list of numbers. Throws BadVector. */
export function unpackVector(text: string): number[] {
  const bytes = decoded(text)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const numbers = new Array<number>(bytes.length / floatBytes)
  for (let at = 0; at < numbers.length; at++) {
    const number = view.getFloat32(at * floatBytes, true)
    // JSON has no way to say it.
    if (!Number.isFinite(number)) throw new BadVector(`element ${at} is not finite`)
    numbers[at] = number
  }
  return numbers
}

/** Refuses what `unpackVector` could not read. Throws BadVector. */
export function checkPacked(text: string): void {
  decoded(text)
}
