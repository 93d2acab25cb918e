// ElevenLabs' speech, in voices named by id.

import { invalidRequest } from '../errors.ts'
import type { JsonObject } from '../wire/ir.ts'
import {
  checkLength,
  droppedFields,
  speechFormat,
  speechTypes,
  textField,
  voiceOf,
} from './audio-fields.ts'
import type { MediaCall, MediaTools, SoundReply } from './media.ts'
import { pathSegment } from './path-segment.ts'
import { piecesOf, soundReply } from './sound-reply.ts'
import { wavHead } from './wav.ts'

const pcmRate = 24_000
/** ElevenLabs' names for OpenAI's formats (API reference, "Create speech", `output_format`). */
const outputs: ReadonlyMap<string, string> = new Map(
  Object.entries({
    mp3: 'mp3_44100_128',
    opus: 'opus_48000_128',
    pcm: `pcm_${pcmRate}`,
    // The gateway writes the WAV head itself.
    wav: `pcm_${pcmRate}`,
  }),
)

/** The most characters of a request (ElevenLabs, "Models"). */
const maxChars: readonly (readonly [model: RegExp, most: number])[] = [
  [/^eleven_(flash|turbo)_v2_5/, 40_000],
  [/^eleven_(flash|turbo)_v2$/, 30_000],
  [/^eleven_v3/, 5_000],
]
const maxCharsOtherwise = 10_000
const leastSpeed = 0.7
const mostSpeed = 1.2

export async function speak(call: MediaCall, tools: MediaTools): Promise<SoundReply> {
  const { model } = call
  const input = textField(call.fields, 'input') ?? ''
  checkLength(input, maxChars.find(([name]) => name.test(model))?.[1] ?? maxCharsOtherwise, model)
  const format = speechFormat(call, [...outputs.keys()])
  const settings = settingsOf(call.fields)
  const body = { text: input, model_id: model, ...settings }
  const stream = await tools.open({
    method: 'POST',
    url: `${tools.baseUrl}/v1/text-to-speech/${pathSegment(voiceOf(call), 'voice')}/stream?output_format=${outputs.get(format)}`,
    body: [new TextEncoder().encode(JSON.stringify(body))],
  })
  const speech = await soundReply(stream, speechTypes.get(format) ?? '', tools)
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

/** A WAV head contains the length of the audio, so it is written once all samples have arrived. */
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
