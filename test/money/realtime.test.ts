// Tests the cost of realtime sessions: each response to the nano-unit, whoever ends it and however the money runs out.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { ready } from '../crash/gateway-load.ts'
import { eventually, pace } from '../support/clients.ts'
import { keyOf } from '../support/deployment.ts'
import {
  begin,
  end,
  RealtimeClient,
  type RealtimeVendor,
  speak,
  speech,
  startRealtimeVendor,
  type VendorSession,
  wellBehaved,
} from '../support/realtime.ts'
import { onStage, spokenNano, usualNano } from './realtime-stage.ts'

let vendor: RealtimeVendor
beforeEach(() => {
  vendor = startRealtimeVendor()
})
afterEach(() => vendor.close())

test('each response has its own record, at the price of its own usage', async () => {
  await using stage = await onStage(vendor, '100')
  const used: object[] = []
  vendor.play = (session, event) => {
    if (event.type !== 'response.create') return
    const [text, audio, image, cachedText, cachedAudio, said, spoken] = Array.from(
      { length: 7 },
      () => 1 + Math.floor(Math.random() * 500),
    ) as [number, number, number, number, number, number, number]
    const id = begin(session)
    speak(session, id, 1)
    end(session, id, {
      usage: {
        input_tokens: text + audio + image + cachedText + cachedAudio,
        output_tokens: said + spoken,
        input_token_details: {
          text_tokens: text + cachedText,
          audio_tokens: audio + cachedAudio,
          image_tokens: image,
          cached_tokens: cachedText + cachedAudio,
          cached_tokens_details: { text_tokens: cachedText, audio_tokens: cachedAudio },
        },
        output_token_details: { text_tokens: said, audio_tokens: spoken },
      },
    })
    used.push({
      input: text,
      audioInput: audio,
      imageInput: image,
      // Cached sound has a separate price.
      cachedInput: cachedText,
      units: { cachedAudio },
      output: said,
      audioOutput: spoken,
    })
  }
  const client = await stage.open()
  for (let at = 1; at <= 20; at++) {
    client.send({ type: 'response.create' })
    await client.until('response.done', at)
  }
  const rows = await stage.rows(20)
  expect(rows.map(({ requestId }) => requestId.split('-')[1] ?? '1')).toEqual(
    Array.from({ length: 20 }, (_, at) => String(at + 1)),
  )
  for (const [at, row] of rows.entries()) {
    expect(row).toMatchObject({
      ...used[at],
      operation: 'realtime',
      modelAsked: 'gpt-realtime',
      modelServed: 'gpt-realtime-2025-08-28',
      usageSource: 'reported',
      status: 200,
    })
  }
})

test('the balance ends between two responses: the next is not begun', async () => {
  // The hold of a response is 1,024 tokens of speech: 0.065536.
  await using stage = await onStage(vendor, '0.068')
  const client = await stage.open()
  const answered = async (at: number) => {
    client.send({ type: 'response.create' })
    await client.received.until(
      () => client.received.of('response.done').length >= at || client.received.closed,
    )
  }
  for (let at = 1; client.received.closed === null && at < 10; at++) await answered(at)
  expect(await client.error()).toMatchObject({
    type: 'insufficient_quota',
    code: 'insufficient_quota',
  })
  expect((await client.closed()).code).toBe(1_008)
  await (await vendor.arrived(1)).closed()
  const done = client.received.of('response.done').length
  const rows = await stage.rows(done)
  expect(rows.every(({ chargeNano }) => chargeNano === usualNano)).toBe(true)
  expect(rows.length).toBe(done)
  expect(rows.length).toBeLessThan(5)
})

test('a session that cannot be held for is refused before its socket', async () => {
  await using stage = await onStage(vendor, '0.01')
  await expect(stage.open()).rejects.toThrow('refused')
  expect(vendor.sessions).toHaveLength(0)
})

/** Speaks piece by piece until it is told to stop, or has spoken this much. */
async function speakOn(session: VendorSession, id: string, mostTokens: number): Promise<number> {
  let spoken = 0
  while (spoken < mostTokens && session.received.of('response.cancel').length === 0) {
    speak(session, id, 16)
    spoken += 16
    await pace(1)
  }
  return spoken
}

const cut = (spoken: number) => ({
  status: 'cancelled',
  usage: {
    input_tokens: 10,
    output_tokens: spoken,
    input_token_details: { text_tokens: 10 },
    output_token_details: { audio_tokens: spoken },
  },
})

