// Reads the settings of a realtime session that determine its cost: audio formats, limits, text read every time.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject } from '../json/value.ts'

export interface SessionFacts {
  /** The vendor's name of the model. */
  readonly model: string | null
  /** The vendor's name of the model that transcribes the input audio. */
  readonly transcriber: string | null
  /** Bytes per second of audio after decoding. */
  readonly inputBytesPerSecond: number
  readonly outputBytesPerSecond: number
  /** Whether replies are spoken. */
  readonly speaks: boolean
  readonly maxOutputTokens: number | null
  /** Bytes of instructions and tools. */
  readonly textBytes: number
}

const pcmBytesPerSample = 2
const pcmRate = 24_000
/** Bytes per second of G.711: 8 kHz with one byte per sample. */
const telephone = 8_000

/** The facts of a session before its settings are known. */
export const usualFacts: SessionFacts = {
  model: null,
  transcriber: null,
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

/** Reads `{type: 'audio/pcm', rate}` or the beta's form, `pcm16`, `g711_ulaw`. */
function bytesPerSecond(format: JsonValue | undefined): number {
  const type = isObject(format) ? format.type : format
  if (typeof type !== 'string') return pcmBytesPerSample * pcmRate
  if (/g711|pcmu|pcma/.test(type)) return telephone
  const rate = within(format, 'rate')
  return pcmBytesPerSample * (typeof rate === 'number' && rate > 0 ? rate : pcmRate)
}

/** Reads the `session` that a vendor reports to be in force, in the current form or in the beta's. */
export function sessionFacts(session: JsonObject): SessionFacts {
  const modalities = session.output_modalities ?? session.modalities
  const most = session.max_output_tokens ?? session.max_response_output_tokens
  const { instructions, tools, model } = session
  const transcriber =
    within(session, 'audio', 'input', 'transcription', 'model') ??
    within(session, 'input_audio_transcription', 'model')
  return {
    model: typeof model === 'string' ? model : null,
    transcriber: typeof transcriber === 'string' ? transcriber : null,
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
