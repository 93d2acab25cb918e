// Bits of an encoded picture, as text while they are assembled.

export function bitsOf(value: number, count: number): string {
  return count === 0 ? '' : value.toString(2).padStart(count, '0')
}

/** The last byte is padded with ones or zeros. */
export function bytesOf(bits: string, fill: '0' | '1'): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8))
  for (let at = 0; at < bytes.length; at += 1)
    bytes[at] = Number.parseInt(bits.slice(at * 8, at * 8 + 8).padEnd(8, fill), 2)
  return bytes
}
