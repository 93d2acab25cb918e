// Tests monthly statements over the control API: their owners, months, and forms.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { house, walletOf } from '../../src/store/ledger.ts'
import { keyRow, settlement, usageRow } from '../contract/store.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'

const ann = person('ann')
const name = '王小明 <script>'
let stage: ControlStage

beforeAll(async () => {
  stage = await controlStage()
  for (const account of ['ann', 'bob'])
    await stage.store.accounts.ensure(account, Date.parse('2026-01-31T20:00:00Z'))
  await stage.store.people.change('ann', { name })
  await stage.store.keys.insert(keyRow({ id: 'key_1', account: 'ann', name: '=laptop' }))
  await credit('1', '2026-01-31T20:00:00Z', 5_000_000_000n)
  await request('1', '2026-02-01T00:00:00Z', 1n)
  await request('2', '2026-02-28T23:59:59Z', 1_000_000_000n)
  await credit('2', '2026-02-15T12:00:00Z', 2_000_000_000n)
  await request('3', '2026-03-01T00:00:00Z', 7n)
})
afterAll(async () => {
  expect(stage.crashes).toEqual([])
  await stage.close()
})

async function credit(id: string, at: string, amountNano: bigint) {
  await stage.store.journal.post([
    {
      id: `adjust:${id}`,
      code: 'adjust',
      debit: house.adjust,
      credit: walletOf('ann'),
      amountNano,
      actor: 'op',
      reason: 'a gift',
      at: Date.parse(at),
    },
  ])
}

async function request(id: string, at: string, chargeNano: bigint) {
  const row = usageRow({ requestId: `req_${id}`, account: 'ann', at: Date.parse(at), chargeNano })
  await stage.store.settlements.settle([settlement({ row })])
}

const get = (path: string, as = ann) => stage.send(as, 'GET', `/api/statements${path}`)

describe('a statement', () => {
  test('has the balances of its month, what came, and charges by key and model', async () => {
    const { status, json } = await get('/2026-02')
    expect(status).toBe(200)
    expect(json).toMatchObject({
      account: 'ann',
      name,
      month: '2026-02',
      since: '2026-02-01T00:00:00.000Z',
      until: '2026-03-01T00:00:00.000Z',
      open: false,
      openingNano: '5000000000',
      closingNano: '5999999999',
      entriesNano: '2000000000',
      chargesNano: '1000000001',
      entries: [{ id: 'adjust:2', code: 'adjust', effectNano: '2000000000', reason: 'a gift' }],
      charges: [
        {
          key: 'key_1',
          keyName: '=laptop',
          model: 'gpt-4o-mini',
          requests: 2,
          chargeNano: '1000000001',
        },
      ],
    })
  })

  test('begins at midnight of the zone that is asked for', async () => {
    const { json } = await get('/2026-02?timeZone=Asia/Shanghai')
    expect(json).toMatchObject({
      since: '2026-01-31T16:00:00.000Z',
      until: '2026-02-28T16:00:00.000Z',
      openingNano: '0',
      entriesNano: '7000000000',
      chargesNano: '1',
      closingNano: '6999999999',
    })
  })

  test('as CSV adds up to its last line, and no cell is a formula', async () => {
    const { headers, json: text } = await get('/2026-02?format=csv')
    expect(headers.get('content-type')).toStartWith('text/csv')
    const lines = text
      .trim()
      .split('\r\n')
      .map((line: string) => line.split(','))
    const [head, ...rows] = lines
    const at = (column: string) => head.indexOf(column)
    expect(rows.map((row: string[]) => [row[at('kind')], row[at('amount')]])).toEqual([
      ['opening_balance', '5'],
      ['adjust', '2'],
      ['usage', '-1.000000001'],
      ['closing_balance', '5.999999999'],
    ])
    expect(rows[2][at('key_name')]).toBe("'=laptop")
  })

  test('as a page to print keeps names of any script, and runs nothing', async () => {
    const zone = '&timeZone=Asia/Shanghai'
    const { headers, json: page } = await get(`/2026-02?format=html&language=zh-CN${zone}`)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-/,
    )
    expect(page).toContain('对账单')
    expect(page).toContain('王小明 &lt;script&gt; (ann)')
    expect(page).not.toContain('<script>')
    // In the statement's zone: the first of these came in January of UTC.
    expect(page).toContain('时间 (Asia/Shanghai)')
    expect(page).toContain('<td>2026-02-01 04:00:00</td><td>调整</td><td>a gift</td>')
    expect(page).toContain('<td>2026-02-15 20:00:00</td><td>调整</td><td>a gift</td>')
    expect(page).toContain('<td class="number">1</td><td class="number">-0.000000001</td>')
    for (const amount of ['0 USD', '6.999999999 USD']) expect(page).toContain(amount)
    const [style = ''] = /<style>[^<]*<\/style>/.exec(page) ?? []
    const hash = new Bun.CryptoHasher('sha256').update(style.slice(7, -8)).digest('base64')
    expect(headers.get('content-security-policy')).toContain(hash)
  })

  test('of a month to come, or no month, there is none; this one is open', async () => {
    expect((await get('/2999-01')).status).toBe(404)
    for (const month of ['2026-13', '2026-1', '0000-01', 'now'])
      expect((await get(`/${month}`)).status).toBe(404)
    expect((await get('/2026-02?timeZone=Mars/Olympus')).json.field).toBe('timeZone')
    const current = new Date().toISOString().slice(0, 7)
    expect((await get(`/${current}`)).json).toMatchObject({ open: true })
  })

  test('is of the own account, for an operator of any', async () => {
    expect((await get('/2026-02?account=ann', person('bob'))).status).toBe(404)
    expect((await get('/2026-02', person('bob'))).json.closingNano).toBe('0')
    const operator = person('root', 'admin')
    expect((await get('/2026-02?account=ann', operator)).json.closingNano).toBe('5999999999')
    expect((await get('/2026-02?account=none', operator)).status).toBe(404)
    expect((await get('/2026-02', manager(null, ['read']))).json.field).toBe('account')
  })
})

test('the months there are go back to the beginning of the account, page by page', async () => {
  const current = new Date().toISOString().slice(0, 7)
  const { json } = await get('?limit=2')
  expect(json.items[0]).toEqual({ month: current, open: true })
  const months: string[] = []
  let cursor = ''
  while (cursor !== null) {
    const page: { items: { month: string }[]; next: string | null } = (
      await get(`?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`)
    ).json
    months.push(...page.items.map(({ month }) => month))
    cursor = page.next as string
  }
  expect(months[0]).toBe(current)
  expect(months.at(-1)).toBe('2026-01')
  expect(new Set(months).size).toBe(months.length)
  expect((await get('?limit=500&timeZone=Asia/Shanghai')).json.items.at(-1).month).toBe('2026-02')
  expect((await get('?cursor=bm9uc2Vuc2U')).json).toEqual({ items: [], next: null })
})
