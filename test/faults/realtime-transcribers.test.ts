// Tests which model's price a transcript has where the client names another one before it arrives.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { onStage } from '../money/realtime-stage.ts'
import {
  type RealtimeVendor,
  startRealtimeVendor,
  type VendorSession,
  wellBehaved,
} from '../support/realtime.ts'

let vendor: RealtimeVendor
beforeEach(() => {
  vendor = startRealtimeVendor()
})
afterEach(() => vendor.close())

const completed = 'conversation.item.input_audio_transcription.completed'
const usage = { type: 'duration', seconds: 2 }

const choose = (model: string) => ({
  type: 'session.update',
  session: { audio: { input: { transcription: { model } } } },
})

function transcribe(session: VendorSession, item: string): void {
  session.send({ type: completed, item_id: item, transcript: 'Hello', usage })
}

test('a model that the vendor refuses to use is not the one that is charged', async () => {
  await using stage = await onStage(vendor, '10')
  const client = await stage.open()
  const session = await vendor.arrived(1)
  client.send(choose('whisper-1'))
  await client.until('session.updated')
  vendor.play = (refusing, { type }) => {
    const error = { type: 'invalid_request_error', message: 'no' }
    if (type === 'session.update') refusing.send({ type: 'error', error })
  }
  client.send(choose('gpt-4o-transcribe'))
  await client.until('error')
  transcribe(session, 'item_1')
  await client.until(completed)
  expect(await stage.rows(1)).toMatchObject([{ modelAsked: 'whisper-1', units: { second: 2 } }])
})

test('a transcript of what was said before the change is charged at the price of before', async () => {
  await using stage = await onStage(vendor, '10')
  const client = await stage.open()
  const session = await vendor.arrived(1)
  vendor.play = wellBehaved
  client.send(choose('whisper-1'))
  await client.until('session.updated')
  session.send({ type: 'input_audio_buffer.committed', item_id: 'item_1' })
  await client.until('input_audio_buffer.committed')
  client.send(choose('gpt-4o-transcribe'))
  await client.until('session.updated', 2)
  session.send({ type: 'input_audio_buffer.committed', item_id: 'item_2' })
  transcribe(session, 'item_1')
  transcribe(session, 'item_2')
  await client.until(completed, 2)
  expect(await stage.rows(2)).toMatchObject([
    { modelAsked: 'whisper-1', units: { second: 2 } },
    { modelAsked: 'gpt-4o-transcribe' },
  ])
})

test('a vendor that reports no settings: the model named last is charged', async () => {
  await using stage = await onStage(vendor, '10')
  const client = await stage.open()
  const session = await vendor.arrived(1)
  vendor.play = () => undefined
  client.send(choose('whisper-1'))
  await session.until('session.update')
  session.send({ type: 'input_audio_buffer.committed', item_id: 'item_1' })
  transcribe(session, 'item_1')
  await client.until(completed)
  expect(await stage.rows(1)).toMatchObject([{ modelAsked: 'whisper-1' }])
})
