// A gateway in front of scripted vendors of sound, for the audio tests.

import { expect } from 'bun:test'
import type OpenAI from 'openai'
import { toFile } from 'openai'
import { openaiClient } from './clients.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { billed } from './price-oracle.ts'
import { wav } from './samples.ts'
import { type Received, type Script, startUpstream, type Upstream } from './upstream.ts'

/** By model: its channel, its kind and its prices. */
const served = {
  'whisper-1': ['openai', 'transcription', { second: '100' }],
  'gpt-4o-transcribe': [
    'openai',
    'transcription',
    { input: '2.50', audioInput: '6', output: '10' },
  ],
  'gpt-4o-transcribe-diarize': [
    'openai',
    'transcription',
    { input: '2.50', audioInput: '6', output: '10' },
  ],
  'tts-1': ['openai', 'speech', { character: '15' }],
  'gpt-4o-mini-tts': ['openai', 'speech', { input: '0.60', audioOutput: '12' }],
  'whisper-large-v3': ['groq', 'transcription', { second: '30.833334' }],
  'voxtral-mini-tts-2603': ['mistral', 'speech', { character: '16' }],
  'voxtral-mini-latest': ['mistral', 'transcription', { second: '33.333334' }],
  'own-whisper': ['own', 'transcription', { second: '1' }],
  'nova-3': ['deepgram', 'transcription', { second: '71.666667' }],
  'aura-2': ['deepgram', 'speech', { character: '30' }],
  scribe_v1: ['elevenlabs', 'transcription', { second: '111.111112' }],
  eleven_multilingual_v2: ['elevenlabs', 'speech', { character: '100' }],
  'gemini-2.5-flash': ['google', 'chat', { input: '0.30', audioInput: '1', output: '2.50' }],
  'gemini-2.5-flash-preview-tts': ['google', 'speech', { input: '0.50', audioOutput: '10' }],
} as const

export type Model = keyof typeof served

function pricesOf(model: Model): Readonly<Record<string, string>> {
  return served[model][2]
}

/** The used amounts, as in the records. */
export interface Used {
  readonly tokens?: Readonly<Record<string, number>>
  readonly units?: Readonly<Record<string, number>>
}

export interface AudioStage {
  readonly gateway: Gateway
  readonly upstream: Upstream
  readonly client: OpenAI
  /** Sets the answer of every vendor from now on. */
  answer(...scripts: Script[]): void
  last(): Received
  /** The last form that came, read by an independent reader. */
  lastForm(): Promise<FormData>
  /** Checks that the record of a request has the cost of an independent calculation, and not zero. */
  expectCharge(requestId: string | null | undefined, model: Model, used: Used): Promise<void>
  close(): Promise<void>
}

export async function startAudioStage(): Promise<AudioStage> {
  const upstream = await startUpstream()
  const host = upstream.url.replace(/\/v1$/, '')
  const channel = (id: string, vendor: string, baseUrl: string) => ({
    id,
    vendor,
    baseUrl,
    key: `key-of-${id}-0123456789`,
    models: Object.entries(served).flatMap(([name, [by]]) => (by === id ? [name] : [])),
  })
  const gateway = await startGateway({
    config: {
      channels: [
        channel('openai', 'openai', upstream.url),
        channel('groq', 'groq', upstream.url),
        channel('mistral', 'mistral', upstream.url),
        channel('own', 'openai-compatible', upstream.url),
        channel('deepgram', 'deepgram', host),
        channel('elevenlabs', 'elevenlabs', host),
        channel('google', 'google', `${host}/v1beta`),
        { id: 'sandbox', vendor: 'sandbox', models: ['sandbox/*'] },
      ],
      models: Object.fromEntries(
        Object.entries(served).map(([name, [, kind, prices]]) => [name, { kind, prices }]),
      ),
    },
  })
  const last = () => {
    const found = upstream.requests.at(-1)
    if (found === undefined) throw new Error('no vendor was asked')
    return found
  }
  return {
    gateway,
    upstream,
    client: openaiClient(gateway.url),
    answer: (...scripts) => upstream.on('*', ...scripts),
    last,
    lastForm() {
      const { headers, body } = last()
      const type = headers.get('content-type') ?? ''
      const reply = new Response(Uint8Array.from(body), { headers: { 'content-type': type } })
      return reply.formData() as Promise<FormData>
    },
    async expectCharge(requestId, model, { tokens = {}, units }) {
      const row = await gateway.row(requestId ?? '')
      const prices = pricesOf(model)
      const charge = billed({ prices, multiplier: '1', tokens, units: units ?? {} })
      expect({ charge: row.chargeNano, units: row.units }).toEqual({
        charge,
        units: units ?? null,
      })
      expect(charge).toBeGreaterThan(0n)
    },
    async close() {
      await gateway.stop()
      await upstream.close()
    },
  }
}

/** A file with this many seconds of silence. */
export function soundFile(seconds = 2) {
  return toFile(wav(seconds), 'speech.wav')
}
