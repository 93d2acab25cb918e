// Tests realtime sessions without a vendor, with the official SDK through a TLS proxy: received, decoded, charged to
// the nano-unit.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import type {
  RealtimeClientEvent,
  RealtimeResponse,
  RealtimeServerEvent,
} from 'openai/resources/realtime/realtime'
import { startTlsProxy, type TlsProxy } from '../conformance/media/realtime-cells.ts'
import { eventually } from '../support/clients.ts'
import {
  type Deployment,
  deploy,
  expectBalances,
  expectCleanAudit,
  keyOf,
} from '../support/deployment.ts'
import { handshake, RealtimeClient } from '../support/realtime.ts'
import type { ServerProcess } from '../support/server-process.ts'

/** As in docs/catalogue.md, in nano-units a token. */
const nano = { input: 500n, output: 1_500n, audioInput: 2_000n, audioOutput: 6_000n }
const key = keyOf('acme')

let deployment: Deployment
let server: ServerProcess
let tlsProxy: TlsProxy

beforeAll(async () => {
  deployment = await deploy({ databaseUrl: null, credits: { acme: '1' }, config: { models: {} } })
  server = await deployment.start()
  tlsProxy = await startTlsProxy(server.url)
})
/** Checks that the books agree after all of it. */
afterAll(async () => {
  await eventually(async () => {
    const wallet = await deployment.store.journal.wallet('acme')
    return wallet?.heldNano === 0n || undefined
  })
  const rows = await expectBalances(deployment, { acme: 1_000_000_000n })
  expect(rows.length).toBeGreaterThan(4)
  await expectCleanAudit(deployment)
  expect(server.stderr).not.toContain('internal error:')
  await tlsProxy.close()
  await deployment.remove()
})

type Received = readonly RealtimeServerEvent[]

/** Sends events once the session exists, and collects all events until the response has ended. */
async function converse(model: string, sent: readonly RealtimeClientEvent[]): Promise<Received> {
  const client = new OpenAI({ baseURL: tlsProxy.url, apiKey: key })
  const session = new OpenAIRealtimeWS({ model, options: { rejectUnauthorized: false } }, client)
  const events: RealtimeServerEvent[] = []
  try {
    await new Promise<void>((resolve, reject) => {
      session.on('error', reject)
      session.on('event', (event) => {
        events.push(event)
        if (event.type === 'session.created') for (const each of sent) session.send(each)
        if (event.type === 'response.done') resolve()
      })
    })
  } finally {
    session.close()
  }
  return events
}

function usageOf(events: Received): NonNullable<RealtimeResponse['usage']> {
  const done = events.find((event) => event.type === 'response.done')
  if (done?.response.usage === undefined) throw new Error('no usage')
  return done.response.usage
}

/** What a client can calculate from the usage it was sent. */
function due({
  input_token_details: input,
  output_token_details: said,
}: RealtimeResponse['usage'] & object) {
  return (
    BigInt(input?.text_tokens ?? 0) * nano.input +
    BigInt(input?.audio_tokens ?? 0) * nano.audioInput +
    BigInt(said?.text_tokens ?? 0) * nano.output +
    BigInt(said?.audio_tokens ?? 0) * nano.audioOutput
  )
}

const charged = (model: string) =>
  eventually(async () => {
    const rows = await deployment.store.usage.list({ limit: 1_000 })
    return rows.find((row) => row.modelAsked === model)
  })

const message = {
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello there' }] },
} satisfies RealtimeClientEvent
const sentence = "This is Tollgate's sandbox, no model was asked. You said: Hello there"
const words = 12

test('a turn of text', async () => {
  const model = 'sandbox/realtime+first=1'
  const events = await converse(model, [
    { type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } },
    message,
    { type: 'response.create' },
  ])
  const text = events.map((event) =>
    event.type === 'response.output_text.delta' ? event.delta : '',
  )
  expect(text.join('')).toBe(sentence)
  const usage = usageOf(events)
  expect([usage.input_tokens, usage.output_tokens]).toEqual([7, words])
  const row = await charged(model)
  expect(row).toMatchObject({
    input: 7,
    output: words,
    usageSource: 'reported',
    status: 200,
    channel: 'sandbox',
    chargeNano: 7n * nano.input + BigInt(words) * nano.output,
    writeoffNano: 0n,
  })
})

