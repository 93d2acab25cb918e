// Tests faulty whole replies: unreadable, compressed, with odd counts or headers (U12, U17, U18, U20).

import { expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { residentBytes } from '../support/gateway.ts'
import { isLong } from '../support/long.ts'
import { expectError, expectFailover, onStage } from '../support/scene.ts'
import {
  chatReply,
  chunk,
  delta,
  event,
  goodStream,
  halfClose,
  head,
  json,
  reply,
  type Script,
  send,
  sseHead,
  usage,
  words,
} from '../support/upstream.ts'

const unreadable: readonly [name: string, script: Script][] = [
  ['malformed JSON', [reply(200, '{"id":"chatcmpl-1","choices":[')]],
  ['an empty body', [reply(200, '')]],
  ['no body, status 204', [send(head(204))]],
  ['a page', [reply(200, '<html>Welcome</html>', 'content-type: text/html')]],
  ['JSON null', [reply(200, 'null')]],
  ['JSON without choices', [json(200, { ok: true })]],
]

for (const [name, script] of unreadable) {
  test(`U12 200 with ${name}: another channel serves, else 503`, async () => {
    await onStage({}, async (scene) => {
      scene.first.on('m', script)
      await expectFailover(scene, await scene.chat(), 'Hello')
    })
    await onStage({ alone: true }, async (scene) => {
      scene.first.on('m', script)
      const seen = await scene.chat()
      expectError(seen, 503, 'service_unavailable')
      expect(await scene.gateway.row(seen.requestId)).toMatchObject({
        status: 503,
        errorCause: "the vendor's reply could not be read",
        usageSource: 'none',
      })
    })
  })
}

const codings = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: (bytes: Buffer) =>
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: zstdCompressSync,
} as const
const text = JSON.stringify(chatReply('compressed '.repeat(50)))
const mebibyte = 1 << 20

for (const [coding, compress] of Object.entries(codings)) {
  const packed = compress(Buffer.from(text))

  test(`U17 ${coding} although none was asked for: decoded, whole and streamed`, async () => {
    await onStage({ alone: true }, async (scene) => {
      scene.first.on('m', [reply(200, packed, `content-encoding: ${coding}`)])
      const seen = await scene.chat()
      expect(seen.text).toBe(text)
      expect(seen.headers.get('content-encoding')).toBeNull()
      expect(scene.first.requests[0]?.headers.get('accept-encoding')).toBe('identity')
      const events = compress(
        Buffer.from(
          `data: ${JSON.stringify(delta({ content: 'Hi' }))}\n\ndata: ${JSON.stringify(delta({}, 'stop'))}\n\ndata: [DONE]\n\n`,
        ),
      )
      const fields = ['content-type: text/event-stream', `content-encoding: ${coding}`]
      scene.first.on('m', [reply(200, events, ...fields)])
      const streamed = await scene.stream()
      expect({ content: streamed.content, last: streamed.events.at(-1) }).toEqual({
        content: 'Hi',
        last: '[DONE]',
      })
    })
  })

  test(`U17 ${coding} cut short or damaged: another channel serves`, async () => {
    const short = packed.subarray(0, packed.length - 12)
    const damaged = Buffer.from(packed).fill(0xff, 8, 24)
    for (const bytes of [short, damaged]) {
      await onStage({}, async (scene) => {
        scene.first.on('m', [reply(200, bytes, `content-encoding: ${coding}`)])
        await expectFailover(scene, await scene.chat(), 'Hello')
      })
    }
  })

  test(`U17 a ${coding} bomb: refused, memory stays, the next request is served`, async () => {
    // Blanks are valid JSON, so only the bound on growth can refuse them.
    const bomb = compress(Buffer.alloc(256 * mebibyte, 0x20))
    await onStage({ alone: true }, async (scene) => {
      const { gateway, first } = scene
      await scene.chat()
      const before = residentBytes(gateway.pid)
      first.on('m', [reply(200, bomb, `content-encoding: ${coding}`)], [json(200, chatReply())])
      const seen = await scene.chat()
      expectError(seen, 503, 'service_unavailable')
      expect(await gateway.row(seen.requestId)).toMatchObject({
        errorCode: 'service_unavailable',
        errorCause: "the vendor's reply could not be read",
      })
      if (isLong) expect(residentBytes(gateway.pid) - before).toBeLessThan(24 * mebibyte)
      expect((await scene.chat()).content).toBe('Hello')
    })
  }, 20_000)
}

test('U17 an unknown coding: another channel serves', async () => {
  await onStage({}, async (scene) => {
    scene.first.on('m', [reply(200, text, 'content-encoding: lzma')])
    await expectFailover(scene, await scene.chat(), 'Hello')
  })
})

const counted = 'counted'
const counts: readonly [name: string, usage: unknown, source: UsageRow['usageSource'] | 'any'][] = [
  ['missing', undefined, counted],
  ['null', null, counted],
  ['a text', 'many', counted],
  ['empty', {}, counted],
  ['negative', { prompt_tokens: -5, completion_tokens: -1 }, 'any'],
  ['as texts', { prompt_tokens: '7', completion_tokens: '5' }, 'any'],
  ['beyond all bounds', { prompt_tokens: 1e300, completion_tokens: 1e300 }, 'any'],
  ['fractions', { prompt_tokens: 1.5, completion_tokens: 2.5 }, 'any'],
  ['more cached than read', { ...usage, prompt_tokens_details: { cached_tokens: 99 } }, 'any'],
  ['contradictory', { ...usage, total_tokens: 1 }, 'reported'],
]

