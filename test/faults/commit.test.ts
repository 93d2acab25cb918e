// Tests the commit point: what may still move to another channel, and what the client gets after it.

import { expect, test } from 'bun:test'
import { isLong } from '../support/long.ts'
import { expectCutStream, expectError, expectFailover, onStage } from '../support/scene.ts'
import {
  chatReply,
  chunk,
  delta,
  event,
  hang,
  head,
  lastChunk,
  reset,
  type Script,
  send,
  sseHead,
  streamEnd,
  until,
  wait,
  words,
} from '../support/upstream.ts'

const role = event(delta({ role: 'assistant', content: '' }))
const ping = chunk(': ping\n\n')

const uncommitted: readonly [name: string, script: Script][] = [
  ['a reset after the head', [send(sseHead), reset]],
  ['a reset after lifecycle frames', [send(sseHead), send(role), send(role), send(ping), reset]],
  ['an error after lifecycle frames', [send(sseHead), send(role), send(event({ error: {} }))]],
  ['a clean end without an event', [send(sseHead), send(lastChunk)]],
  ['only [DONE]', [send(sseHead), send(event('[DONE]')), send(lastChunk)]],
]

for (const [name, script] of uncommitted) {
  test(`a stream with ${name} goes to another channel, and nothing of the first is seen`, async () => {
    await onStage({}, async (scene) => {
      scene.first.on('m', script)
      const seen = await scene.stream()
      await expectFailover(scene, seen, 'Hello there')
      expect(seen.events.filter((data) => data.includes('"role"'))).toHaveLength(1)
      expect(seen.comments).toBe(0)
      expect(seen.events.at(-1)).toBe('[DONE]')
    })
  })
}

const semantic: Readonly<Record<string, object>> = {
  content: { content: 'x' },
  reasoning: { reasoning_content: 'x' },
  'a tool call': {
    tool_calls: [
      { index: 0, id: 'call_a', type: 'function', function: { name: 'f', arguments: '' } },
    ],
  },
  'a refusal': { refusal: 'x' },
}

for (const [name, part] of Object.entries(semantic)) {
  test(`${name} is the commit point: after it no other channel is asked`, async () => {
    await onStage({}, async (scene) => {
      scene.first.on('m', [send(sseHead), send(role), send(event(delta({ ...part }))), reset])
      const seen = await scene.stream()
      expect(seen.status).toBe(200)
      expect(seen.events).toHaveLength(3)
      expect(seen.error?.code).toBe('service_unavailable')
      expect(scene.second.requests).toHaveLength(0)
    })
  })
}

test('a finish without content is a whole reply', async () => {
  await onStage({}, async (scene) => {
    scene.first.on('m', [send(sseHead), send(role), send(streamEnd)])
    const seen = await scene.stream()
    expect({ status: seen.status, last: seen.events.at(-1), error: seen.error }).toEqual({
      status: 200,
      last: '[DONE]',
      error: null,
    })
    expect(scene.second.requests).toHaveLength(0)
  })
})

test('a stream cut after its finish and usage is whole for the client', async () => {
  await onStage({}, async (scene) => {
    const end = streamEnd.subarray(0, streamEnd.indexOf('[DONE]') - 11)
    scene.first.on('m', [send(sseHead), send(words('Hi')), send(end), reset])
    const seen = await scene.stream()
    expect({ content: seen.content, last: seen.events.at(-1), error: seen.error }).toEqual({
      content: 'Hi',
      last: '[DONE]',
      error: null,
    })
    expect(await scene.gateway.row(seen.requestId)).toMatchObject({ input: 7, errorCode: null })
  })
})

test('a finish without usage and without [DONE] is an end, where the reply ends in good order', async () => {
  await onStage({}, async (scene) => {
    const finish = event(delta({}, 'stop'))
    scene.first.on('m', [send(sseHead), send(words('Hi')), send(finish), send(lastChunk)])
    const seen = await scene.stream()
    expect({ content: seen.content, last: seen.events.at(-1), error: seen.error }).toEqual({
      content: 'Hi',
      last: '[DONE]',
      error: null,
    })
  })
})

const soon = { server: { commitAfterMs: 300, heartbeatMs: 200 } }
const impatient = { ...soon, timeouts: { firstEventMs: 1_500 } }

test('accepted, then silent: committed with a heartbeat, and from then on no failover', async () => {
  await onStage(impatient, async (scene) => {
    scene.first.on('m', [send(sseHead), hang])
    const seen = await scene.stream()
    expectCutStream(seen, '')
    expect(seen.comments).toBeGreaterThanOrEqual(2)
    expect(seen.text).toStartWith(':')
    expect(scene.second.requests).toHaveLength(0)
    expect(await scene.gateway.row(seen.requestId)).toMatchObject({ status: 200, attempts: 1 })
  })
})

test('accepted, silent and then well: heartbeats first, then the whole stream', async () => {
  await onStage(soon, async (scene) => {
    scene.first.on('m', [send(sseHead), send(role), wait(900), send(words('Hi')), send(streamEnd)])
    const seen = await scene.stream()
    expect(seen.comments).toBeGreaterThanOrEqual(1)
    expect({ content: seen.content, last: seen.events.at(-1) }).toEqual({
      content: 'Hi',
      last: '[DONE]',
    })
  })
})

