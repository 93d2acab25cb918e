// ElevenLabs: texts spoken in voices named by id, and recordings written down, each in a form of its own.

import { type Fault, invalidRequest } from '../errors.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import {
  checkLength,
  droppedFields,
  speechFormat,
  speechTypes,
  textField,
  voiceOf,
} from './audio-fields.ts'
import { writeDown } from './elevenlabs-scribe.ts'
import type { MediaCall, MediaTools, SoundReply } from './media.ts'
import { pathSegment } from './path-segment.ts'
import { piecesOf, soundReply } from './sound-reply.ts'
import type { Vendor } from './vendor.ts'
import { wavHead } from './wav.ts'

const pcmRate = 24_000
/** OpenAI's formats in ElevenLabs' words (API reference, "Create speech", `output_format`). */
const outputs: Readonly<Record<string, string>> = {
  mp3: 'mp3_44100_128',
  opus: 'opus_48000_128',
  pcm: `pcm_${pcmRate}`,
  // Its head is written here.
  wav: `pcm_${pcmRate}`,
}

/** Characters a request may have (ElevenLabs, "Models"). */
const maxChars: readonly (readonly [model: RegExp, most: number])[] = [
  [/^eleven_(flash|turbo)_v2_5/, 40_000],
  [/^eleven_(flash|turbo)_v2$/, 30_000],
  [/^eleven_v3/, 5_000],
]
const maxCharsOtherwise = 10_000
const leastSpeed = 0.7
const mostSpeed = 1.2

async function speak(call: MediaCall, tools: MediaTools): Promise<SoundReply> {
  const { model } = call
  const input = textField(call.fields, 'input') ?? ''
  checkLength(input, maxChars.find(([name]) => name.test(model))?.[1] ?? maxCharsOtherwise, model)
  const format = speechFormat(call, Object.keys(outputs))
  const settings = settingsOf(call.fields)
  const body = { text: input, model_id: model, ...settings }
  const stream = await tools.open({
    method: 'POST',
    url: `${tools.baseUrl}/v1/text-to-speech/${pathSegment(voiceOf(call), 'voice')}/stream?output_format=${outputs[format]}`,
    body: [new TextEncoder().encode(JSON.stringify(body))],
  })
  const speech = await soundReply(stream, speechTypes[format] ?? '', tools)
  const reply = { ...speech, dropped: droppedFields(call, ['speed']) }
  return format === 'wav' ? { ...reply, chunks: asWav(reply.chunks, tools) } : reply
}

function settingsOf({ speed }: JsonObject): JsonObject {
  if (typeof speed !== 'number' || speed === 1) return {}
  if (speed < leastSpeed || speed > mostSpeed) {
    throw invalidRequest(
      `speed must be between ${leastSpeed} and ${mostSpeed} with this model`,
      'speed',
    )
  }
  return { voice_settings: { speed } }
}

/** A head tells how long the sound is: it is written when all of it has come. */
async function* asWav(
  chunks: AsyncIterable<Uint8Array>,
  { spool }: MediaTools,
): AsyncGenerator<Uint8Array> {
  const keeper = spool.keeper('audio/pcm')
  for await (const chunk of chunks) keeper.push(chunk)
  const samples = keeper.end()
  yield wavHead({ rate: pcmRate, channels: 1, bitsPerSample: 16, byteCount: samples.size })
  yield* piecesOf(samples)
}

/** `{"detail": {"status", "message"}}`, or a list of what is wrong with fields (ElevenLabs, "Errors"). */
function refine(fault: Fault, status: number, body: string): Fault {
  const detail = detailIn(body)
  if (detail === null) return fault
  const { message, status: name } = detail
  const shown = typeof message === 'string' ? { ...fault, message: message.slice(0, 500) } : fault
  switch (name) {
    // Answered 401: as a refused key it would disable the channel.
    case 'quota_exceeded':
    case 'payment_required':
      return { ...shown, kind: 'quota' }
    case 'voice_not_found':
    case 'invalid_voice_id':
      return { ...shown, kind: 'rejected', param: 'voice' }
    case 'model_not_found':
    case 'invalid_model_id':
      return { ...shown, kind: 'unknown_model' }
    case 'too_many_concurrent_requests':
    case 'concurrent_limit_exceeded':
      return { ...shown, kind: 'rate_limited' }
    case 'system_busy':
      return { ...shown, kind: 'overloaded' }
    default:
      return status === 404 ? { ...shown, kind: 'rejected', param: null } : shown
  }
}

function detailIn(body: string): JsonObject | null {
  try {
    const value = JSON.parse(body) as JsonValue
    return isObject(value) && isObject(value.detail) ? value.detail : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

export const elevenlabs: Vendor = {
  id: 'elevenlabs',
  ownedBy: 'elevenlabs',
  baseUrl: 'https://api.elevenlabs.io',
  environment: 'ELEVENLABS_API_KEY',
  speaks: ['openai-speech', 'openai-transcriptions'],
  quirks: {
    usageOnStream: 'always',
    refine,
  },
  // Only adapters call it, at addresses of their own.
  address: (_call, { baseUrl }) => baseUrl,
  signature: { headers: ({ key }) => (key === null ? [] : [['xi-api-key', key]]) },
  adapters: { 'openai-speech': { serve: speak }, 'openai-transcriptions': { serve: writeDown } },
}
