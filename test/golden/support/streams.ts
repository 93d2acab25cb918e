// Divides vendors' streams into pieces and reads them as the relay does.

import type { DialectId } from '../../../src/wire/formats.ts'
import type { ChatEvent } from '../../../src/wire/ir.ts'
import type { FrameSource } from '../../../src/wire/reply.ts'
import { SseFrames } from '../../../src/wire/sse-frames.ts'
import { vendorHub, vendorOf } from '../../support/dialects.ts'

export type Pieces = readonly Uint8Array[]

/** The bytes in pieces of `size`. */
export function chopped(bytes: Uint8Array, size: number): Pieces {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
  return pieces
}

/** The data of the frames that arrive in `pieces`. */
export function framesOf(dialect: DialectId, pieces: Pieces): string[] {
  const source: FrameSource = vendorOf(dialect).frames?.() ?? new SseFrames()
  return [...pieces.flatMap((piece) => [...source.push(piece)]), ...source.end()]
}

export function readStream(dialect: DialectId, pieces: Pieces): ChatEvent[] {
  const reader = vendorHub(dialect).reader({})
  const events = framesOf(dialect, pieces).flatMap((data) => [...reader.frame(data)])
  return [...events, ...reader.end()]
}
