// A scene as a PNG (ISO/IEC 15948): 8-bit palette, one pixel a byte.

import { crc32, deflateSync } from 'node:zlib'
import type { Scene } from './scene.ts'

const signature = [137, 80, 78, 71, 13, 10, 26, 10]
const paletteColour = 3

export interface PngOptions {
  readonly width: number
  readonly height: number
  /** The field behind the shapes is left clear. */
  readonly transparent?: boolean
}

/** Width and height in pixels, at least 1. */
export function png(scene: Scene, { width, height, transparent = false }: PngOptions): Uint8Array {
  const head = new Uint8Array(13)
  const view = new DataView(head.buffer)
  view.setUint32(0, width)
  view.setUint32(4, height)
  head.set([8, paletteColour, 0, 0, 0], 8)
  const rows = new Uint8Array(height * (width + 1))
  for (let y = 0; y < height; y += 1) {
    // Each row begins with its filter, of which 0 is none.
    const start = y * (width + 1) + 1
    scene.row((y + 0.5) / height, rows.subarray(start, start + width))
  }
  return joined([
    Uint8Array.from(signature),
    chunk('IHDR', head),
    chunk('PLTE', Uint8Array.from(scene.colours.flat())),
    ...(transparent ? [chunk('tRNS', Uint8Array.of(0, 0))] : []),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', new Uint8Array(0)),
  ])
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(data.length + 12)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, data.length)
  new TextEncoder().encodeInto(type, bytes.subarray(4))
  bytes.set(data, 8)
  view.setUint32(data.length + 8, crc32(bytes.subarray(4, data.length + 8)))
  return bytes
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
