// Tests faults below the reply: a vendor that cannot be reached, resets, is slow, or states wrong lengths (U1, U2, U4,
// U5, U7, U8, U16).

import { expect, test } from 'bun:test'
import { startGateway } from '../support/gateway.ts'
import { isLong } from '../support/long.ts'
import { chatBody, expectError, expectFailover, onStage } from '../support/scene.ts'
import {
  chatReply,
  delta,
  drip,
  event,
  halfClose,
  hang,
  head,
  json,
  lastChunk,
  reset,
  type Script,
  send,
  sseHead,
  startUpstream,
} from '../support/upstream.ts'

const body = JSON.stringify(chatReply('Hello'))
const jsonHead = (...fields: string[]) => head(200, 'content-type: application/json', ...fields)

const impatient = { firstEventMs: 500, replyMs: 500 }

test('U1 connection refused: another channel serves, and the breaker opens after five', async () => {
  await onStage({}, async (scene) => {
    await scene.first.close()
    for (let n = 1; n <= 5; n++) {
      const seen = await scene.chat()
      expect({ status: seen.status, content: seen.content }).toEqual({
        status: 200,
        content: 'Hello',
      })
      if (isLong) expect(seen.elapsedMs).toBeLessThan(1_000)
      expect((await scene.gateway.row(seen.requestId)).attempts).toBe(2)
    }
    const sixth = await scene.chat()
    expect(await scene.gateway.row(sixth.requestId)).toMatchObject({
      attempts: 1,
      channel: 'second',
      status: 200,
    })
  })
})

test('U1 connection refused and nobody else: 503 within a second, and nothing is counted', async () => {
  await onStage({ alone: true }, async (scene) => {
    await scene.first.close()
    const seen = await scene.chat()
    expectError(seen, 503, 'service_unavailable')
    if (isLong) expect(seen.elapsedMs).toBeLessThan(1_000)
    expect(seen.headers.get('retry-after')).toBe('1')
    expect(await scene.gateway.row(seen.requestId)).toMatchObject({
      attempts: 1,
      status: 503,
      errorCode: 'service_unavailable',
      errorCause: 'the vendor could not be reached',
      input: 0,
      output: 0,
      usageSource: 'none',
    })
  })
})

test('U2 a name that does not resolve: another channel serves within the connect limit', async () => {
  const options = { firstUrl: 'http://no-such-vendor.invalid/v1', timeouts: { connectMs: 1_000 } }
  await onStage(options, async (scene) => {
    const seen = await scene.chat()
    await expectFailover(scene, seen, 'Hello')
    if (isLong) expect(seen.elapsedMs).toBeLessThan(2_000)
  })
  await onStage({ ...options, alone: true }, async (scene) => {
    expectError(await scene.chat(), 503, 'service_unavailable')
  })
})

const beforeReply: readonly [name: string, script: Script][] = [
  ['before the first byte', [reset]],
  ['within the head', [send('HTTP/1.1 200 OK\r\ncontent-ty'), reset]],
  ['by an end within the head', [send('HTTP/1.1 200 OK\r\ncontent-ty'), halfClose]],
]

for (const [name, script] of beforeReply) {
  test(`U4 reset ${name}: another channel serves`, async () => {
    await onStage({}, async (scene) => {
      scene.first.on('m', script)
      await expectFailover(scene, await scene.chat(), 'Hello')
      expect(scene.first.requests).toHaveLength(1)
    })
  })

  test(`U4 reset ${name}, uncertain attempts not repeated: 503`, async () => {
    await onStage({ retry: { retryUncertain: false } }, async (scene) => {
      scene.first.on('m', script)
      const seen = await scene.chat()
      expectError(seen, 503, 'service_unavailable')
      expect(scene.second.requests).toHaveLength(0)
      expect(await scene.gateway.row(seen.requestId)).toMatchObject({
        attempts: 1,
        status: 503,
        errorCause: 'the connection to the vendor was lost',
        usageSource: 'none',
      })
    })
  })
}

const cutBodies: readonly [name: string, script: Script][] = [
  ['a length', [send(jsonHead(`content-length: ${body.length}`)), send(body.slice(0, 100)), reset]],
  [
    'a length, closed in good order',
    [send(jsonHead(`content-length: ${body.length}`)), send(body.slice(0, 100)), halfClose],
  ],
  [
    'chunks',
    [send(jsonHead('transfer-encoding: chunked')), send(`64\r\n${body.slice(0, 100)}\r\n`), reset],
  ],
]

for (const [name, script] of cutBodies) {
  test(`U5 reset within a body framed by ${name}: another channel serves, else 503 and no part of it`, async () => {
    await onStage({}, async (scene) => {
      scene.first.on('m', script)
      await expectFailover(scene, await scene.chat(), 'Hello')
    })
    await onStage({ alone: true }, async (scene) => {
      scene.first.on('m', script)
      const seen = await scene.chat()
      expectError(seen, 503, 'service_unavailable')
      expect(seen.text).not.toContain('chatcmpl-upstream')
      expect(await scene.gateway.row(seen.requestId)).toMatchObject({
        status: 503,
        errorCause: "the vendor's reply was cut off",
        output: 0,
      })
    })
  })
}

const slowStream = sseHead + event(delta({ content: 'Hello' })).toString('latin1') + lastChunk

