// Tests what a vendor's refusal becomes: rate limits and their waits, failures, redirects, and secrets in its text
// (U10, U11, U19, U21).

import { expect, test } from 'bun:test'
import { expectError, expectFailover, onStage } from '../support/scene.ts'
import { secrets } from '../support/shared-gateways.ts'
import { json, reply, startUpstream } from '../support/upstream.ts'

const limited = { error: { message: 'Rate limit reached.', type: 'requests', code: null } }

interface Wait {
  readonly name: string
  readonly fields: readonly string[]
  /** The minimum and maximum of seconds that the client may be told to wait. */
  readonly seconds: readonly [number, number]
}

const waits: readonly Wait[] = [
  { name: '7 seconds', fields: ['retry-after: 7'], seconds: [6, 7] },
  { name: 'a fraction', fields: ['retry-after: 1.5'], seconds: [1, 2] },
  {
    name: 'a date',
    fields: [`retry-after: ${new Date(Date.now() + 20_000).toUTCString()}`],
    seconds: [5, 20],
  },
  {
    name: 'a date gone by',
    fields: [`retry-after: ${new Date(Date.now() - 60_000).toUTCString()}`],
    seconds: [1, 5],
  },
  { name: 'milliseconds', fields: ['retry-after-ms: 2500'], seconds: [2, 3] },
  {
    name: 'milliseconds beside seconds',
    fields: ['retry-after: 9', 'retry-after-ms: 2500'],
    seconds: [2, 3],
  },
  { name: 'an absurd number', fields: ['retry-after: 1000000000'], seconds: [29, 60] },
  { name: 'an infinite number', fields: ['retry-after: 1e400'], seconds: [1, 60] },
  { name: 'a negative number', fields: ['retry-after: -5'], seconds: [1, 5] },
  { name: 'no sense', fields: ['retry-after: soon'], seconds: [1, 5] },
  { name: 'nothing', fields: [], seconds: [1, 5] },
]

test('U10 429 from the only channel: 429 with a bounded wait, whatever the vendor said', async () => {
  await onStage({ alone: true }, async (scene) => {
    for (const [n, { name, fields, seconds }] of waits.entries()) {
      const model = `m-wait-${n}`
      scene.first.on(model, [json(429, limited, ...fields)])
      const seen = await scene.chat({ model })
      expectError(seen, 429, 'rate_limit_exceeded')
      const waitSeconds = Number(seen.headers.get('retry-after'))
      expect({
        name,
        waitSeconds,
        right: waitSeconds >= seconds[0] && waitSeconds <= seconds[1],
      }).toEqual({
        name,
        waitSeconds,
        right: true,
      })
      expect(seen.headers.get('x-should-retry')).toBe('true')
      expect(await scene.gateway.row(seen.requestId)).toMatchObject({
        status: 429,
        errorCode: 'rate_limit_exceeded',
        input: 0,
        usageSource: 'none',
      })
    }
  })
}, 20_000)

test('U10 429: the channel is left alone for that model until the wait is over, others are not', async () => {
  await onStage({ alone: true }, async (scene) => {
    scene.first.on('m', [json(429, limited, 'retry-after: 1')], [json(429, limited)])
    scene.first.on('m', [json(429, limited, 'retry-after: 2')])
    expectError(await scene.chat(), 429, 'rate_limit_exceeded')
    const again = await scene.chat()
    expectError(again, 429, 'rate_limit_exceeded')
    expect(Number(again.headers.get('retry-after'))).toBeLessThanOrEqual(2)
    expect(scene.first.of('m')).toHaveLength(1)
    expect((await scene.gateway.row(again.requestId)).attempts).toBe(0)
    expect((await scene.chat({ model: 'm-other' })).status).toBe(200)
  })
})

test('U10 429 with another channel: that one serves, and the next request goes to it at once', async () => {
  await onStage({}, async (scene) => {
    scene.first.on('m', [json(429, limited, 'retry-after: 7')])
    await expectFailover(scene, await scene.chat(), 'Hello')
    const next = await scene.chat()
    expect(await scene.gateway.row(next.requestId)).toMatchObject({
      attempts: 1,
      channel: 'second',
    })
    expect(scene.first.requests).toHaveLength(1)
  })
})

