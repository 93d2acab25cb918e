// Tests a request repeated with its `Idempotency-Key`: answered as before, executed once, charged once.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { house, walletOf } from '../../src/store/ledger.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { testDatabaseUrl } from '../contract/databases.ts'
import { ask, eventually } from '../support/clients.ts'
import { expectRefusal } from '../support/requests.ts'
import {
  chatReply,
  delta,
  event,
  goodStream,
  hang,
  json,
  lastChunk,
  reply,
  type Script,
  send,
  sseHead,
  streamEnd,
  until,
  words,
} from '../support/upstream.ts'
import { ann, bob, openShop, poor, type Shop, type ShopOptions } from './customers.ts'

const chat = '/v1/chat/completions'
/** One dollar a million in, two out, for the upstream's 7 and 5 tokens. */
const chargeNano = 17_000n

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop[Symbol.asyncDispose]())

const others: Shop[] = []
afterEach(async () => {
  for (const other of others.splice(0)) await other[Symbol.asyncDispose]()
})

async function openOther(options: ShopOptions): Promise<Shop> {
  const other = await openShop(options)
  others.push(other)
  return other
}

let made = 0
/** A separate model for each test, so that its vendor's scripts and calls are separate. */
function newModel(...scripts: Script[]): string {
  const model = `m${++made}`
  if (scripts.length > 0) shop.upstream.on(model, ...scripts)
  return model
}

function bodyOf(model: string, more: Readonly<Record<string, unknown>> = {}) {
  return { model, messages: ask('Say hello.'), ...more }
}

const keyed = (key: string) => ({ 'idempotency-key': key })

interface Balance {
  readonly postedNano: string
  readonly heldNano: string
}

async function balanceOf(at: Shop, accountKey: string): Promise<Balance> {
  return (await (await at.get('/api/me/balance', accountKey)).json()) as Balance
}

async function posted(at: Shop, accountKey: string): Promise<bigint> {
  return BigInt((await balanceOf(at, accountKey)).postedNano)
}

/** The reply is repeated by the gateway alone. */
async function expectReplay(at: Shop, again: Response, first: Response, bytes: Uint8Array) {
  expect(again.status).toBe(200)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.headers.get('x-tollgate-original-request')).toBe(first.headers.get('x-request-id'))
  expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
  expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
  expect(Buffer.from(await again.bytes())).toEqual(Buffer.from(bytes))
  const row = await at.row(again.headers.get('x-request-id'))
  expect(row).toMatchObject({ status: 200, chargeNano: 0n, attempts: 0, errorCause: 'replayed' })
}