test('a vendor that does not answer at all is not committed by waiting', async () => {
  await onStage(impatient, async (scene) => {
    scene.first.on('m', [hang])
    await expectFailover(scene, await scene.stream(), 'Hello there')
  })
})

test('a quiet stream after its commit gets heartbeats, between events and never within one', async () => {
  await onStage(soon, async (scene) => {
    const halves = [chunk('data: {"choices":[{"index":0,'), chunk('"delta":{"content":"!"}}]}\n\n')]
    scene.first.on('m', [
      send(sseHead),
      send(words('Hi')),
      send(halves[0] ?? ''),
      wait(900),
      send(halves[1] ?? ''),
      send(streamEnd),
    ])
    const seen = await scene.stream()
    expect(seen.comments).toBeGreaterThanOrEqual(2)
    expect({ content: seen.content, last: seen.events.at(-1) }).toEqual({
      content: 'Hi!',
      last: '[DONE]',
    })
  })
})

const kibibyte = 1 << 10

/** A reply whose content gives it about this length. */
function longReply(bytes: number): { bytes: Buffer; head: string } {
  const body = Buffer.from(JSON.stringify(chatReply('x'.repeat(bytes))))
  return {
    bytes: body,
    head: head(200, 'content-type: application/json', `content-length: ${body.length}`),
  }
}

test('a whole reply cut at 900 KB goes to another channel', async () => {
  await onStage({}, async (scene) => {
    const long = longReply(2_000 * kibibyte)
    scene.first.on('m', [send(long.head), send(long.bytes.subarray(0, 900 * kibibyte)), reset])
    await expectFailover(scene, await scene.chat(), 'Hello')
  })
})

test('a whole reply cut past 1 MiB breaks the connection: never a clean end, never another channel', async () => {
  await onStage({}, async (scene) => {
    const long = longReply(3_000 * kibibyte)
    scene.first.on('m', [send(long.head), send(long.bytes.subarray(0, 2_000 * kibibyte)), reset])
    const seen = await scene.chat()
    expect({ status: seen.status, broken: seen.broken }).toEqual({ status: 200, broken: true })
    expect(scene.second.requests).toHaveLength(0)
    expect(await scene.gateway.row(seen.requestId)).toMatchObject({
      attempts: 1,
      errorCode: 'service_unavailable',
      errorCause: "the vendor's reply was cut off",
    })
  })
})

test('a whole reply of 5 MB arrives as it is, and its usage is recorded', async () => {
  await onStage({}, async (scene) => {
    const long = longReply(5_000 * kibibyte)
    scene.first.on('m', [send(long.head), send(long.bytes)])
    const seen = await scene.chat()
    expect({ broken: seen.broken, same: seen.text === long.bytes.toString() }).toEqual({
      broken: false,
      same: true,
    })
    expect(await scene.gateway.row(seen.requestId)).toMatchObject({
      input: 7,
      output: 5,
      usageSource: 'reported',
    })
  })
})

const certainOnly = { retry: { retryUncertain: false }, timeouts: { replyMs: 500 } }

const uncertain: readonly [name: string, script: Script][] = [
  ['a reset before the reply', [reset]],
  ['a cut body', [send(longReply(10).head), reset]],
  ['an unreadable reply', [send('nonsense\r\n\r\n')]],
  ['a time out', [hang]],
]

for (const [name, script] of uncertain) {
  test(`retryUncertain false: ${name} is not tried elsewhere`, async () => {
    await onStage(certainOnly, async (scene) => {
      scene.first.on('m', script)
      expectError(await scene.chat(), 503, 'service_unavailable')
      expect(scene.second.requests).toHaveLength(0)
    })
  })
}

test('retryUncertain false: what the vendor refused is tried elsewhere all the same', async () => {
  await onStage(certainOnly, async (scene) => {
    scene.first.on('m', [send(head(503, 'content-length: 0'))])
    await expectFailover(scene, await scene.chat(), 'Hello')
  })
})

test('maxAttempts bounds the channels tried', async () => {
  await onStage({ retry: { maxAttempts: 1 } }, async (scene) => {
    scene.first.on('m', [reset])
    expectError(await scene.chat(), 503, 'service_unavailable')
    expect(scene.second.requests).toHaveLength(0)
  })
})

test('a client that leaves before the reply: the vendor is let go within 100 ms, and no other is asked', async () => {
  await onStage({}, async (scene) => {
    scene.first.on('m', [until(scene.second.arrived(1)), hang])
    const abort = new AbortController()
    const body = { model: 'm', messages: [{ role: 'user', content: 'x' }], stream: true }
    const asked = scene.gateway.post('/v1/chat/completions', body, { signal: abort.signal })
    const arrived = await scene.first.arrived(1)
    const leftMs = performance.now()
    abort.abort()
    await expect(asked).rejects.toThrow()
    await arrived.gone
    if (isLong) expect((arrived.goneMs ?? Number.POSITIVE_INFINITY) - leftMs).toBeLessThan(100)
    expect(scene.second.requests).toHaveLength(0)
    const rows = await scene.gateway.usage()
    expect(rows.filter(({ status }) => status === 499).length).toBeLessThanOrEqual(1)
  })
})
