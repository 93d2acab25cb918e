// Tests finished requests over the control API: who sees what, receipts, files, the live tail and the ledger.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ControlPrincipal } from '../../src/identity/principal.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { settlement, usageRow } from '../contract/store.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'
import { fund } from '../support/ledger-scene.ts'

const ann = person('ann')
const bob = person('bob')
const at = Date.now() - 3_600_000
const minuteMs = 60_000

let stage: ControlStage
/** Signed out or suspended: nobody from then on. */
let gone = false

beforeAll(async () => {
  stage = await controlStage({
    services: {
      sessions: {
        sessionOf: async (headers) => {
          const account = headers.get('x-who')
          if (gone || account === null) return null
          return { kind: 'session', sessionId: account, account, role: 'user', signedInAt: 0 }
        },
        handler: async () => new Response('auth'),
      },
    },
  })
  for (const account of ['ann', 'bob']) await fund(stage.store, account, 10n ** 12n)
  const version = await stage.store.prices.append([
    {
      model: 'gpt',
      effectiveFrom: 0,
      prices: { input: '0.15', cachedInput: '0.075', output: '0.6' },
      origin: 'set',
      source: 'test',
      sourceDate: null,
      actor: null,
      createdAt: 1,
    },
  ])
  await settle(...rowsPricedBy(version[0] ?? 0))
})
afterAll(() => stage.close())

async function settle(...rows: readonly UsageRow[]): Promise<void> {
  await stage.store.settlements.settle(rows.map((row) => settlement({ row })))
}

const as = (who: ControlPrincipal) => (who.kind === 'session' ? { 'x-who': who.account } : {})
const operator = manager(null, ['read'])
const get = (who: ControlPrincipal, path: string, headers: Record<string, string> = {}) =>
  stage.send(who, 'GET', path, { headers: { ...as(who), ...headers } })
const ids = (json: { items: { requestId: string }[] }) =>
  json.items.map(({ requestId }) => requestId)