describe('the same request again', () => {
  test('a whole reply comes back byte for byte, for nothing', async () => {
    const odd = `{ "id":"x",\n"model" : "served", "choices":[{"index":0,"message":{"role":"assistant","content":"é\u2028🔑 \\u0000"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12} }\n`
    const model = newModel([reply(200, odd)])
    const before = await posted(shop, ann)
    const first = await shop.post(chat, bodyOf(model), keyed('whole'))
    const bytes = await first.bytes()
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    expect(Buffer.from(bytes).toString()).toContain('é\u2028🔑')
    for (let n = 0; n < 3; n += 1) {
      const again = await shop.post(chat, bodyOf(model), keyed('whole'))
      await expectReplay(shop, again, first, bytes)
    }
    expect(shop.upstream.of(model)).toHaveLength(1)
    expect((await shop.row(first.headers.get('x-request-id'))).chargeNano).toBe(chargeNano)
    expect(await posted(shop, ann)).toBe(before - chargeNano)
  })

  test('a stream comes back as the same events', async () => {
    const model = newModel(goodStream('Hel', 'lo é🔑'))
    const body = bodyOf(model, { stream: true, stream_options: { include_usage: true } })
    const first = await shop.post(chat, body, keyed('stream'))
    const bytes = await first.bytes()
    expect(Buffer.from(bytes).toString()).toEndWith('data: [DONE]\n\n')
    const again = await shop.post(chat, body, keyed('stream'))
    expect(again.headers.get('cache-control')).toBe('no-cache')
    await expectReplay(shop, again, first, bytes)
    expect(shop.upstream.of(model)).toHaveLength(1)
  })

  test('a reply that showed its cost shows it again', async () => {
    const model = newModel()
    const headers = { ...keyed('cost'), 'x-tollgate-cost': 'true' }
    const first = await shop.post(chat, bodyOf(model), headers)
    const bytes = await first.bytes()
    expect(JSON.parse(Buffer.from(bytes).toString()).usage.cost).toBe('0.000017')
    await expectReplay(shop, await shop.post(chat, bodyOf(model), headers), first, bytes)
  })

  test('the same body at the same endpoint only', async () => {
    const model = newModel()
    await (await shop.post(chat, bodyOf(model), keyed('other'))).bytes()
    for (const again of [
      await shop.post(chat, bodyOf(model, { seed: 1 }), keyed('other')),
      await shop.post('/v1/completions', { ...bodyOf(model), prompt: 'x' }, keyed('other')),
    ]) {
      const error = await expectRefusal(again, 422, 'idempotency_key_reused')
      expect(error.param).toBe('Idempotency-Key')
      expect(again.headers.get('x-should-retry')).toBe('false')
    }
    expect(shop.upstream.of(model)).toHaveLength(1)
  })

  test('the key of another account is another key', async () => {
    const model = newModel()
    for (const key of [ann, bob]) {
      const response = await shop.post(chat, bodyOf(model), keyed('shared'), key)
      expect(response.headers.get('idempotent-replayed')).toBeNull()
      expect(response.status).toBe(200)
      await response.bytes()
    }
    expect(shop.upstream.of(model)).toHaveLength(2)
  })

  test('while the first runs it is refused, with when to come again', async () => {
    const release = Promise.withResolvers<void>()
    const model = newModel([until(release.promise), json(200, chatReply())])
    const first = shop.post(chat, bodyOf(model), keyed('running'))
    await eventually(() => shop.upstream.of(model)[0])
    const again = await shop.post(chat, bodyOf(model), keyed('running'))
    await expectRefusal(again, 409, 'request_in_progress')
    expect(again.headers.get('retry-after')).toBe('1')
    expect(again.headers.get('x-should-retry')).toBe('true')
    expect((await shop.row(again.headers.get('x-request-id'))).chargeNano).toBe(0n)
    release.resolve()
    const done = await first
    const bytes = await done.bytes()
    await expectReplay(shop, await shop.post(chat, bodyOf(model), keyed('running')), done, bytes)
    expect(shop.upstream.of(model)).toHaveLength(1)
  })
})

/** C11: however many at once, the work is done once. */
/** The ledger may not answer in time on a busy host: a request that is told to come again is repeated. */
async function askUntilAnswered(at: Shop): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const reply = await at.post(chat, bodyOf('m'), keyed('crowd'))
    if (reply.status !== 503 || tries === 20) return reply
    expect(reply.headers.get('x-should-retry')).toBe('true')
    await reply.bytes()
  }
}

async function expectOnce(at: Shop) {
  const before = await posted(at, ann)
  const replies = await Promise.all(Array.from({ length: 200 }, () => askUntilAnswered(at)))
  const texts = await Promise.all(replies.map((each) => each.text()))
  const done = replies.filter(({ status }) => status === 200)
  const fresh = done.filter(({ headers }) => headers.get('idempotent-replayed') === null)
  expect(fresh).toHaveLength(1)
  expect(new Set(texts.filter((_, index) => replies[index]?.status === 200)).size).toBe(1)
  const refused = texts.filter((_, index) => replies[index]?.status === 409)
  expect(
    replies
      .filter(({ status }) => status !== 200 && status !== 409)
      .map(({ headers }) => texts[replies.findIndex((each) => each.headers === headers)]),
  ).toEqual([])
  expect(done.length + refused.length).toBe(200)
  for (const text of refused) expect(JSON.parse(text).error.code).toBe('request_in_progress')
  expect(at.upstream.of('m')).toHaveLength(1)
  for (const { headers } of replies) await at.row(headers.get('x-request-id'))
  expect(await posted(at, ann)).toBe(before - chargeNano)
}