test('a turn of sound, heard and spoken, with its transcript', async () => {
  const model = 'sandbox/realtime+gap=1'
  const events = await converse(model, [
    {
      type: 'session.update',
      session: {
        type: 'realtime',
        audio: { input: { transcription: { model: 'sandbox/transcription' } } },
      },
    },
    // A second and a half of silence.
    { type: 'input_audio_buffer.append', audio: Buffer.alloc(72_000).toString('base64') },
    { type: 'input_audio_buffer.commit' },
    { type: 'response.create' },
  ])
  const said = "This is Tollgate's sandbox, no model was asked. You said: 1.5 s of sound"
  const sound = events.flatMap((event) =>
    event.type === 'response.output_audio.delta' ? [Buffer.from(event.delta, 'base64')] : [],
  )
  const seconds = Buffer.concat(sound).length / 2 / 24_000
  expect(seconds).toBeCloseTo(said.length / 15, 3)
  const transcript = events.find((event) => event.type === 'response.output_audio_transcript.done')
  expect(transcript?.transcript).toBe(said)
  const usage = usageOf(events)
  expect(usage.input_token_details).toMatchObject({ text_tokens: 4, audio_tokens: 15 })
  expect(usage.output_token_details?.audio_tokens).toBe(Math.ceil(seconds * 20))
  const row = await charged(model)
  expect(row).toMatchObject({
    input: 4,
    audioInput: 15,
    audioOutput: Math.ceil(seconds * 20),
    chargeNano: due(usage),
  })
  // Two started seconds at $0.00001.
  const transcribed = await charged('sandbox/transcription')
  expect([transcribed.chargeNano, transcribed.units]).toEqual([20_000n, { second: 2 }])
})

test('a response that is cancelled is paid for as far as it went', async () => {
  const model = 'sandbox/realtime+gap=10+tokens=2000'
  const client = await RealtimeClient.open(server.url, { key, model })
  client.send(message)
  client.send({ type: 'response.create' })
  await client.until('response.output_audio_transcript.delta', 3)
  client.send({ type: 'response.cancel' })
  const { response } = (await client.until('response.done')) as unknown as {
    readonly response: RealtimeResponse
  }
  expect(response.status).toBe('cancelled')
  const row = await charged(model)
  expect(row.chargeNano).toBe(due(response.usage ?? {}))
  expect(row.audioOutput).toBeGreaterThan(0)
  await client.leave()
})

test('a response far longer than what was held for it', async () => {
  const model = 'sandbox/realtime+tokens=6000'
  const events = await converse(model, [
    {
      type: 'session.update',
      session: { type: 'realtime', output_modalities: ['text'], max_output_tokens: 5_000 },
    },
    message,
    { type: 'response.create' },
  ])
  expect(events.filter(({ type }) => type === 'response.output_text.delta')).toHaveLength(5_000)
  const done = events.find((event) => event.type === 'response.done')
  expect(done?.response.status_details?.reason).toBe('max_output_tokens')
  expect((await charged(model)).chargeNano).toBe(7n * nano.input + 5_000n * nano.output)
})

test('faults are the gateway’s to tell, by status or by event', async () => {
  const target = (model: string) => `/v1/realtime?model=${encodeURIComponent(model)}`
  const authorization = `Bearer ${key}`
  for (const [model, status] of [
    ['sandbox/realtime+fault=429', 429],
    ['sandbox/realtime+fault=unreachable', 503],
    ['sandbox/realtime+colour=red', 400],
    ['sandbox/chat', 400],
  ] as const) {
    const reply = await handshake(server.url, target(model), { authorization })
    expect([model, reply.status]).toEqual([model, status])
  }
  const model = 'sandbox/realtime+fault=cut+after=2'
  const client = await RealtimeClient.open(server.url, { key, model })
  client.send({ type: 'response.create' })
  expect((await client.error()).code).toBe('service_unavailable')
  expect((await client.closed()).code).toBe(1011)
  expect(client.received.of('response.output_audio.delta')).toHaveLength(2)
  expect((await charged(model)).errorCode).toBe('service_unavailable')
})

test('it is among the models', async () => {
  const reply = await fetch(`${server.url}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { data } = (await reply.json()) as { data: readonly { id: string }[] }
  expect(data.find(({ id }) => id === 'sandbox/realtime')).toMatchObject({ owned_by: 'sandbox' })
})
