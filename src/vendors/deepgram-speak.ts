// Deepgram's speech: texts spoken in a form of its own.

import { invalidRequest } from '../errors.ts'
import {
  checkLength,
  droppedFields,
  speechFormat,
  speechTypes,
  textField,
  voiceOf,
} from './audio-fields.ts'
import type { MediaCall, MediaTools, SoundReply } from './media.ts'
import { queryValue } from './path-segment.ts'
import { soundReply } from './sound-reply.ts'

/** Deepgram API reference, "Text to speech": a request's bound in characters. */
const maxChars = 2_000

/** OpenAI's formats in Deepgram's words; "Media output settings" of its documentation. */
const outputs: ReadonlyMap<string, string> = new Map(
  Object.entries({
    mp3: 'encoding=mp3',
    opus: 'encoding=opus&container=ogg',
    aac: 'encoding=aac',
    flac: 'encoding=flac&sample_rate=24000',
    wav: 'encoding=linear16&container=wav&sample_rate=24000',
    pcm: 'encoding=linear16&container=none&sample_rate=24000',
  }),
)

export async function speak(call: MediaCall, tools: MediaTools): Promise<SoundReply> {
  const { fields, model } = call
  const input = textField(fields, 'input') ?? ''
  checkLength(input, maxChars, model)
  if ((fields['speed'] ?? 1) !== 1)
    throw invalidRequest('speed is not possible with this model', 'speed')
  const format = speechFormat(call, [...outputs.keys()])
  const stream = await tools.open({
    method: 'POST',
    url: `${tools.baseUrl}/v1/speak?model=${queryValue(voiceModel(call), 'voice')}&${outputs.get(format)}`,
    body: [new TextEncoder().encode(JSON.stringify({ text: input }))],
  })
  const reply = await soundReply(stream, speechTypes.get(format) ?? '', tools)
  return { ...reply, dropped: droppedFields(call, ['speed']) }
}

/** A model of Deepgram's is a voice: `aura-2-thalia-en`. With the name of the family alone the voice is the client's choice. */
function voiceModel(call: MediaCall): string {
  const { model } = call
  const voice = voiceOf(call)
  if (/^aura-/.test(voice)) return voice
  return /^aura(-2)?$/.test(model) ? `${model}-${voice.toLowerCase()}-en` : model
}
