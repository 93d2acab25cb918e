// Tests the cost of transcripts inside realtime sessions: at the price of the model that made them, and never free.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { parsePrometheus } from '../support/prometheus.ts'
import { type RealtimeVendor, startRealtimeVendor } from '../support/realtime.ts'
import { onStage } from './realtime-stage.ts'

let vendor: RealtimeVendor
beforeEach(() => {
  vendor = startRealtimeVendor()
})
afterEach(() => vendor.close())

const completed = 'conversation.item.input_audio_transcription.completed'
const choose = (model: string) => ({
  type: 'session.update',
  session: { audio: { input: { transcription: { model } } } },
})

test.each([
  [
    'whisper-1',
    { type: 'duration', seconds: 7.25 },
    { units: { second: 7.25 }, chargeNano: 725_000n },
  ],
  // Priced by the second, counted in tokens: ten tokens are one second.
  [
    'whisper-1',
    {
      type: 'tokens',
      input_tokens: 35,
      output_tokens: 5,
      input_token_details: { audio_tokens: 35, text_tokens: 0 },
    },
    { units: { second: 3.5 }, chargeNano: 350_000n },
  ],
  [
    'gpt-4o-transcribe',
    {
      type: 'tokens',
      input_tokens: 40,
      output_tokens: 11,
      input_token_details: { audio_tokens: 35, text_tokens: 5 },
    },
    { input: 5, audioInput: 35, output: 11, chargeNano: 12_500n + 210_000n + 110_000n },
  ],
  ['gpt-4o-transcribe', { type: 'duration', seconds: 2 }, { audioInput: 20, chargeNano: 120_000n }],
])('%s, %j', async (model, usage, row) => {
  await using stage = await onStage(vendor, '10')
  const client = await stage.open()
  const session = await vendor.arrived(1)
  client.send(choose(model))
  await session.until('session.update')
  session.send({ type: completed, item_id: 'item_1', transcript: 'Hello', usage })
  await client.until(completed)
  const [found] = await stage.rows(1)
  expect(found).toMatchObject({
    operation: 'transcription',
    modelAsked: model,
    usageSource: 'reported',
    ...row,
  })
})

const silent = { item_id: 'item_1', transcript: 'Hello' }
const bare = { type: 'tokens', input_tokens: 30, output_tokens: 2, total_tokens: 32 }
const spoken = [
  { type: 'input_audio_buffer.speech_started', audio_start_ms: 1_000, item_id: 'item_1' },
  { type: 'input_audio_buffer.speech_stopped', audio_end_ms: 2_500, item_id: 'item_1' },
]

test.each([
  ['whisper-1', [], silent, { units: { second: 3 }, chargeNano: 300_000n }],
  ['whisper-1', spoken, silent, { units: { second: 1.5 }, chargeNano: 150_000n }],
  ['whisper-1', [], { ...silent, usage: bare }, { units: { second: 3 }, chargeNano: 300_000n }],
  ['gpt-4o-transcribe', [], silent, { audioInput: 30, output: 2, chargeNano: 200_000n }],
  [
    'gpt-4o-transcribe',
    spoken,
    { ...silent, usage: { type: 'duration', seconds: 0 } },
    { audioInput: 15, output: 2, chargeNano: 110_000n },
  ],
  ['whisper-1', [], { ...silent, item_id: 'x' }, { units: { second: 1 }, chargeNano: 100_000n }],
])('%s, %j, %j: counted', async (model, heard, transcript, row) => {
  await using stage = await onStage(vendor, '10')
  const client = await stage.open()
  const session = await vendor.arrived(1)
  client.send(choose(model))
  await session.until('session.update')
  const audio = Buffer.alloc(3 * 48_000).toString('base64')
  client.send({ type: 'input_audio_buffer.append', audio })
  await session.until('input_audio_buffer.append')
  for (const event of heard) session.send(event)
  session.send({ type: 'input_audio_buffer.committed', item_id: 'item_1' })
  session.send({ type: completed, ...transcript })
  await client.until(completed)
  expect(await stage.rows(1)).toMatchObject([
    { operation: 'transcription', modelAsked: model, usageSource: 'counted', ...row },
  ])
})

test('metrics name it by its own model, and the session by the method of its request', async () => {
  await using stage = await onStage(vendor, '10')
  const client = await stage.open()
  const session = await vendor.arrived(1)
  client.send({ type: 'response.create' })
  await client.until('response.done')
  client.send(choose('gpt-4o-transcribe'))
  await client.until('session.updated')
  const usage = { input_tokens: 40, output_tokens: 11, total_tokens: 51 }
  session.send({ type: completed, item_id: 'item_1', transcript: 'Hello', usage })
  await client.until(completed)
  await stage.rows(2)
  const metrics = parsePrometheus(await (await fetch(`${stage.server.url}/metrics`)).text())
  const valueOf = (name: string, labels: Readonly<Record<string, string>>) =>
    metrics.find((each) => each.name === name && Bun.deepEquals(each.labels, labels))?.value
  const tokens = { model: 'gpt-4o-transcribe', kind: 'output' }
  expect(valueOf('tollgate_tokens_total', tokens)).toBe(11)
  const asked = { route: '/realtime', method: 'GET', code: '200' }
  expect(valueOf('tollgate_http_requests_total', asked)).toBe(2)
})

test('beyond the balance: charged, what is left is written off, and the session ends', async () => {
  await using stage = await onStage(vendor, '0.07')
  const client = await stage.open()
  const session = await vendor.arrived(1)
  client.send(choose('whisper-1'))
  await session.until('session.update')
  const usage = { type: 'duration', seconds: 1_000 }
  session.send({ type: completed, item_id: 'item_1', transcript: 'Hello', usage })
  expect((await client.error()).code).toBe('insufficient_quota')
  await client.closed()
  const [row] = await stage.rows(1)
  expect(row).toMatchObject({ chargeNano: 70_000_000n, writeoffNano: 30_000_000n })
})