describe('the balance ends while a response is spoken', () => {
  test('it is cancelled, heard to its end, and charged as the vendor says', async () => {
    await using stage = await onStage(vendor, '0.1')
    let spoken = 0
    vendor.play = (session, event) => {
      if (event.type !== 'response.create') return
      const id = begin(session)
      void speakOn(session, id, 4_096).then((tokens) => {
        spoken = tokens
        end(session, id, cut(1_100))
      })
    }
    const client = await stage.open()
    client.send({ type: 'response.create' })
    expect((await client.error()).code).toBe('insufficient_quota')
    expect((await client.closed()).code).toBe(1_008)
    const session = await vendor.arrived(1)
    expect(await session.until('response.cancel')).toEqual({
      type: 'response.cancel',
      response_id: 'resp_1',
    })
    await session.closed()
    const [row] = await stage.rows(1)
    expect(row).toMatchObject({
      errorCode: 'insufficient_quota',
      usageSource: 'drained',
      audioOutput: 1_100,
      chargeNano: 1_100n * spokenNano + 40_000n,
    })
    expect(spoken).toBeLessThan(4_096)
  })

  test('a vendor that says nothing more: charged what was delivered, within the balance', async () => {
    await using stage = await onStage(vendor, '0.1')
    vendor.play = (session, event) => {
      if (event.type !== 'response.create') return
      void speakOn(session, begin(session), 4_096).then(() => session.terminate())
    }
    const client = await stage.open()
    client.send({ type: 'response.create' })
    await client.closed()
    const delivered = client.received.of('response.output_audio.delta').length * 16
    const [row] = await stage.rows(1)
    expect(row).toMatchObject({ errorCode: 'insufficient_quota', usageSource: 'counted' })
    expect(BigInt(delivered) * spokenNano).toBeLessThanOrEqual(100_000_000n)
    expect(row?.audioOutput).toBeGreaterThanOrEqual(delivered)
  })
})

describe('a response that nobody ends', () => {
  /** Half of what it would say; then `next`. */
  function halfway(next: (session: VendorSession, id: string) => void): void {
    vendor.play = (session, event) => {
      if (event.type !== 'response.create') return
      const id = begin(session)
      speak(session, id, 20)
      next(session, id)
    }
  }
  /** Its instructions, a second of sound, and a text of 40 bytes. */
  const said = { input: 3 + 10, audioInput: 10 }
  async function ask(client: RealtimeClient): Promise<void> {
    client.send({ type: 'input_audio_buffer.append', audio: speech(20) })
    const content = [{ type: 'input_text', text: 'x'.repeat(40) }]
    client.send({ type: 'conversation.item.create', item: { type: 'message', content } })
    client.send({ type: 'response.create' })
    await client.until('response.output_audio.delta')
  }

  test('the vendor breaks off: charged by counting', async () => {
    await using stage = await onStage(vendor, '10')
    halfway(() => undefined)
    const client = await stage.open()
    await ask(client)
    ;(await vendor.arrived(1)).terminate()
    await client.closed()
    const [row] = await stage.rows(1)
    expect(row).toMatchObject({
      ...said,
      audioOutput: 20,
      usageSource: 'counted',
      errorCode: 'service_unavailable',
      chargeNano: 13n * 4_000n + 10n * 32_000n + 20n * spokenNano,
    })
  })

  test('the same where that is free', async () => {
    await using stage = await onStage(vendor, '10', { billing: { vendorFails: 'free' } })
    halfway(() => undefined)
    const client = await stage.open()
    await ask(client)
    ;(await vendor.arrived(1)).terminate()
    await client.closed()
    expect((await stage.rows(1))[0]).toMatchObject({ audioOutput: 20, chargeNano: 0n })
  })

  test('the client leaves: the vendor is let go, charged by counting', async () => {
    await using stage = await onStage(vendor, '10')
    halfway(() => undefined)
    const client = await stage.open()
    await ask(client)
    await client.leave()
    await (await vendor.arrived(1)).closed()
    expect((await stage.rows(1))[0]).toMatchObject({
      ...said,
      audioOutput: 20,
      status: 499,
      usageSource: 'counted',
    })
  })

  test('the same where the vendor is heard to its end', async () => {
    await using stage = await onStage(vendor, '10', { billing: { clientLeaves: 'drain' } })
    let finish = () => undefined as unknown
    halfway((session, id) => {
      finish = () => end(session, id)
    })
    const client = await stage.open()
    await ask(client)
    await client.leave()
    finish()
    await (await vendor.arrived(1)).closed()
    expect((await stage.rows(1))[0]).toMatchObject({
      status: 499,
      usageSource: 'drained',
      chargeNano: usualNano,
    })
  })

  test('the response fails, and reports nothing: nothing is charged', async () => {
    await using stage = await onStage(vendor, '10')
    vendor.play = (session, event) => {
      if (event.type !== 'response.create') return
      const status_details = { type: 'failed', error: { type: 'server_error', code: 'x' } }
      end(session, begin(session), { status: 'failed', status_details, usage: null })
    }
    const client = await stage.open()
    client.send({ type: 'response.create' })
    await client.until('response.done')
    const [row] = await stage.rows(1)
    expect(row).toMatchObject({ errorCode: 'server_error', usageSource: 'none', chargeNano: 0n })
    // The session continues.
    vendor.play = wellBehaved
    client.send({ type: 'response.create' })
    await client.until('response.done', 2)
    expect((await stage.rows(2))[1]).toMatchObject({ chargeNano: usualNano })
  })
})