test('U10 429 from every channel: 429 with the shortest wait', async () => {
  await onStage({}, async (scene) => {
    scene.first.on('m', [json(429, limited, 'retry-after: 7')])
    scene.second.on('m', [json(429, limited, 'retry-after: 3')])
    const seen = await scene.chat()
    expectError(seen, 429, 'rate_limit_exceeded')
    expect(seen.headers.get('retry-after')).toBe('3')
    expect((await scene.gateway.row(seen.requestId)).attempts).toBe(2)
  })
})

const page = `<html><body>${'x'.repeat(2_000_000)}</body></html>`

for (const status of [500, 502, 503, 529]) {
  test(`U11 ${status} with a page of 2 MB: our own error, little of it in the log, another channel serves`, async () => {
    await onStage({}, async (scene) => {
      scene.first.on('m', [reply(status, page, 'content-type: text/html')])
      await expectFailover(scene, await scene.chat(), 'Hello')
    })
    await onStage({ alone: true }, async (scene) => {
      scene.first.on('m', [reply(status, page, 'content-type: text/html')])
      const seen = await scene.chat()
      const shown = status === 500 ? 500 : 503
      const error = expectError(seen, shown, shown === 500 ? 'server_error' : 'service_unavailable')
      expect(error.message.length).toBeLessThan(300)
      expect(seen.text).not.toContain('<html>')
      expect(await scene.gateway.row(seen.requestId)).toMatchObject({
        status: shown,
        errorCause: `the vendor failed (status ${status})`,
        input: 0,
      })
      await scene.gateway.logged('an attempt failed')
      expect(scene.gateway.stderr.length).toBeLessThan(8_192)
    })
  })
}

test('U19 a redirect is not followed: the key goes nowhere else', async () => {
  await using elsewhere = await startUpstream()
  for (const status of [301, 302, 307, 308]) {
    await onStage({ alone: true }, async (scene) => {
      scene.first.on('m', [reply(status, '', `location: ${elsewhere.url}/chat/completions`)])
      expectError(await scene.chat(), 503, 'service_unavailable')
    })
  }
  await onStage({}, async (scene) => {
    scene.first.on('m', [reply(307, '', `location: ${elsewhere.url}/chat/completions`)])
    await expectFailover(scene, await scene.chat(), 'Hello')
  })
  expect(elsewhere.requests).toHaveLength(0)
}, 20_000)

const telling = (type: string, code: string | null) => ({
  error: {
    message: `Key ${secrets[0]} of Bearer ${secrets[0]}, failed`,
    type,
    code,
    param: `x ${secrets[0]}`,
  },
})

/** Each puts the key where a client or a log might show it; the stage searches both. */
const telltales: readonly [status: number, shown: number, code: string][] = [
  [400, 400, 'invalid_request_error'],
  [401, 503, 'service_unavailable'],
  [402, 503, 'service_unavailable'],
  [403, 503, 'service_unavailable'],
  [404, 503, 'service_unavailable'],
  [429, 429, 'rate_limit_exceeded'],
  [500, 500, 'server_error'],
]

for (const [status, shown, code] of telltales) {
  test(`U21 ${status} whose words hold our key: ${shown}, and the key is nowhere`, async () => {
    await onStage({ alone: true, env: { LOG_LEVEL: 'debug' } }, async (scene) => {
      scene.first.on('m', [json(status, telling('invalid_request_error', null))])
      expectError(await scene.chat(), shown, code)
      expectError(await scene.stream({ model: 'm' }), shown, code)
    })
  })
}

test('U21 a 400 whose code is our key: the key is nowhere', async () => {
  await onStage({ alone: true, env: { LOG_LEVEL: 'debug' } }, async (scene) => {
    scene.first.on('m', [json(400, telling('invalid_request_error', secrets[0] ?? ''))])
    expectError(await scene.chat(), 400, '[redacted]')
  })
})

