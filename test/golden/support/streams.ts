// Vendors' streams cut into pieces and read, as the relay reads them.

import type { Dialect } from '../../../src/wire/dialect.ts'
import type { ChatEvent } from '../../../src/wire/ir.ts'
import type { FrameSource } from '../../../src/wire/reply.ts'
import { SseFrames } from '../../../src/wire/sse-frames.ts'

export type Pieces = readonly Uint8Array[]

/** The bytes in pieces of `size`. */
export function chopped(bytes: Uint8Array, size: number): Pieces {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
  return pieces
}

/** The data of the frames that arrive in `pieces`. */
export function framesOf({ frames }: Dialect, pieces: Pieces): string[] {
  const source: FrameSource = frames?.() ?? new SseFrames()
  return [...pieces.flatMap((piece) => [...source.push(piece)]), ...source.end()]
}

export function readStream(dialect: Dialect, pieces: Pieces): ChatEvent[] {
  const reader = dialect.hub?.reader({})
  if (reader === undefined) throw new Error(`${dialect.id} has no reader`)
  const events = framesOf(dialect, pieces).flatMap((data) => [...reader.frame(data)])
  return [...events, ...reader.end()]
}
