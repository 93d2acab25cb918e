// Tests requests about sound in special cases: other channels, too little money, repeated requests, failing vendors.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { expectRefusal } from '../support/requests.ts'
import { wav } from '../support/samples.ts'
import {
  chunk,
  halfClose,
  hang,
  head,
  json,
  reply,
  type Script,
  send,
  startUpstream,
  type Upstream,
} from '../support/upstream.ts'

let first: Upstream
let second: Upstream
let gateway: Gateway
const poorKey = 'sk-poor-0123456789abcdef'

beforeAll(async () => {
  first = await startUpstream()
  second = await startUpstream()
  const host = (upstream: Upstream) => upstream.url.replace(/\/v1$/, '')
  const plain = { hear: 'hear', 'hear-tokens': 'hear-tokens', speak: 'speak' }
  const models = { ...plain, either: 'gpt-4o-transcribe' }
  gateway = await startGateway({
    config: {
      keys: [
        { name: 'test', secret: testKey },
        { name: 'poor', secret: poorKey, account: 'poor' },
      ],
      accounts: { poor: { credit: '0.01' } },
      channels: [
        { id: 'first', vendor: 'openai', baseUrl: first.url, key: 'sk-first-012345', models },
        {
          id: 'second',
          vendor: 'openai-compatible',
          baseUrl: second.url,
          key: 'sk-second-012345',
          models,
          weight: 0,
        },
        {
          id: 'deepgram',
          vendor: 'deepgram',
          baseUrl: host(first),
          key: 'dg-0123456789',
          models: { listen: 'nova-3', aura: 'aura-2' },
        },
      ],
      models: {
        hear: { kind: 'transcription', prices: { second: '100' } },
        either: { kind: 'transcription', prices: { second: '100' } },
        'hear-tokens': {
          kind: 'transcription',
          prices: { input: '2', audioInput: '6', output: '10' },
        },
        speak: { kind: 'speech', prices: { character: '15' } },
        listen: { kind: 'transcription', prices: { second: '70' } },
        aura: { kind: 'speech', prices: { character: '30' } },
      },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await first.close()
  await second.close()
})

function answer(...scripts: Script[]): void {
  first.on('*', ...scripts)
}

interface Sent {
  readonly key?: string
  readonly seconds?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

function transcribe(fields: Readonly<Record<string, string>>, sent: Sent = {}): Promise<Response> {
  const { key = testKey, seconds = 2, headers = {}, signal } = sent
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', new File([Uint8Array.from(wav(seconds))], 'a.wav', { type: 'audio/wav' }))
  return fetch(`${gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: form,
    ...(signal !== undefined && { signal }),
  })
}

const busy = json(429, { error: { message: 'slow down', code: 'rate_limit_exceeded' } })

describe('another channel', () => {
  test('takes over where the first is busy, with the file again', async () => {
    answer([busy])
    second.on('*', [json(200, { text: 'second' })])
    const response = await transcribe({ model: 'hear' })
    expect(await response.json()).toEqual({ text: 'second' })
    const { body } = second.requests.at(-1) ?? { body: Buffer.alloc(0) }
    expect(body.includes(wav(2))).toBe(true)
    const row = await gateway.row(response.headers.get('x-request-id') ?? '')
    expect([row.attempts, row.channel, row.chargeNano]).toEqual([2, 'second', 200_000n])
  })
})

test.each([
  ['json', {}],
  ['srt', { response_format: 'srt' }],
  ['events', { stream: 'true' }],
])('a page in place of a transcript is none: asked for %s', async (_form, fields) => {
  for (const upstream of [first, second])
    upstream.on('*', [reply(200, '<html>Bad gateway</html>', 'content-type: text/html')])
  const response = await transcribe({ model: 'hear', ...fields })
  expect([response.status, (await response.json()).error.code]).toEqual([
    503,
    'service_unavailable',
  ])
})

describe('a vendor that answers with JSON whatever is requested', () => {
  const segments = [{ id: 0, start: 0, end: 1.5, text: ' One two.' }]
  const words = [
    { start: 0, end: 1, word: 'One' },
    { start: 1, end: 1.5, word: 'two.' },
  ]
  const cue = (sign: string) => `00:00:00${sign}000 --> 00:00:01${sign}500\nOne two.\n\n`
  const written: readonly (readonly [form: string, body: object, text: string])[] = [
    ['text', {}, 'One two.\n'],
    ['srt', { segments }, `1\n${cue(',')}`],
    ['srt', { words }, `1\n${cue(',')}`],
    ['vtt', { segments }, `WEBVTT\n\n${cue('.')}`],
  ]

  test.each(written)(
    'has its transcript written as %s: %j',
    async (response_format, more, text) => {
      for (const upstream of [first, second])
        upstream.on('*', [json(200, { text: 'One two.', ...more })])
      const response = await transcribe({ model: 'hear', response_format })
      expect(await response.text()).toBe(text)
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      const row = await gateway.row(response.headers.get('x-request-id') ?? '')
      expect(row.chargeNano).toBeGreaterThan(0n)
    },
  )

  test('is not read where subtitles are requested and it names no times', async () => {
    for (const upstream of [first, second]) upstream.on('*', [json(200, { text: 'One two.' })])
    const response = await transcribe({ model: 'hear', response_format: 'srt' })
    expect([response.status, (await response.json()).error.code]).toEqual([
      503,
      'service_unavailable',
    ])
  })
})

test('another channel is asked what the first has no words for', async () => {
  // A model that reports no times, and a server that may.
  second.on('*', [reply(200, 'subtitles', 'content-type: text/plain')])
  const asked = first.requests.length
  const response = await transcribe({ model: 'either', response_format: 'srt' })
  expect(await response.text()).toBe('subtitles')
  expect(first.requests).toHaveLength(asked)
  const row = await gateway.row(response.headers.get('x-request-id') ?? '')
  expect([row.attempts, row.channel, row.failedAttempts]).toEqual([1, 'second', null])
})

describe('money', () => {
  test('a file that costs more than there is, is refused before any vendor is asked', async () => {
    const asked = first.requests.length
    // 0.0001 a second: 0.012 for two minutes.
    await expectRefusal(
      await transcribe({ model: 'hear' }, { key: poorKey, seconds: 120 }),
      429,
      'insufficient_quota',
    )
    // 0.000192 a second at 32 tokens of 6 millionths.
    await expectRefusal(
      await transcribe({ model: 'hear-tokens' }, { key: poorKey, seconds: 60 }),
      429,
      'insufficient_quota',
    )
    expect(first.requests).toHaveLength(asked)
  })

  test('what a client left behind of a stream is charged, the sound included', async () => {
    answer([
      send(head(200, 'content-type: text/event-stream', 'transfer-encoding: chunked')),
      send(chunk('data: {"type":"transcript.text.delta","delta":"Hello there"}\n\n')),
      hang,
    ])
    const leaving = new AbortController()
    const response = await transcribe(
      { model: 'hear-tokens', stream: 'true' },
      { seconds: 10, signal: leaving.signal },
    )
    const reader = response.body?.getReader()
    await reader?.read()
    leaving.abort()
    await first.requests.at(-1)?.gone
    const row = await gateway.row(response.headers.get('x-request-id') ?? '')
    expect([row.status, row.usageSource, row.audioInput]).toEqual([499, 'counted', 100])
    expect(row.chargeNano).toBeGreaterThanOrEqual(100n * 6_000n)
  })

  test('a unit that the card has no price for does not make a request free', async () => {
    answer([json(200, { text: 'x', usage: { type: 'duration', seconds: 10 } })])
    const response = await transcribe({ model: 'hear-tokens' }, { seconds: 10 })
    const row = await gateway.row(response.headers.get('x-request-id') ?? '')
    expect([row.usageSource, row.audioInput]).toEqual(['counted', 100])
    expect(row.chargeNano).toBeGreaterThanOrEqual(100n * 6_000n)
  })

  test('subtitles asked for twice with one key are made once', async () => {
    const text = '1\n00:00:00,000 --> 00:00:02,000\nHi\n\n'
    // The first channel may still be unused after its failure.
    for (const upstream of [first, second])
      upstream.on('*', [reply(200, text, 'content-type: text/plain')], [busy])
    const headers = { 'idempotency-key': 'srt-1' }
    const fields = { model: 'hear', response_format: 'srt' }
    const one = await transcribe(fields, { headers })
    const two = await transcribe(fields, { headers })
    expect([await one.text(), await two.text()]).toEqual([text, text])
    expect(two.headers.get('idempotent-replayed')).toBe('true')
    expect(two.headers.get('content-type')).toBe('text/plain')
  })
})

describe('vendors that fail', () => {
  const speak = (model: string, more: object = {}) =>
    gateway.post('/v1/audio/speech', { model, input: 'Hello', voice: 'thalia', ...more })

  test.each(['speak', 'aura'])('sound that breaks off breaks the reply: %s', async (model) => {
    answer([
      send(head(200, 'content-type: audio/mpeg', 'transfer-encoding: chunked')),
      send(chunk('half')),
      halfClose,
    ])
    const response = await speak(model)
    expect(response.status).toBe(200)
    await expect(response.arrayBuffer()).rejects.toThrow()
    const row = await gateway.row(response.headers.get('x-request-id') ?? '')
    expect([row.status, row.errorCode]).toEqual([200, 'service_unavailable'])
  })

  test('what is no sound is none', async () => {
    answer([reply(200, '<html>', 'content-type: text/html')])
    await expectRefusal(await speak('aura'), 503, 'service_unavailable')
  })

  test('a transcript that is none', async () => {
    for (const body of [
      '{"results":{}}',
      '{}',
      'nonsense',
      '{"metadata":{},"results":{"channels":[]}}',
    ]) {
      answer([reply(200, body)])
      await expectRefusal(await transcribe({ model: 'listen' }), 503, 'service_unavailable')
    }
  })

  test('fields that a vendor is not told are named', async () => {
    const alternatives = [{ transcript: 'Hi', words: [] }]
    answer([json(200, { metadata: { duration: 2 }, results: { channels: [{ alternatives }] } })])
    const fields = { model: 'listen', prompt: 'x', temperature: '0.5', language: 'en' }
    const response = await transcribe(fields)
    expect(response.headers.get('x-tollgate-dropped')).toBe('prompt, temperature')
    expect(await response.json()).toMatchObject({ text: 'Hi' })
  })
})