test("U21 a 400 is the client's own, with the vendor's words, field and code", async () => {
  await onStage({}, async (scene) => {
    const error = {
      message: 'This model takes at most 4096 tokens.',
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    }
    scene.first.on('m', [json(400, { error })])
    const seen = await scene.chat()
    const shown = expectError(seen, 400, 'context_length_exceeded')
    expect(shown).toEqual(error)
    expect(scene.second.requests).toHaveLength(0)
    expect(seen.headers.get('x-should-retry')).toBe('false')
  })
})

for (const status of [401, 402, 403]) {
  test(`a vendor's ${status} is the operator's: another channel serves, an alarm is logged, the channel is left alone`, async () => {
    await onStage({}, async (scene) => {
      scene.first.on('m', [json(status, telling('authentication_error', null))])
      await expectFailover(scene, await scene.chat(), 'Hello')
      await scene.gateway.logged('a channel needs its operator')
      const next = await scene.chat()
      expect((await scene.gateway.row(next.requestId)).attempts).toBe(1)
      expect(scene.first.requests).toHaveLength(1)
    })
  })
}

for (const status of [502, 503, 504, 529, 408, 409, 424, 425, 499]) {
  test(`a vendor's ${status}: another channel serves; with none left 503 with its retry-after`, async () => {
    const busy = json(status, { error: { message: 'Not now.' } }, 'retry-after: 7')
    await onStage({}, async (scene) => {
      scene.first.on('m', [busy])
      await expectFailover(scene, await scene.chat(), 'Hello')
    })
    await onStage({ alone: true }, async (scene) => {
      scene.first.on('m', [busy])
      for (const seen of [await scene.chat(), await scene.stream()]) {
        const error = expectError(seen, 503, 'service_unavailable')
        expect(error.message).not.toContain('Not now.')
        expect(seen.headers.get('retry-after')).toBe('7')
        expect(seen.headers.get('x-should-retry')).toBe('true')
      }
    })
  })
}

test('500 is only said where every vendor failed of itself', async () => {
  await onStage({}, async (scene) => {
    scene.first.on('m', [json(500, { error: { message: 'Oops.' } })])
    scene.second.on('m', [json(503, { error: { message: 'Busy.' } }, 'retry-after: 3')])
    const seen = await scene.chat()
    expectError(seen, 503, 'service_unavailable')
    expect(seen.headers.get('retry-after')).toBe('3')
  })
})

for (const [status, error] of [
  [400, { message: 'The model `m` has been decommissioned.', code: 'model_decommissioned' }],
  [400, { message: 'Model Not Exist', code: 'invalid_request_error' }],
  [404, { message: 'The model `m` does not exist', code: 'model_not_found' }],
] as const) {
  test(`${status} ${error.message}: another channel serves, the operator is told, the client is not`, async () => {
    await onStage({}, async (scene) => {
      scene.first.on('m', [json(status, { error })])
      await expectFailover(scene, await scene.chat(), 'Hello')
      await scene.gateway.logged('a channel needs its operator')
    })
    await onStage({ alone: true }, async (scene) => {
      scene.first.on('m', [json(status, { error })])
      const seen = await scene.chat()
      expectError(seen, 503, 'service_unavailable')
      expect(seen.text).not.toContain(error.message)
    })
  })
}

for (const status of [401, 402]) {
  test(`a vendor's ${status}: requests while its channel is left alone are told the same, and how long`, async () => {
    await onStage({ alone: true }, async (scene) => {
      scene.first.on('m', [json(status, { error: { message: 'No.' } })])
      const first = await scene.chat()
      const again = await scene.chat()
      for (const seen of [first, again]) {
        expectError(seen, 503, 'service_unavailable')
        expect(seen.headers.get('x-should-retry')).toBe('false')
        expect(Number(seen.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(30)
      expect(scene.first.requests).toHaveLength(1)
    })
  })
}