test('past its tokens a minute a response is cancelled, and the session goes on', async () => {
  await using stage = await onStage(vendor, '10', {
    keys: [
      { name: 'acme', account: 'acme', secret: keyOf('acme'), limits: { tokensPerMinute: 1_100 } },
    ],
  })
  const client = await stage.open()
  vendor.play = (session, event) => {
    if (event.type === 'response.create') begin(session)
    if (event.type === 'response.cancel') end(session, String(event['response_id']), cut(1))
  }
  const session = await vendor.arrived(1)
  client.send({ type: 'response.create' })
  await client.until('response.created')
  end(session, 'resp_1', cut(1_000))
  await client.until('response.done')
  client.send({ type: 'response.create' })
  expect(await client.error()).toMatchObject({ code: 'rate_limit_exceeded' })
  await session.until('response.cancel')
  await client.until('response.done', 2)
  session.send({ type: 'input_audio_buffer.committed' })
  await client.until('input_audio_buffer.committed')
  expect(client.received.closed).toBeNull()
  expect(await stage.rows(2)).toMatchObject([{ audioOutput: 1_000 }, { audioOutput: 1 }])
})

test('a key that is disabled meanwhile begins no further response', async () => {
  await using stage = await onStage(vendor, '10')
  const { deployment } = stage
  const wish = ['--account', 'acme', '--group', 'default', '--name', 'later']
  const made = await deployment.command('key', 'create', ...wish)
  const { id, secret } = made as { readonly id: string; readonly secret: string }
  const client = await eventually(() =>
    RealtimeClient.open(stage.server.url, { key: secret }).catch(() => undefined),
  )
  client.send({ type: 'response.create' })
  await client.until('response.done')
  await deployment.command('key', 'disable', id)
  await eventually(async () => {
    const reply = await fetch(`${stage.server.url}/v1/models`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    return reply.status === 401 || undefined
  })
  client.send({ type: 'response.create' })
  expect((await client.error()).code).toBe('invalid_api_key')
  expect((await client.closed()).code).toBe(1_008)
})

test('where replies wait for the ledger, so does the end of a response', async () => {
  await using stage = await onStage(vendor, '10', { billing: { durability: 'strict' } })
  const client = await stage.open()
  for (let at = 1; at <= 3; at++) {
    client.send({ type: 'response.create' })
    await client.until('response.done', at)
    // There is no wait: it was in the ledger before the client got it.
    expect(await stage.deployment.store.usage.list({ limit: 10 })).toHaveLength(at)
  }
})

test('kill -9 within a response: what had ended is charged once, what ran at most what it had said it owed', async () => {
  await using stage = await onStage(vendor, '10')
  const client = await stage.open()
  for (let at = 1; at <= 3; at++) {
    client.send({ type: 'response.create' })
    await client.until('response.done', at)
  }
  let spoken = 0
  vendor.play = (session, event) => {
    if (event.type !== 'response.create') return
    void speakOn(session, begin(session), 2_000).then((tokens) => {
      spoken = tokens
    })
  }
  client.send({ type: 'response.create' })
  await client.received.until(() => client.received.of('response.output_audio.delta').length > 100)
  await stage.server.kill()
  await client.closed()
  const again = await stage.deployment.start()
  await ready(again)
  again.signal('SIGTERM')
  expect(await again.exited).toBe(0)
  const rows = await stage.rows(3)
  expect(rows.slice(0, 3).map(({ chargeNano }) => chargeNano)).toEqual([
    usualNano,
    usualNano,
    usualNano,
  ])
  expect(rows.length).toBeLessThanOrEqual(4)
  const [, , , last] = rows
  expect(spoken).toBeGreaterThan(0)
  if (last !== undefined) expect(last.chargeNano).toBeLessThanOrEqual(2_100n * spokenNano)
})

test('SIGTERM: an idle session is closed at once, a response under way is heard to its end', async () => {
  await using stage = await onStage(vendor, '10')
  let finish = () => undefined as unknown
  vendor.play = (session, event) => {
    if (event.type !== 'response.create') return
    const id = begin(session)
    finish = () => end(session, id)
  }
  const [idle, busy] = [await stage.open(), await stage.open()]
  busy.send({ type: 'response.create' })
  await busy.until('response.created')
  stage.server.signal('SIGTERM')
  expect((await idle.closed()).code).toBe(1_012)
  expect(busy.received.closed).toBeNull()
  finish()
  await busy.until('response.done')
  expect((await busy.closed()).code).toBe(1_012)
  expect(await stage.server.exited).toBe(0)
  const charges = (await stage.rows(2)).map(({ chargeNano }) => chargeNano)
  expect(charges.toSorted()).toEqual([0n, usualNano])
})
