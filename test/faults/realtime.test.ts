// Tests realtime vendors that repeat or leave out events: each response is charged once, and no hold is left.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { onStage, type Stage, spokenNano, usualNano } from '../money/realtime-stage.ts'
import { eventually } from '../support/clients.ts'
import {
  begin,
  end,
  type RealtimeVendor,
  speak,
  startRealtimeVendor,
  type VendorSession,
} from '../support/realtime.ts'

let vendor: RealtimeVendor
beforeEach(() => {
  vendor = startRealtimeVendor()
})
afterEach(() => vendor.close())

function answer(play: (session: VendorSession) => void): void {
  vendor.play = (session, event) => {
    if (event.type === 'response.create') play(session)
  }
}

/** The charges of the session's records when nothing is held for it any more. */
async function charges(stage: Stage, count: number): Promise<readonly bigint[]> {
  await eventually(async () => {
    const metrics = await (await fetch(`${stage.server.url}/metrics`)).text()
    return metrics.includes('\ntollgate_held_units 0\n') || undefined
  })
  return (await stage.rows(count)).map(({ chargeNano }) => chargeNano)
}

test('a response whose end is sent again is charged once', async () => {
  await using stage = await onStage(vendor, '10')
  answer((session) => {
    const id = begin(session)
    speak(session, id, 7)
    for (let times = 0; times < 3; times += 1) end(session, id)
  })
  const client = await stage.open()
  client.send({ type: 'response.create' })
  await client.until('response.done', 3)
  client.send({ type: 'response.create' })
  await client.until('response.done', 6)
  await client.leave()
  expect(await charges(stage, 2)).toEqual([usualNano, usualNano])
})

test('a response whose beginning is sent again is held for once', async () => {
  await using stage = await onStage(vendor, '10')
  answer((session) => {
    const id = begin(session)
    for (let times = 0; times < 3; times += 1)
      session.send({ type: 'response.created', response: { id, status: 'in_progress' } })
    speak(session, id, 7)
    end(session, id)
  })
  const client = await stage.open()
  client.send({ type: 'response.create' })
  await client.until('response.done')
  await client.leave()
  expect(await charges(stage, 1)).toEqual([usualNano])
})

test('what a response delivers that never began is charged', async () => {
  await using stage = await onStage(vendor, '10')
  answer((session) => {
    speak(session, 'resp_1', 7)
    speak(session, 'resp_1', 7)
    session.close(1011)
  })
  const client = await stage.open()
  client.send({ type: 'response.create' })
  expect((await client.error()).code).toBe('service_unavailable')
  expect(await charges(stage, 1)).toEqual([14n * spokenNano + 12_000n])
})

test('what a vendor delivers and reports as nothing is counted', async () => {
  await using stage = await onStage(vendor, '10')
  answer((session) => {
    const id = begin(session)
    speak(session, id, 7)
    end(session, id, { usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } })
  })
  const client = await stage.open()
  client.send({ type: 'response.create' })
  await client.until('response.done')
  await client.leave()
  expect(await charges(stage, 1)).toEqual([7n * spokenNano + 12_000n])
})

test('an empty message is passed on, and the session continues', async () => {
  await using stage = await onStage(vendor, '10')
  answer((session) => {
    session.raw(new Uint8Array())
    session.raw('{}')
    const id = begin(session)
    end(session, id)
  })
  const client = await stage.open()
  client.send({ type: 'response.create' })
  await client.until('response.done')
  await client.leave()
  expect(client.received.binary.map(({ length }) => length)).toEqual([0])
  expect(await charges(stage, 1)).toEqual([usualNano])
})

test('a transcript that is sent again is charged once', async () => {
  await using stage = await onStage(vendor, '10')
  const client = await stage.open()
  const session = await vendor.arrived(1)
  const transcription = { model: 'whisper-1' }
  client.send({ type: 'session.update', session: { audio: { input: { transcription } } } })
  await session.until('session.update')
  const type = 'conversation.item.input_audio_transcription.completed'
  const send = (item: string, part: number) =>
    session.send({
      type,
      item_id: item,
      content_index: part,
      transcript: 'Hello',
      usage: { type: 'duration', seconds: 7.25 },
    })
  for (let times = 0; times < 3; times += 1) send('item_1', 0)
  send('item_1', 1)
  send('item_2', 0)
  await client.until(type, 5)
  await client.leave()
  expect(await charges(stage, 3)).toEqual([725_000n, 725_000n, 725_000n])
})
