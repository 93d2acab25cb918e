// What of a realtime session's settings its cost depends on: formats of sound, bounds, the text that is always read.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject } from '../json/value.ts'

export interface SessionFacts {
  /** As the vendor names it. */
  readonly model: string | null
  /** Of sound as it is when decoded. */
  readonly inputBytesPerSecond: number
  readonly outputBytesPerSecond: number
  /** Replies are spoken. */
  readonly speaks: boolean
  readonly maxOutputTokens: number | null
  /** Instructions and tools, in bytes. */
  readonly textBytes: number
}

const pcmBytesPerSample = 2
const pcmRate = 24_000
/** G.711, eight kilohertz and a byte for each sample. */
const telephone = 8_000

/** Of a session that has not said. */
export const usualFacts: SessionFacts = {
  model: null,
  inputBytesPerSecond: pcmBytesPerSample * pcmRate,
  outputBytesPerSecond: pcmBytesPerSample * pcmRate,
  speaks: true,
  maxOutputTokens: null,
  textBytes: 0,
}

function within(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let found = value
  for (const name of path) found = isObject(found) ? found[name] : undefined
  return found
}

/** `{type: 'audio/pcm', rate}` or, in the trial's form, `pcm16`, `g711_ulaw`. */
function bytesPerSecond(format: JsonValue | undefined): number {
  const type = isObject(format) ? format.type : format
  if (typeof type !== 'string') return pcmBytesPerSample * pcmRate
  if (/g711|pcmu|pcma/.test(type)) return telephone
  const rate = within(format, 'rate')
  return pcmBytesPerSample * (typeof rate === 'number' && rate > 0 ? rate : pcmRate)
}

/** Of the `session` that a vendor says is in force, in the present form or in the trial's. */
export function sessionFacts(session: JsonObject): SessionFacts {
  const modalities = session.output_modalities ?? session.modalities
  const most = session.max_output_tokens ?? session.max_response_output_tokens
  const { instructions, tools, model } = session
  return {
    model: typeof model === 'string' ? model : null,
    inputBytesPerSecond: bytesPerSecond(
      within(session, 'audio', 'input', 'format') ?? session.input_audio_format,
    ),
    outputBytesPerSecond: bytesPerSecond(
      within(session, 'audio', 'output', 'format') ?? session.output_audio_format,
    ),
    speaks: !Array.isArray(modalities) || modalities.includes('audio'),
    maxOutputTokens: typeof most === 'number' && most > 0 ? most : null,
    textBytes: lengthOf(instructions) + lengthOf(tools),
  }
}

function lengthOf(value: JsonValue | undefined): number {
  if (value == null) return 0
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return new TextEncoder().encode(text).length
}
