// Deepgram: recordings written down, and texts spoken, each in a form of its own.

import type { Fault } from '../errors.ts'
import { invalidRequest } from '../errors.ts'
import type { JsonValue } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import {
  checkLength,
  droppedFields,
  speechFormat,
  speechTypes,
  textField,
  voiceOf,
} from './audio-fields.ts'
import { listen } from './deepgram-listen.ts'
import type { MediaCall, MediaTools, SoundReply } from './media.ts'
import { queryValue } from './path-segment.ts'
import { soundReply } from './sound-reply.ts'
import type { Vendor } from './vendor.ts'

/** Deepgram API reference, "Text to speech": a request's bound in characters. */
const maxChars = 2_000

/** OpenAI's formats in Deepgram's words; "Media output settings" of its documentation. */
const outputs: Readonly<Record<string, string>> = {
  mp3: 'encoding=mp3',
  opus: 'encoding=opus&container=ogg',
  aac: 'encoding=aac',
  flac: 'encoding=flac&sample_rate=24000',
  wav: 'encoding=linear16&container=wav&sample_rate=24000',
  pcm: 'encoding=linear16&container=none&sample_rate=24000',
}

async function speak(call: MediaCall, tools: MediaTools): Promise<SoundReply> {
  const { fields, model } = call
  const input = textField(fields, 'input') ?? ''
  checkLength(input, maxChars, model)
  if ((fields['speed'] ?? 1) !== 1)
    throw invalidRequest('speed is not possible with this model', 'speed')
  const format = speechFormat(call, Object.keys(outputs))
  const stream = await tools.open({
    method: 'POST',
    url: `${tools.baseUrl}/v1/speak?model=${queryValue(voiceModel(call), 'voice')}&${outputs[format]}`,
    body: [new TextEncoder().encode(JSON.stringify({ text: input }))],
  })
  const reply = await soundReply(stream, speechTypes[format] ?? '', tools)
  return { ...reply, dropped: droppedFields(call, ['speed']) }
}

/** A model of Deepgram's is a voice: `aura-2-thalia-en`. With the name of the family alone the voice is the client's choice. */
function voiceModel(call: MediaCall): string {
  const { model } = call
  const voice = voiceOf(call)
  if (/^aura-/.test(voice)) return voice
  return /^aura(-2)?$/.test(model) ? `${model}-${voice.toLowerCase()}-en` : model
}

/** `{"err_code", "err_msg"}`, or `{"category", "message", "details"}`. Deepgram, "API errors". */
function refine(fault: Fault, status: number, body: string): Fault {
  const said = parsed(body)
  if (!isObject(said)) return fault
  const { err_code: code, err_msg: message, category } = said
  const shown = typeof message === 'string' ? { ...fault, message: message.slice(0, 500) } : fault
  const name = typeof code === 'string' ? code : category
  if (name === 'ASR_PAYMENT_REQUIRED' || name === 'PAYMENT_REQUIRED')
    return { ...shown, kind: 'quota' }
  if (status < 500 && /no such model/i.test(shown.message))
    return { ...shown, kind: 'unknown_model' }
  return shown
}

function parsed(body: string): JsonValue {
  try {
    return JSON.parse(body) as JsonValue
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

export const deepgram: Vendor = {
  id: 'deepgram',
  ownedBy: 'deepgram',
  baseUrl: 'https://api.deepgram.com',
  environment: 'DEEPGRAM_API_KEY',
  speaks: ['openai-transcriptions', 'openai-speech'],
  quirks: {
    usageOnStream: 'always',
    refine,
  },
  // Only adapters call it, at addresses of their own.
  address: (_call, { baseUrl }) => baseUrl,
  signature: { headers: ({ key }) => (key === null ? [] : [['authorization', `Token ${key}`]]) },
  adapters: { 'openai-transcriptions': { serve: listen }, 'openai-speech': { serve: speak } },
}
