// Test helpers for the Gemini format: frames, their bytes, and folded replies.

import { GatewayError } from '../../errors.ts'
import type { WriterHead } from '../codec.ts'
import { type FoldedReply, fold } from '../hub/fold.ts'
import type { ChatEvent, JsonObject, JsonValue } from '../ir.ts'
import { GeminiFrames } from './frames.ts'
import { geminiHub } from './hub.ts'

const encoder = new TextEncoder()

export const head: WriterHead = { id: 'id-1', model: 'model-1', createdAt: 5, wantsUsage: true }

/** A frame or reply with one candidate. */
export function reply(
  parts: readonly JsonObject[],
  finishReason?: string,
  more: JsonObject = {},
): JsonObject {
  const finish = finishReason === undefined ? {} : { finishReason }
  return {
    candidates: [{ content: { parts: [...parts], role: 'model' }, ...finish, index: 0, ...more }],
    modelVersion: 'gemini-3-pro',
    responseId: 'resp1',
  }
}

export function streamOf(frames: readonly JsonValue[], lineEnd = '\n'): Uint8Array {
  return encoder.encode(
    frames.map((frame) => `data: ${JSON.stringify(frame)}${lineEnd}${lineEnd}`).join(''),
  )
}

/** The events of a stream that arrives in these pieces. */
export function readPieces(pieces: readonly Uint8Array[]): ChatEvent[] {
  const source = new GeminiFrames()
  const reader = geminiHub.reader({})
  const data = [...pieces.flatMap((piece) => source.push(piece)), ...source.end()]
  return [...data.flatMap((text) => reader.frame(text)), ...reader.end()]
}

export function readFrames(frames: readonly JsonValue[]): ChatEvent[] {
  return readPieces([streamOf(frames)])
}

export function readBody(body: JsonValue): readonly ChatEvent[] {
  return geminiHub.readWhole(body, {})
}

/** The folded reply, with the kind of its fault or ''. */
export function comesTo(events: readonly ChatEvent[]): FoldedReply & { readonly fault: string } {
  const fault = events.find((event) => event.type === 'fault')
  return { ...fold(events), fault: fault === undefined ? '' : fault.fault.kind }
}

/** The frames that a client receives for these events, parsed. */
export function written(events: readonly ChatEvent[]): JsonObject[] {
  const writer = geminiHub.writer(head)
  const text = events.map((event) => writer.event(event)).join('') + writer.end()
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => JSON.parse(frame.replace(/^data: /, '')) as JsonObject)
}

/** The field that an error names; `none` where nothing is refused. */
export function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return String(error.detail.param)
    throw error
  }
  return 'none'
}
