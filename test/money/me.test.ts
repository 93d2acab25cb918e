// Tests what a key may read of its account: balance and usage, and nothing of other accounts or of the operator.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ask, eventually } from '../support/clients.ts'
import { expectRefusal } from '../support/requests.ts'
import { json } from '../support/upstream.ts'
import { ann, bob, openShop, poor, type Shop, seesCost } from './customers.ts'

const chat = '/v1/chat/completions'
const usage = '/api/me/usage'

interface Item {
  readonly requestId: string
  readonly at: string
  readonly model: string
  readonly status: number
  readonly key: string
  readonly chargeNano: string
}

interface List {
  readonly object: string
  readonly data: readonly Item[]
  readonly has_more: boolean
  readonly first_id: string | null
  readonly last_id: string | null
}

let shop: Shop
/** Requests of `ann`, newest first: 6 of one model, then one that the vendor refused, then one of her other key. */
let made: readonly string[]

beforeAll(async () => {
  shop = await openShop()
  shop.upstream.on('refused', [json(400, { error: { message: 'no', type: 'x', code: null } })])
  const ids: string[] = []
  const send = async (model: string, key: string) => {
    const reply = await shop.post(chat, { model, messages: ask('Hello') }, {}, key)
    await reply.bytes()
    ids.unshift(reply.headers.get('x-request-id') ?? '')
  }
  for (let n = 0; n < 6; n += 1) await send('good', ann)
  await send('refused', ann)
  await send('good', seesCost)
  made = ids
  await eventually(async () => ((await shop.rows()).length === 8 ? true : undefined))
})
afterAll(() => shop[Symbol.asyncDispose]())

async function list(query = '', key = ann): Promise<List> {
  const reply = await shop.get(`${usage}${query}`, key)
  expect(reply.status).toBe(200)
  return (await reply.json()) as List
}

const idsOf = ({ data }: List) => data.map(({ requestId }) => requestId)

describe('the balance', () => {
  test('is the account less what was charged, in units and billionths', async () => {
    // Holds are noted at intervals, so a request that has ended may still count.
    const balance = await eventually(async () => {
      const found = (await (await shop.get('/api/me/balance')).json()) as Record<string, string>
      return found['heldNano'] === '0' ? found : undefined
    })
    expect(balance).toEqual({
      object: 'balance',
      account: 'ann',
      currency: 'USD',
      available: '99.999881',
      held: '0',
      posted: '99.999881',
      availableNano: '99999881000',
      heldNano: '0',
      postedNano: '99999881000',
    })
  })

  test('of an account that never had money is 0', async () => {
    const body = await (await shop.get('/api/me/balance', poor)).json()
    expect(body).toMatchObject({ account: 'poor', available: '0', postedNano: '0' })
  })
})

describe('the list of requests', () => {
  test('is newest first, of this account alone', async () => {
    const all = await list()
    expect(idsOf(all)).toEqual([...made])
    expect(all).toMatchObject({ object: 'list', has_more: false })
    expect([all.first_id, all.last_id]).toEqual([made[0] ?? '', made.at(-1) ?? ''])
    expect(await list('', bob)).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    })
  })

  test.each([1, 2, 3, 8, 1_000])('in pages of %i walks every row once', async (limit) => {
    const seen: string[] = []
    for (let after: string | null = null; ; ) {
      const page = await list(`?limit=${limit}${after === null ? '' : `&after=${after}`}`)
      expect(page.data.length).toBeLessThanOrEqual(limit)
      seen.push(...idsOf(page))
      after = page.last_id
      if (!page.has_more) break
    }
    expect(seen).toEqual([...made])
  })

  test('narrowed by model, status, key and time', async () => {
    expect(idsOf(await list('?model=refused'))).toEqual([made[1] ?? ''])
    expect(idsOf(await list('?status=400'))).toEqual([made[1] ?? ''])
    expect(idsOf(await list('?key=me'))).toEqual(made.slice(1))
    expect(idsOf(await list('?key=me', seesCost))).toEqual(made.slice(0, 1))
    const [first] = (await list('?key=me', seesCost)).data
    expect(idsOf(await list(`?key=${first?.key}`))).toEqual(made.slice(0, 1))
    const third = (await list()).data[2]
    const at = encodeURIComponent(third?.at ?? '')
    const since = idsOf(await list(`?since=${at}`))
    const until = idsOf(await list(`?until=${at}`))
    expect([...since, ...until]).toEqual([...made])
    expect(since).toContain(third?.requestId ?? '')
    expect((await list('?since=2999-01-01')).data).toEqual([])
    expect((await list('?model=%00&key=%F0%9F%94%91')).data).toEqual([])
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1e2', 'limit'],
    ['limit=', 'limit'],
    ['status=99', 'status'],
    ['status=ok', 'status'],
    ['since=yesterday', 'since'],
    ['since=2027-02-31', 'since'],
    ['since=2027-01-31T08:00:00', 'since'],
    ['since=2027-01-31T08:00:00+02:00', 'since'],
    ['until=1795000000000', 'until'],
    ['until=2027-01-31nonsense', 'until'],
    ['after=req_nobodys', 'after'],
    ['after=', 'after'],
    ['after=%00', 'after'],
    ['page=2', 'page'],
  ])('%s is refused by name', async (query, param) => {
    const refused = await shop.get(`${usage}?${query}`)
    expect((await expectRefusal(refused, 400, 'invalid_request_error')).param).toBe(param)
  })

  test("another account's request is no place to go on from", async () => {
    const refused = await shop.get(`${usage}?after=${made[0]}`, bob)
    expect((await expectRefusal(refused, 400, 'invalid_request_error')).param).toBe('after')
  })
})