test('U18 odd counts of tokens: the record holds whole numbers within bounds, the client gets its reply', async () => {
  await onStage({ alone: true }, async (scene) => {
    for (const [n, [name, odd, source]] of counts.entries()) {
      const model = `m-usage-${n}`
      scene.first.on(model, [json(200, { ...chatReply('Hello there'), usage: odd })])
      const seen = await scene.chat({ model })
      expect({ name, content: seen.content }).toEqual({ name, content: 'Hello there' })
      const row = await scene.gateway.row(seen.requestId)
      for (const kind of ['input', 'cachedInput', 'cacheWrite', 'output', 'reasoning'] as const) {
        const right = Number.isSafeInteger(row[kind]) && row[kind] >= 0 && row[kind] < 1e9
        expect({ name, kind, count: row[kind], right }).toEqual({
          name,
          kind,
          count: row[kind],
          right: true,
        })
      }
      if (source !== 'any') expect({ name, source: row.usageSource }).toEqual({ name, source })
      if (source === counted) expect({ name, some: row.output > 0 }).toEqual({ name, some: true })
    }
  })
})

test('U18 counts of a stream: after the finish, twice, with the finish, never', async () => {
  const finish = event(delta({}, 'stop'))
  const tail = (count: unknown) => event({ ...delta({}), choices: [], usage: count })
  const last = { prompt_tokens: 70, completion_tokens: 50, total_tokens: 120 }
  const end = Buffer.concat([event('[DONE]'), Buffer.from('0\r\n\r\n')])
  const cases: readonly [
    name: string,
    pieces: Buffer[],
    input: number,
    source: UsageRow['usageSource'],
  ][] = [
    ['after', [finish, tail(last)], 70, 'reported'],
    ['twice', [tail(usage), finish, tail(last)], 70, 'reported'],
    ['with', [event(delta({}, 'stop', { usage: last }))], 70, 'reported'],
    ['null', [finish, tail(null)], 0, counted],
    ['never', [finish], 0, counted],
  ]
  await onStage({ alone: true }, async (scene) => {
    for (const [name, pieces, input, source] of cases) {
      const model = `m-${name}`
      scene.first.on(model, [
        send(Buffer.concat([Buffer.from(sseHead), words('Hello'), ...pieces, end])),
      ])
      const seen = await scene.stream({ model })
      const row = await scene.gateway.row(seen.requestId)
      const got = { name, content: seen.content, source: row.usageSource, done: seen.events.at(-1) }
      expect(got).toEqual({ name, content: 'Hello', source, done: '[DONE]' })
      if (source === 'reported') expect({ name, input: row.input }).toEqual({ name, input })
      else expect(row.input).toBeGreaterThan(0)
    }
  })
})

const body = JSON.stringify(chatReply('Hello'))
const lengthHead = head(200, 'content-type: application/json', `content-length: ${body.length}`)
const oddHeads: readonly [name: string, script: Script][] = [
  ['100 and 103 before it', [send(head(100) + head(103, 'link: </x>') + lengthHead + body)]],
  [
    'trailers',
    [
      send(head(200, 'content-type: application/json', 'transfer-encoding: chunked')),
      send(Buffer.concat([chunk(body), Buffer.from('0\r\nx-sum: 1\r\nx-more: 2\r\n\r\n')])),
    ],
  ],
  [
    'HTTP/1.0 and no length',
    [send(`HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${body}`), halfClose],
  ],
  ['no length', [send(head(200, 'content-type: application/json') + body), halfClose]],
  [
    'upper case and repeated fields',
    [
      send(
        `HTTP/1.1 200\r\nCONTENT-TYPE:application/json\r\nContent-Length: ${body.length}\r\nX-A: 1\r\nX-A: 2\r\n\r\n${body}`,
      ),
    ],
  ],
  [
    'its chunks of one byte',
    [
      send(head(200, 'content-type: application/json', 'transfer-encoding: chunked')),
      send(Buffer.concat([...body].map((byte) => chunk(byte)))),
      send('0\r\n\r\n'),
    ],
  ],
]

test('U20 odd but right heads: the reply is the same, and the next request is answered', async () => {
  await onStage({ alone: true }, async (scene) => {
    for (const [n, [name, script]] of oddHeads.entries()) {
      const model = `m-head-${n}`
      scene.first.on(model, script)
      for (const time of [1, 2]) {
        const seen = await scene.chat({ model })
        expect({ name, time, text: seen.text }).toEqual({ name, time, text: body })
      }
    }
  })
})

test('U20 fields of the vendor stay with the gateway', async () => {
  const fields = [
    'set-cookie: session=1',
    'server: vendor',
    'keep-alive: timeout=5',
    'proxy-authenticate: Basic',
    'x-request-id: theirs',
    'openai-organization: ours',
    'connection: keep-alive, x-hop',
    'x-hop: 1',
  ]
  await onStage({ alone: true }, async (scene) => {
    scene.first.on('m', [json(200, chatReply(), ...fields)])
    const { headers } = await scene.chat()
    for (const field of fields) {
      const [name = '', value = ''] = field.split(': ')
      const shown = headers.get(name)
      expect({ name, shown: shown === value }).toEqual({ name, shown: false })
    }
    scene.first.on('m', goodStream('Hi'))
    expect((await scene.stream()).headers.get('transfer-encoding')).toBe('chunked')
  })
})
