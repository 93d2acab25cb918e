// Tests sound through the gateway on an independent mock of OpenAI's and ElevenLabs' interfaces.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { LLMock } from '@copilotkit/aimock'
import type OpenAI from 'openai'
import { soundFile } from '../support/audio-stage.ts'
import { openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'

const mock = new LLMock({ port: 0, host: '127.0.0.1' })
const sound = Buffer.from('not really sound, but bytes all the same')
const transcription = {
  text: 'Hello from the mock.',
  language: 'english',
  duration: 2,
  words: [{ word: 'Hello', start: 0, end: 0.5 }],
  segments: [{ id: 0, text: 'Hello from the mock.', start: 0, end: 2 }],
}
let gateway: Gateway
let client: OpenAI

beforeAll(async () => {
  mock.onTranscription({ transcription })
  mock.onTranslation({ transcription })
  mock.onSpeech(/./, { audio: sound.toString('base64'), format: 'mp3' })
  await mock.start()
  gateway = await startGateway({
    config: {
      channels: [
        {
          id: 'openai',
          vendor: 'openai',
          baseUrl: `${mock.url}/v1`,
          key: 'sk-0123456789abcdef',
          models: ['whisper-1', 'gpt-4o-transcribe', 'tts-1'],
        },
      ],
      models: {
        'whisper-1': { kind: 'transcription', prices: { second: '100' } },
        'gpt-4o-transcribe': { kind: 'transcription', prices: { input: '2', output: '10' } },
        'tts-1': { kind: 'speech', prices: { character: '15' } },
      },
    },
  })
  client = openaiClient(gateway.url)
})
afterAll(async () => {
  await gateway.stop()
  await mock.stop()
})

test('a transcript, whole and with its times', async () => {
  const file = await soundFile(2)
  const { text } = await client.audio.transcriptions.create({ model: 'whisper-1', file })
  expect(text).toBe(transcription.text)
  const verbose = await client.audio.transcriptions.create({
    model: 'whisper-1',
    file: await soundFile(2),
    response_format: 'verbose_json',
  })
  expect([verbose.duration, verbose.segments?.[0]?.end]).toEqual([2, 2])
})

test('a transcript as a stream', async () => {
  const stream = await client.audio.transcriptions.create({
    model: 'gpt-4o-transcribe',
    file: await soundFile(2),
    stream: true,
  })
  let text = ''
  let done = ''
  for await (const event of stream) {
    if (event.type === 'transcript.text.delta') text += event.delta
    if (event.type === 'transcript.text.done') done = event.text
  }
  expect([text, done]).toEqual([transcription.text, transcription.text])
})

test('a translation', async () => {
  const file = await soundFile(2)
  const { text } = await client.audio.translations.create({ model: 'whisper-1', file })
  expect(text).toBe(transcription.text)
})

test('speech', async () => {
  const reply = await client.audio.speech.create({ model: 'tts-1', voice: 'nova', input: 'Hello' })
  expect(reply.headers.get('content-type')).toStartWith('audio/mpeg')
  expect(Buffer.from(await reply.arrayBuffer()).equals(sound)).toBe(true)
})