describe('one request', () => {
  test('says what it cost and why, and nothing of the operator', async () => {
    const reply = await shop.get(`${usage}/${made[7]}`)
    const item = (await reply.json()) as Record<string, unknown>
    expect(item).toMatchObject({
      requestId: made[7] ?? '',
      account: 'ann',
      keyName: 'ann',
      operation: 'chat',
      model: 'good',
      modelServed: 'served',
      status: 200,
      attempts: 1,
      stream: false,
      tokens: { input: 7, cachedInput: 0, output: 5, reasoning: 0 },
      usageSource: 'reported',
      cost: '0.000017',
      chargeNano: '17000',
      writeoffNano: '0',
      multiplier: '1',
      errorCode: null,
    })
    expect(item['formula']).toContain('17000')
    const listed = (await list()).data[7]
    expect(listed).toEqual(item as unknown as Item)
    for (const name of ['channel', 'vendor', 'vendorCostNano', 'failedAttempts', 'errorCause']) {
      expect(item).not.toHaveProperty(name)
    }
  })

  test('by its percent-encoded id too', async () => {
    const encoded = (made[0] ?? '').replace('_', '%5F')
    expect((await shop.get(`${usage}/${encoded}`)).status).toBe(200)
  })

  test.each(['req_nobodys', '%', '%zz', '%C3%28', '%00', '%2F', '%F0%9F%94%91', 'x'.repeat(4_000)])(
    '%s is not there',
    async (id) => {
      await expectRefusal(await shop.get(`${usage}/${id}`), 404, 'not_found')
    },
  )

  test("another account's is not there", async () => {
    await expectRefusal(await shop.get(`${usage}/${made[0]}`, bob), 404, 'not_found')
  })
})

describe.each(['/api/me/balance', usage, `${usage}/req_any`])('%s', (path) => {
  test('needs a key', async () => {
    await expectRefusal(await fetch(shop.url + path), 401, 'invalid_api_key')
    await expectRefusal(await shop.get(path, 'sk-nobody'), 401, 'invalid_api_key')
  })

  test.each(['POST', 'PUT', 'DELETE'])('takes no %s', async (method) => {
    const refused = await shop.get(path, ann, method)
    expect(refused.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    await expectRefusal(refused, 405, 'method_not_allowed')
  })

  test('answers HEAD as GET, without a body', async () => {
    const head = await shop.get(path, ann, 'HEAD')
    const get = await shop.get(path)
    expect(head.status).toBe(get.status)
    expect(await head.text()).toBe('')
    expect(head.headers.get('x-request-id')).toMatch(/^req_/)
    await get.bytes()
  })

  test('may be read from a page of another origin', async () => {
    const origin = 'https://app.example'
    const asked = await fetch(shop.url + path, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-headers': 'authorization' },
    })
    expect(asked.status).toBe(204)
    expect(asked.headers.get('access-control-allow-origin')).toBe('*')
    expect(asked.headers.get('access-control-allow-headers')).toBe('authorization')
    const read = await fetch(shop.url + path, {
      headers: { origin, authorization: `Bearer ${ann}` },
    })
    expect(read.headers.get('access-control-allow-origin')).toBe('*')
    await read.bytes()
  })
})

test('a key that calls models reads nothing else below /api', async () => {
  for (const path of ['/api/me', '/api/me/keys', '/api/nothing', `${usage}/`, `${usage}/a/b`]) {
    const reply = await shop.get(path)
    expect([reply.status, (await reply.json()).code]).toEqual([403, 'forbidden'])
  }
})
