// Reads the fields of a client's audio request for adapters.

import { invalidRequest } from '../errors.ts'
import type { JsonObject } from '../wire/ir.ts'
import { isObject, stringOf, stringsIn, text } from '../wire/json/value.ts'
import { type MediaCall, MediaFault, type MediaUsage, type Upload } from './media.ts'

export function textField(fields: JsonObject, name: string): string | null {
  const value = fields[name]
  return text(value)
}

/** A list of texts; empty where the field is absent. */
export function listField(fields: JsonObject, name: string): readonly string[] {
  const value = fields[name]
  return stringsIn(value)
}

/** The voice's name or id. */
export function voiceOf({ fields }: MediaCall): string {
  const { voice } = fields
  if (isObject(voice)) return textField(voice, 'id') ?? ''
  return stringOf(voice)
}

/** The one file of a transcription. */
export function soundOf({ uploads }: MediaCall): Upload {
  const [upload] = uploads
  if (upload === undefined) throw invalidRequest('file is required', 'file')
  return upload
}

/** Names of the fields that the client set and the vendor is not sent, except those that every adapter reads. */
export function droppedFields({ fields }: MediaCall, said: readonly string[]): readonly string[] {
  return Object.keys(fields).filter((name) => {
    const value = fields[name]
    const isSet = value !== null && value !== undefined && value !== false
    return isSet && !always.has(name) && !said.includes(name)
  })
}

const always: ReadonlySet<string> = new Set([
  'model',
  'file',
  'input',
  'voice',
  'response_format',
  'timestamp_granularities',
  'stream',
  'stream_format',
])

/** Throws GatewayError where word timestamps are requested of a model that has none. */
export function refuseWords({ fields, model }: MediaCall): void {
  if (!listField(fields, 'timestamp_granularities').includes('word')) return
  throw invalidRequest(
    `timestamp_granularities word is not possible with ${model}, which returns no timestamps of words`,
    'timestamp_granularities',
  )
}

/** Media types by speech format. */
export const speechTypes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    mp3: 'audio/mpeg',
    opus: 'audio/ogg',
    aac: 'audio/aac',
    flac: 'audio/flac',
    wav: 'audio/wav',
    pcm: 'audio/pcm',
  }),
)

/** The requested format, or `usual`. Throws GatewayError where it is not one of `possible`. */
export function speechFormat(
  { fields, model }: MediaCall,
  possible: readonly string[],
  usual = 'mp3',
): string {
  const format = textField(fields, 'response_format') ?? usual
  if (possible.includes(format)) return format
  throw invalidRequest(
    `response_format ${format} is not possible with ${model}: ${possible.join(', ')} are`,
    'response_format',
  )
}

/** Throws GatewayError where the text is longer than the vendor accepts, in code points. */
export function checkLength(input: string, most: number, model: string): void {
  // A text never has more code points than UTF-16 units.
  if (input.length <= most || [...input].length <= most) return
  throw invalidRequest(`input must be at most ${most} characters long with ${model}`, 'input')
}

interface TokenCounts {
  readonly input: number
  readonly audioInput: number
  readonly output: number
}

/** The tokens of a transcript in OpenAI's form of usage. */
export function transcriptTokens({ input, audioInput, output }: TokenCounts): MediaUsage {
  return {
    type: 'tokens',
    input_tokens: input + audioInput,
    input_token_details: { text_tokens: input, audio_tokens: audioInput },
    output_tokens: output,
    total_tokens: input + audioInput + output,
  }
}

export function unreadable(message: string): MediaFault {
  return new MediaFault({ kind: 'unreadable', message })
}
