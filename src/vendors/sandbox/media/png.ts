// Encodes a scene as a PNG (ISO/IEC 15948): 8-bit palette, one byte per pixel.

import { crc32, deflateSync } from 'node:zlib'
import type { Scene } from './scene.ts'

const signature = [137, 80, 78, 71, 13, 10, 26, 10]
const paletteColour = 3

interface PngOptions {
  readonly width: number
  readonly height: number
  /** The background behind the shapes is transparent. */
  readonly transparent?: boolean
}

/** Width and height in pixels, at least 1. */
export function png(scene: Scene, { width, height, transparent = false }: PngOptions): Uint8Array {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width)
  head.writeUInt32BE(height, 4)
  head.set([8, paletteColour, 0, 0, 0], 8)
  const rows = new Uint8Array(height * (width + 1))
  for (let y = 0; y < height; y += 1) {
    // Each row begins with its filter; 0 means none.
    const start = y * (width + 1) + 1
    scene.row((y + 0.5) / height, rows.subarray(start, start + width))
  }
  return Buffer.concat([
    Buffer.from(signature),
    chunk('IHDR', head),
    chunk('PLTE', Uint8Array.from(scene.colours.flat())),
    ...(transparent ? [chunk('tRNS', Uint8Array.of(0, 0))] : []),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', new Uint8Array(0)),
  ])
}

function chunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(data.length + 12)
  bytes.writeUInt32BE(data.length)
  bytes.write(type, 4)
  bytes.set(data, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), data.length + 8)
  return bytes
}