describe('C11: 200 at once with one key are one call and one charge', () => {
  test('on one process', async () => {
    await expectOnce(await openOther({}))
  })

  test('on two workers', async () => {
    await expectOnce(await openOther({ workers: 2 }))
  })

  test.skipIf(testDatabaseUrl === null)('on two workers on PostgreSQL', async () => {
    await expectOnce(await openOther({ workers: 2, databaseUrl: testDatabaseUrl ?? '' }))
  })
})

describe('a request that was not done frees its key', () => {
  const served: Script = [json(200, chatReply())]
  const refusals: readonly [what: string, status: number, script: Script][] = [
    ['the vendor refuses', 400, [json(400, { error: { message: 'no', type: 'x', code: null } })]],
    ['the vendor fails', 500, [json(500, { error: { message: 'oh', type: 'x', code: null } })]],
    ['the vendor is busy', 429, [json(429, { error: { message: 'wait', code: null } })]],
  ]
  test.each(refusals)('%s: %i', async (_what, status, script) => {
    // A vendor's refusal may cool the channel down, which another test covers, so each has a separate gateway.
    const at = await openOther({ config: { retry: { maxAttempts: 1 } } })
    at.upstream.on('m', script, served)
    const first = await at.post(chat, bodyOf('m'), keyed('k'))
    expect(first.status).toBe(status)
    await first.bytes()
    const done = await eventually(async () => {
      const again = await at.post(chat, bodyOf('m'), keyed('k'))
      const bytes = await again.bytes()
      return again.status === 200 ? { again, bytes } : undefined
    }, 20_000)
    expect(done.again.headers.get('idempotent-replayed')).toBeNull()
    const third = await at.post(chat, bodyOf('m'), keyed('k'))
    await expectReplay(at, third, done.again, done.bytes)
  })

  test('the account cannot pay, then it can', async () => {
    const model = newModel()
    const first = await shop.post(chat, bodyOf(model), keyed('paid'), poor)
    await expectRefusal(first, 429, 'insufficient_quota')
    await shop.withStore((store) =>
      store.journal.post([
        {
          id: 'adjust:gift',
          code: 'adjust',
          debit: house.adjust,
          credit: walletOf('poor'),
          amountNano: 1_000_000_000n,
          actor: 'test',
          reason: 'to pay with',
          at: Date.now(),
        },
      ]),
    )
    const again = await shop.post(chat, bodyOf(model), keyed('paid'), poor)
    expect(again.status).toBe(200)
    expect(again.headers.get('idempotent-replayed')).toBeNull()
  })

  test('the client left', async () => {
    const model = newModel([send(sseHead), send(words('Hello')), hang], goodStream('Again'))
    const body = bodyOf(model, { stream: true })
    const leaving = new AbortController()
    const first = await fetch(shop.url + chat, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann}`, ...keyed('left') },
      body: JSON.stringify(body),
      signal: leaving.signal,
    })
    await first.body?.getReader().read()
    leaving.abort()
    expect((await shop.row(first.headers.get('x-request-id'))).status).toBe(499)
    const again = await shop.post(chat, body, keyed('left'))
    expect(await again.text()).toContain('Again')
    expect(again.headers.get('idempotent-replayed')).toBeNull()
  })

  test('the stream broke', async () => {
    const broken: Script = [send(sseHead), send(words('Hello')), send(lastChunk)]
    const model = newModel(broken, goodStream('Again'))
    const body = bodyOf(model, { stream: true })
    const first = await shop.post(chat, body, keyed('broke'))
    expect(await first.text()).toContain('service_unavailable')
    const again = await shop.post(chat, body, keyed('broke'))
    expect(await again.text()).toContain('Again')
  })
})

describe('a reply that cannot be kept is not worked for again', () => {
  const large = JSON.stringify(chatReply('x'.repeat(1_048_576)))
  const largeStream: Script = [
    send(sseHead),
    send(words(...Array.from({ length: 40 }, () => 'y'.repeat(32_768)))),
    send(streamEnd),
  ]
  const notText = Buffer.from(JSON.stringify(chatReply('?')))
  notText[notText.indexOf('?')] = 0xff
  const cases: readonly [string, Script, boolean][] = [
    ['a whole reply above 1 MiB', [reply(200, large)], false],
    ['a stream above 1 MiB', largeStream, true],
    ['a reply that is no text', [reply(200, notText)], false],
  ]
  test.each(cases)('%s', async (_what, script, stream) => {
    const model = newModel(script)
    const first = await shop.post(chat, bodyOf(model, { stream }), keyed(`large-${model}`))
    expect(first.status).toBe(200)
    await first.bytes()
    const again = await shop.post(chat, bodyOf(model, { stream }), keyed(`large-${model}`))
    const error = await expectRefusal(again, 409, 'reply_not_kept')
    expect(error.message).toContain(first.headers.get('x-request-id') ?? '')
    expect(again.headers.get('x-should-retry')).toBe('false')
    expect(shop.upstream.of(model)).toHaveLength(1)
  })
})

const engines = [
  { engine: 'SQLite', options: {} },
  ...(testDatabaseUrl === null
    ? []
    : [{ engine: 'PostgreSQL', options: { databaseUrl: testDatabaseUrl } }]),
]

describe.each(engines)('across a kill -9 on $engine', ({ options }) => {
  let at: Shop
  let whole: Response
  let wholeBytes: Uint8Array
  let streamed: Response
  const streamBody = bodyOf('m-streamed', { stream: true })

  beforeAll(async () => {
    at = await openShop(options)
    whole = await at.post(chat, bodyOf('m-whole'), keyed('whole'))
    wholeBytes = await whole.bytes()
    const part = event(delta({ content: 'z'.repeat(4_096) }))
    at.upstream.on('m-streamed', [send(sseHead), send(part), send(part), hang])
    streamed = await at.post(chat, streamBody, keyed('streamed'))
    const reader = streamed.body?.getReader()
    for (let bytes = 0; bytes < 2 * 4_096; ) {
      bytes += (await reader?.read())?.value?.length ?? 0
    }
    // A stream's first hold covers 1,024 tokens; as it grows, what was used is written down.
    const textNano = 2_000n * BigInt(Math.ceil((2 * 4_096) / 4))
    await eventually(async () =>
      BigInt((await balanceOf(at, ann)).heldNano) > textNano ? true : undefined,
    )
    at.upstream.on('m-none', [hang], [json(200, chatReply())])
    const lost = at.post(chat, bodyOf('m-none'), keyed('none')).catch(() => null)
    await at.upstream.arrived(3)
    await at.kill()
    await lost
    await at.start()
  })
  afterAll(() => at[Symbol.asyncDispose]())

  test('what had its reply is given it again', async () => {
    const again = await at.post(chat, bodyOf('m-whole'), keyed('whole'))
    await expectReplay(at, again, whole, wholeBytes)
    expect(at.upstream.of('m-whole')).toHaveLength(1)
    expect((await at.row(whole.headers.get('x-request-id'))).chargeNano).toBe(chargeNano)
  })

  test('what had come to nothing is done', async () => {
    const again = await at.post(chat, bodyOf('m-none'), keyed('none'))
    expect(again.status).toBe(200)
    expect(again.headers.get('idempotent-replayed')).toBeNull()
    expect((await at.row(again.headers.get('x-request-id'))).chargeNano).toBe(chargeNano)
  })

  test('a stream that was charged for stays done', async () => {
    const row = await at.row(streamed.headers.get('x-request-id'))
    expect(row.chargeNano).toBeGreaterThan(0n)
    await expectRefusal(await at.post(chat, streamBody, keyed('streamed')), 409, 'reply_not_kept')
    expect(at.upstream.of('m-streamed')).toHaveLength(1)
  })

  test('and the balance is what all of it cost', async () => {
    const charges = (await at.rows()).map((row) => row.chargeNano)
    const total = charges.reduce((sum, each) => sum + each, 0n)
    expect(total).toBeGreaterThan(2n * chargeNano)
    expect(await posted(at, ann)).toBe(100_000_000_000n - total)
  })
})

test.each([
  ['', 'empty'],
  ['two words', 'with a blank'],
  ['schlüssel', 'not ASCII'],
  ['k'.repeat(256), 'too long'],
])('the key %j is refused: %s', async (key) => {
  const model = newModel()
  const refused = await shop.post(chat, bodyOf(model), keyed(key))
  const error = await expectRefusal(refused, 400, 'invalid_request_error')
  expect(error.param).toBe('Idempotency-Key')
  expect(shop.upstream.of(model)).toHaveLength(0)
})

test('a reply longer than the configuration says is not kept', async () => {
  const at = await openOther({ config: { billing: { idempotencyReplyBytes: 10 } } })
  const first = await at.post(chat, bodyOf('m'), keyed('k'))
  expect(first.status).toBe(200)
  await at.row(first.headers.get('x-request-id'))
  await expectRefusal(await at.post(chat, bodyOf('m'), keyed('k')), 409, 'reply_not_kept')
  expect(at.upstream.of('m')).toHaveLength(1)
})

test('a key lasts as long as the configuration says, and is free after that', async () => {
  const at = await openOther({ config: { billing: { idempotencyHours: 2 } } })
  const beganMs = Date.now()
  const first = await at.post(chat, bodyOf('m'), keyed('k'))
  await at.row(first.headers.get('x-request-id'))
  const engine =
    at.databaseUrl === null ? await openSqlite(at.dataDir) : await openPostgres(at.databaseUrl)
  try {
    const [kept] = await engine.query<{ readonly expiresAt: number }>(
      'SELECT expires_at AS "expiresAt" FROM idempotency',
      [],
    )
    const hours = ((kept?.expiresAt ?? 0) - beganMs) / 3_600_000
    expect(hours).toBeGreaterThanOrEqual(2)
    expect(hours).toBeLessThan(2.01)
    await engine.run('UPDATE idempotency SET expires_at = ?', [beganMs - 1])
  } finally {
    await engine.close()
  }
  const again = await at.post(chat, bodyOf('m', { seed: 1 }), keyed('k'))
  expect(again.status).toBe(200)
  expect(again.headers.get('idempotent-replayed')).toBeNull()
  expect(at.upstream.of('m')).toHaveLength(2)
})

/** The official client has the option `idempotencyKey`, but does not send a header for it by itself. */
class KeyedOpenAI extends OpenAI {
  protected override idempotencyHeader = 'Idempotency-Key'
}

test('the official SDK: its idempotencyKey, and its own retries', async () => {
  const release = Promise.withResolvers<void>()
  const model = newModel([until(release.promise), json(200, chatReply('Once'))])
  const client = new KeyedOpenAI({ baseURL: `${shop.url}/v1`, apiKey: ann, maxRetries: 2 })
  const create = () =>
    client.chat.completions.create(
      { model, messages: ask('Say hello.') },
      { idempotencyKey: 'sdk' },
    )
  const first = create()
  await eventually(() => shop.upstream.of(model)[0])
  const second = create()
  // The second gets 409 and retries by itself.
  await eventually(async () =>
    (await shop.rows()).find((row) => row.modelAsked === model && row.status === 409),
  )
  release.resolve()
  expect((await first).choices[0]?.message.content).toBe('Once')
  expect(await second).toEqual(await first)
  expect(shop.upstream.of(model)).toHaveLength(1)
})