describe('the list', () => {
  test('is of the caller’s own requests of the last day, an operator’s of all', async () => {
    expect(ids((await get(ann, '/api/requests')).json)).toEqual(['req_failed', 'req_paid'])
    expect(ids((await get(ann, '/api/requests?since=7d')).json)).toContain('req_old')
    expect(ids((await get(bob, '/api/requests?account=bob')).json)).toEqual(['req_bob'])
    expect((await get(ann, '/api/requests?account=bob')).status).toBe(404)
    expect(ids((await get(operator, '/api/requests')).json)).toHaveLength(3)
    expect(ids((await get(operator, '/api/requests?account=bob')).json)).toEqual(['req_bob'])
    expect(ids((await get(ann, '/api/requests?id=req_old')).json)).toEqual(['req_old'])
  })

  test('channels, vendors and what they cost are shown to operators alone', async () => {
    const hidden = ['channel', 'vendor', 'vendorCostNano', 'failedAttempts', 'errorCause']
    const [own] = (await get(ann, '/api/requests')).json.items
    const [, all] = (await get(operator, '/api/requests')).json.items
    for (const name of hidden) {
      expect(own).not.toHaveProperty(name)
      expect(all).toHaveProperty(name)
    }
    const refused = await get(ann, '/api/requests?channel=main')
    expect([refused.status, refused.json.field]).toEqual([400, 'channel'])
    expect(ids((await get(operator, '/api/requests?channel=main')).json)).toHaveLength(3)
  })

  test.each([
    ['status=503', ['req_failed']],
    ['statusClass=2xx', ['req_paid']],
    ['outcome=ok', ['req_paid']],
    ['outcome=failed', ['req_failed']],
    ['outcome=interrupted', []],
    ['errorCode=service_unavailable', ['req_failed']],
    ['minCost=0.0001', ['req_paid']],
    ['minLatencyMs=901', []],
    ['stream=false', []],
    ['vendorRequestId=v-1', ['req_paid']],
    ['tag=checkout', ['req_paid']],
    ['tag=other', []],
    ['model=gpt&operation=chat&group=default&key=key_1', ['req_paid']],
    ['until=2020-01-01', []],
  ])('?%s', async (query, expected) => {
    expect(ids((await get(ann, `/api/requests?${query}`)).json)).toEqual(expected)
  })

  test.each([
    ['limit=501', 'limit'],
    ['limit=0', 'limit'],
    ['status=abc', 'status'],
    ['statusClass=9xx', 'statusClass'],
    ['outcome=2xx', 'outcome'],
    ['stream=maybe', 'stream'],
    ['minCost=-1', 'minCost'],
    ['since=yesterday', 'since'],
    ['until=2027-02-31', 'until'],
    ['cursor=x', 'cursor'],
    ['nonsense=1', 'nonsense'],
  ])('?%s is refused by name', async (query, field) => {
    const { status, json } = await get(ann, `/api/requests?${query}`)
    expect([status, json.field]).toEqual([400, field])
  })

  test.each([
    ['', { requests: 2, bound: 'about' }],
    ['statusClass=5xx', { requests: 1, bound: 'about' }],
    ['outcome=ok', { requests: 1, bound: 'about' }],
    ['outcome=failed', { requests: 1, bound: 'about' }],
    ['outcome=interrupted', { requests: 0, bound: 'about' }],
    ['since=7d', { requests: 3, bound: 'about' }],
    ['minLatencyMs=100000', { requests: 2, bound: 'at_most' }],
    ['id=req_paid', null],
    ['cursor=MSBh', null],
    ['since=1h&until=2020-01-01', { requests: 0, bound: 'about' }],
  ])('about how many: ?%s', async (query, expected) => {
    expect((await get(ann, `/api/requests?${query}`)).json.estimate).toEqual(expected)
  })

  test('pages follow each other', async () => {
    const first = (await get(operator, '/api/requests?limit=2')).json
    const second = (await get(operator, `/api/requests?limit=2&cursor=${first.next}`)).json
    expect([...ids(first), ...ids(second)]).toEqual(['req_bob', 'req_failed', 'req_paid'])
    expect(second.next).toBeNull()
  })
})

describe('one request', () => {
  test('has a receipt whose parts are the charge, and its attempts in order', async () => {
    const { json } = await get(ann, '/api/requests/req_paid')
    expect(json.currency).toBe('USD')
    expect(json.receipt).toMatchObject({
      pricedAs: 'gpt',
      multiplier: '1',
      lines: [
        { item: 'input', count: '1001', priceNano: '150000000', amountNano: '150150' },
        { item: 'cachedInput', count: '3', priceNano: '75000000', amountNano: '225' },
        { item: 'output', count: '7', priceNano: '600000000', amountNano: '4200' },
      ],
      roundingNano: '0',
      totalNano: '154575',
      chargeNano: '154575',
      writeoffNano: '0',
      heldNano: '400000',
      releasedNano: '245425',
      entry: 'usage:req_paid',
    })
    expect(json.blame).toBeNull()
    expect(json.attemptList).toEqual([
      { outcome: 'failed', startMs: 2, durationMs: 300, then: 'next_channel' },
      { outcome: 'answered', startMs: 302, firstByteMs: 118, durationMs: 598 },
    ])
    const { json: all } = await get(operator, '/api/requests/req_paid')
    expect(all.attemptList[0]).toMatchObject({ channel: 'hidden', kind: 'timeout', costNano: '0' })
  })

  test('that failed says whose fault it was; the cause is for operators', async () => {
    const { json } = await get(ann, '/api/requests/req_failed')
    expect(json.blame).toMatchObject({ party: 'vendor', charged: false })
    expect(JSON.stringify(json)).not.toMatch(/hidden|did not answer in time/)
    const { json: all } = await get(operator, '/api/requests/req_failed')
    expect(all.blame.message).toContain('did not answer in time')
  })

  test('of somebody else, or of nobody, is not found', async () => {
    expect((await get(ann, '/api/requests/req_bob')).status).toBe(404)
    expect((await get(ann, '/api/requests/req_none')).status).toBe(404)
    expect((await get(operator, '/api/requests/req_bob')).status).toBe(200)
  })
})