test('U7 a byte now and then: the stream does not begin in time, 503, and the socket is let go', async () => {
  await onStage({ alone: true, timeouts: impatient }, async (scene) => {
    scene.first.on('m', [drip(slowStream, 1, 50)])
    const seen = await scene.stream()
    expectError(seen, 503, 'service_unavailable')
    expect(seen.error?.message).toContain('in time')
    if (isLong) expect(seen.elapsedMs).toBeLessThan(1_500)
    await scene.first.requests[0]?.gone
    expect(scene.first.open).toBe(0)
  })
})

test('U7 a byte now and then of a whole reply: bounded by the reply limit, another channel serves', async () => {
  await onStage({ timeouts: impatient }, async (scene) => {
    scene.first.on('m', [drip(jsonHead(`content-length: ${body.length}`) + body, 1, 50)])
    const seen = await scene.chat()
    await expectFailover(scene, seen, 'Hello')
    await scene.first.requests[0]?.gone
  })
})

test('U8 a head and then silence: another channel serves the stream, else 503', async () => {
  await onStage({ timeouts: impatient }, async (scene) => {
    scene.first.on('m', [send(sseHead), hang])
    await expectFailover(scene, await scene.stream(), 'Hello there')
    await scene.first.requests[0]?.gone
  })
  await onStage({ timeouts: impatient, alone: true }, async (scene) => {
    scene.first.on('m', [send(sseHead), hang])
    const seen = await scene.stream()
    expectError(seen, 503, 'service_unavailable')
    expect(await scene.gateway.row(seen.requestId)).toMatchObject({
      status: 503,
      errorCause: 'the vendor did not answer in time',
    })
  })
})

const lyingLengths: readonly [name: string, head: string, body: string][] = [
  ['too short', jsonHead(`content-length: ${body.length - 1}`), body],
  [
    'twice, contradicting',
    jsonHead(`content-length: ${body.length}`, `content-length: ${body.length + 1}`),
    body,
  ],
  [
    'beside chunks',
    jsonHead(`content-length: ${body.length}`, 'transfer-encoding: chunked'),
    `${body.length.toString(16)}\r\n${body}\r\n${lastChunk}`,
  ],
  ['negative', jsonHead('content-length: -1'), body],
  ['as a list', jsonHead(`content-length: ${body.length}, ${body.length}`), body],
  ['hexadecimal', jsonHead('content-length: 0x10'), body],
]

for (const [name, replyHead, replyBody] of lyingLengths) {
  test(`U16 content-length ${name}: refused, the socket not used again, the next request unaffected`, async () => {
    await onStage({ alone: true }, async (scene) => {
      scene.first.on('m', [send(replyHead + replyBody)], [json(200, chatReply('clean'))])
      const seen = await scene.chat()
      expectError(seen, 503, 'service_unavailable')
      await scene.first.requests[0]?.gone
      expect((await scene.chat()).content).toBe('clean')
      expect(scene.first.requests.map(({ connection }) => connection)).toEqual([1, 2])
    })
  })
}

test('U16 content-length too long: cut off at the close, another channel serves', async () => {
  await onStage({}, async (scene) => {
    scene.first.on('m', [send(jsonHead(`content-length: ${body.length + 9}`) + body), halfClose])
    await expectFailover(scene, await scene.chat(), 'Hello')
  })
})

test('U16 a second reply nobody asked for never answers the next request', async () => {
  await onStage({ alone: true }, async (scene) => {
    const smuggled = Promise.withResolvers<void>()
    const whole = jsonHead(`content-length: ${body.length}`) + body
    scene.first.on(
      'm',
      [send(whole), () => smuggled.promise, send(whole.replace('Hello', 'Wrong')), hang],
      [json(200, chatReply('right'))],
    )
    expect((await scene.chat()).content).toBe('Hello')
    smuggled.resolve()
    await scene.first.requests[0]?.gone
    expect((await scene.chat()).content).toBe('right')
  })
})

const pixels = { created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }] }

for (const [name, more] of [
  ['as it came', {}],
  ['by an adapter', { response_format: 'b64_json' }],
] as const) {
  test(`an image job ${name}: sent once, though the vendor closes the connection it kept`, async () => {
    const options = {
      channels: [{ id: 'c', vendor: 'openai-compatible', key: 'k', models: ['m', 'pictures'] }],
      models: { pictures: { kind: 'image', prices: { image: '1' } } },
    }
    await using upstream = await startUpstream()
    upstream.on('m', [json(200, chatReply('Hello'))])
    // Closes a kept connection after it received the request; a new connection is answered.
    upstream.on('pictures', [
      (turn) => (turn.request.connection === 1 ? halfClose : json(200, pixels))(turn),
    ])
    const channels = options.channels.map((each) => ({ ...each, baseUrl: upstream.url }))
    await using gateway = await startGateway({ config: { ...options, channels } })
    await gateway.post('/v1/chat/completions', chatBody)
    const body = { model: 'pictures', prompt: 'a cat', ...more }
    const seen = await gateway.post('/v1/images/generations', body)
    expect(seen.status).toBe(200)
    expect(upstream.of('pictures')).toHaveLength(1)
  })
}

for (const [name, death] of [
  ['a half close', halfClose],
  ['a reset', reset],
] as const) {
  test(`retryUncertain false: ${name} of a kept connection, and the request is not sent again`, async () => {
    await onStage({ alone: true, retry: { retryUncertain: false } }, async (scene) => {
      scene.first.on('m', [json(200, chatReply('Hello'))], [death], [json(200, chatReply('Hello'))])
      expect((await scene.chat()).status).toBe(200)
      expectError(await scene.chat(), 503, 'service_unavailable')
      expect(scene.first.requests.map(({ connection }) => connection)).toEqual([1, 1])
    })
  })
}
