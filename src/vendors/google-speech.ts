// Speech of Gemini's voices: the vendor sends samples, to which the gateway adds a WAV head.

import type { JsonObject } from '../wire/ir.ts'
import { isObject, stringOf } from '../wire/json/value.ts'
import {
  droppedFields,
  speechFormat,
  speechTypes,
  textField,
  unreadable,
  voiceOf,
} from './audio-fields.ts'
import { type Generated, generate, refuseSpeed } from './google-audio.ts'
import type {
  MediaAdapter,
  MediaCall,
  MediaTools,
  MediaUsage,
  Payload,
  SoundReply,
} from './media.ts'
import { piecesOf } from './sound-reply.ts'
import { wavHead } from './wav.ts'

const usualRate = 24_000

async function speak(call: MediaCall, tools: MediaTools): Promise<SoundReply> {
  refuseSpeed(call)
  // Gemini returns samples only: without a requested format the client gets WAV, which players understand.
  const format = speechFormat(call, ['wav', 'pcm'], 'wav')
  const { fields } = call
  const input = textField(fields, 'input') ?? ''
  const instructions = textField(fields, 'instructions')
  const body: JsonObject = {
    contents: [
      {
        role: 'user',
        parts: [{ text: instructions === null ? input : `${instructions}\n\n${input}` }],
      },
    ],
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voiceName(call) } } },
    },
  }
  const reply = await generate(call, tools, body)
  const { samples, rate } = samplesIn(reply)
  const byteCount = samples.reduce((sum, { size }) => sum + size, 0)
  const head = wavHead({ rate, channels: 1, bitsPerSample: 16, byteCount })
  const usage = usageOf(reply)
  return {
    kind: 'sound',
    type: speechTypes.get(format) ?? '',
    chunks: all(format === 'wav' ? [head] : [], samples),
    usage: () => usage,
    dropped: droppedFields(call, ['speed', 'instructions']),
  }
}

/** Gemini's names are capitalized (`Kore`); clients may write them in lower case. */
function voiceName(call: MediaCall): string {
  const voice = voiceOf(call)
  return voice.slice(0, 1).toUpperCase() + voice.slice(1)
}

function samplesIn({ parts, bytesAt }: Generated): { samples: Payload[]; rate: number } {
  let rate = usualRate
  const samples: Payload[] = []
  for (const { inlineData } of parts) {
    if (!isObject(inlineData)) continue
    const payload = bytesAt(inlineData.data)
    if (payload === null) continue
    const { mimeType } = inlineData
    const said = /rate=(\d{4,6})/.exec(stringOf(mimeType))?.[1]
    if (said !== undefined) rate = Number(said)
    samples.push(payload)
  }
  if (samples.length === 0) throw unreadable('the reply has no sound')
  return { samples, rate }
}

function usageOf({ usage }: Generated): MediaUsage | null {
  if (usage === null) return null
  const input = usage.input + usage.cachedInput
  const output = usage.output + usage.reasoning + (usage.audioOutput ?? 0)
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
  }
}

async function* all(
  before: readonly Uint8Array[],
  samples: readonly Payload[],
): AsyncGenerator<Uint8Array> {
  yield* before
  for (const payload of samples) yield* piecesOf(payload)
}

export const geminiSpeech: MediaAdapter = { serve: speak }
