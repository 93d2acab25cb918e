// Reads pictures as viewers do, so that damage is noticed.

import { Buffer } from 'node:buffer'
import { crc32, inflateSync } from 'node:zlib'

/** Bytes per pixel at eight bits, by the colour type in a PNG's head. */
const pixelBytes: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

/** `WIDTHxHEIGHT` of a complete PNG. Throws if a checksum is wrong or pixels are missing. */
export function pngSize(file: Uint8Array): string {
  const bytes = Buffer.from(file)
  if (bytes.toString('latin1', 1, 4) !== 'PNG') throw new Error('no PNG')
  const data: Buffer[] = []
  let last = ''
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const body = bytes.subarray(at + 4, at + 8 + length)
    if (crc32(body) !== bytes.readUInt32BE(at + 8 + length)) throw new Error('a wrong checksum')
    last = body.toString('latin1', 0, 4)
    if (last === 'IDAT') data.push(body.subarray(4))
    at += length + 12
  }
  if (last !== 'IEND') throw new Error('cut short')
  const [width, height, colour] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20), bytes[25] ?? 0]
  const rowBytes = 1 + width * (pixelBytes[colour] ?? Number.NaN)
  if (inflateSync(Buffer.concat(data)).length !== height * rowBytes)
    throw new Error('not as many pixels as it says')
  return `${width}x${height}`
}