describe('a file', () => {
  test('of CSV has the list’s rows, and no cell that a spreadsheet would run', async () => {
    const { json, headers } = await get(ann, '/api/requests/export?format=csv')
    expect(headers.get('content-type')).toContain('text/csv')
    expect(headers.get('content-disposition')).toContain('requests.csv')
    const lines = String(json).trimEnd().split('\r\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).not.toContain('channel')
    expect(lines[2]).toContain(",'=cmd|evil,")
  })

  test('of JSON has a line for each, with what the caller may see', async () => {
    const { json: lines } = await get(ann, '/api/requests/export?format=json&status=503')
    const json = JSON.parse(lines)
    expect(json.requestId).toBe('req_failed')
    expect(json).not.toHaveProperty('channel')
  })

  test('is refused before it begins', async () => {
    expect((await get(ann, '/api/requests/export?channel=main')).json.field).toBe('channel')
    expect((await get(ann, '/api/requests/export?format=xml')).json.field).toBe('format')
  })
})

describe('the ledger', () => {
  test('has every entry with the balance after it, page by page', async () => {
    const first = (await get(ann, '/api/ledger?limit=1')).json
    expect(first.items).toMatchObject([
      {
        id: 'usage:req_paid',
        effectNano: '-154575',
        balanceNano: '999999845425',
        requestId: 'req_paid',
      },
    ])
    const second = (await get(ann, `/api/ledger?limit=1&cursor=${first.next}`)).json
    expect(second.items).toMatchObject([{ balanceNano: '1000000000000', requestId: null }])
    expect((await get(ann, '/api/ledger?account=bob')).status).toBe(404)
    expect((await get(operator, '/api/ledger?account=bob')).json.items).toHaveLength(1)
    expect((await get(operator, '/api/ledger')).json.field).toBe('account')
    expect((await get(operator, '/api/ledger?account=nobody')).status).toBe(404)
  })

  test('the balance has what is held, and nothing of others', async () => {
    expect((await get(ann, '/api/balance')).json).toEqual({
      account: 'ann',
      currency: 'USD',
      availableNano: '999999845425',
      heldNano: '0',
      postedNano: '999999845425',
      bonusNano: '0',
    })
    expect((await get(ann, '/api/balance?account=bob')).status).toBe(404)
  })
})

describe('the live tail', () => {
  /** The stream is read directly from the control API, since the stage reads replies to their end. */
  const follow = (who: string, query = '', headers: Record<string, string> = {}) =>
    stage.open('/api/requests/live' + query, { 'x-who': who, ...headers })

  test('has each request that fits once, as it is settled, and goes on behind the last event', async () => {
    const tail = await follow('ann', '?model=tail')
    await tail.until(': following')
    await settle(
      usageRow({ requestId: 'req_t1', modelAsked: 'tail' }),
      usageRow({ requestId: 'req_tb', modelAsked: 'tail', account: 'bob' }),
      usageRow({ requestId: 'req_other' }),
    )
    await settle(usageRow({ requestId: 'req_t2', modelAsked: 'tail' }))
    const text = await tail.until('req_t2')
    expect(text.match(/"requestId":"(\w+)"/g)).toEqual([
      '"requestId":"req_t1"',
      '"requestId":"req_t2"',
    ])
    expect(text).not.toContain('"channel"')
    const [, first = ''] = /^id: (\S+)$/m.exec(text) ?? []
    await tail.close()
    const again = await follow('ann', '?model=tail', { 'last-event-id': first })
    const rest = await again.until('req_t2')
    expect(rest).not.toContain('req_t1')
    await again.close()
  })

  test('with most, of a batch has the newest alone and says that there were more', async () => {
    const tail = await follow('ann', '?model=most&most=1')
    await tail.until(': following')
    await settle(
      usageRow({ requestId: 'req_m1', modelAsked: 'most' }),
      usageRow({ requestId: 'req_m2', modelAsked: 'most' }),
    )
    const text = await tail.until('req_m2')
    expect(text).toContain('event: missed')
    expect(text).not.toContain('req_m1')
    await tail.close()
    expect((await get(ann, '/api/requests/live?most=0')).json.field).toBe('most')
  })

  test('those who follow the same have the same rows, each once', async () => {
    const tails = [await follow('ann', '?model=shared'), await follow('ann', '?model=shared')]
    for (const tail of tails) await tail.until(': following')
    for (const id of ['req_s1', 'req_s2', 'req_s3'])
      await settle(usageRow({ requestId: id, modelAsked: 'shared' }))
    for (const tail of tails) {
      const text = await tail.until('req_s3')
      expect(text.match(/req_s\d/g)?.filter((id, at, all) => all.indexOf(id) === at)).toEqual([
        'req_s1',
        'req_s2',
        'req_s3',
      ])
      expect(text.match(/^event: request$/gm)).toHaveLength(3)
      await tail.close()
    }
  })

  test('ends when its caller is signed out', async () => {
    const tail = await follow('ann')
    await tail.until(': following')
    const since = performance.now()
    gone = true
    await tail.ended()
    gone = false
    expect(performance.now() - since).toBeLessThan(5_000)
  })

  test('an account follows so often and not more, and what is closed counts no more', async () => {
    const tails = await Promise.all(Array.from({ length: 8 }, () => follow('ann')))
    const refused = await get(ann, '/api/requests/live')
    expect([refused.status, refused.json.code]).toEqual([429, 'limited'])
    const other = await follow('bob')
    await Promise.all([...tails, other].map((tail) => tail.close()))
    const after = await follow('ann')
    expect(await after.until(': following')).toContain(': following')
    await after.close()
  })

  test('an event that this address never gave is refused', async () => {
    const { status, json } = await get(ann, '/api/requests/live', { 'last-event-id': 'x' })
    expect([status, json.field]).toEqual([400, 'Last-Event-ID'])
    expect((await get(ann, '/api/requests/live?channel=main')).json.field).toBe('channel')
  })
})

function rowsPricedBy(priceVersion: number): UsageRow[] {
  return [
    usageRow({
      requestId: 'req_old',
      at: at - 3 * 86_400_000,
    }),
    usageRow({
      requestId: 'req_paid',
      at,
      modelAsked: 'gpt',
      input: 1_001,
      cachedInput: 3,
      output: 7,
      reasoning: 0,
      priceVersion,
      // ceil((1001 * 150000000 + 3 * 75000000 + 7 * 600000000) / 10^6)
      chargeNano: 154_575n,
      heldNano: 400_000n,
      vendorCostNano: 154_575n,
      attempts: 2,
      failedAttempts: [
        {
          channel: 'hidden',
          kind: 'timeout',
          costNano: '0',
          startMs: 2,
          durationMs: 300,
          then: 'next_channel',
        },
      ],
      ttftMs: 420,
      durationMs: 900,
      client: '=cmd|evil',
      vendorRequestId: 'v-1',
      tag: 'checkout',
    }),
    usageRow({
      requestId: 'req_failed',
      at: at + minuteMs,
      status: 503,
      errorCode: 'service_unavailable',
      errorCause: 'the vendor did not answer in time',
      attempts: 1,
      failedAttempts: [{ channel: 'hidden', kind: 'timeout', costNano: '9' }],
    }),
    usageRow({ requestId: 'req_bob', at: at + 2 * minuteMs, account: 'bob' }),
  ]
}
