// Deepgram's speech, in a form of its own.

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

/** The most characters of a request (Deepgram API reference, "Text to speech"). */
const maxChars = 2_000

/** Deepgram's parameters for OpenAI's formats ("Media output settings" in its documentation). */
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

/**
 * A Deepgram model is a voice: `aura-2-thalia-en`. With only the family's name, the client's `voice` decides, within the
 * family: the other one has another price.
 */
function voiceModel(call: MediaCall): string {
  const { model } = call
  if (!/^aura(-2)?$/.test(model)) return model
  const voice = voiceOf(call)
  if (!voice.startsWith('aura-')) return `${model}-${voice.toLowerCase()}-en`
  if (voice.startsWith('aura-2-') === (model === 'aura-2')) return voice
  throw invalidRequest(`voice is one of another model than ${model}`, 'voice')
}
