// Tests statistics over the control API: who sees what, files, and what is refused.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { keyRow, settlement, usageRow } from '../contract/store.ts'
import { type ControlStage, controlStage, person } from '../support/control.ts'
import { fund } from '../support/ledger-scene.ts'

const ann = person('ann')
const auditor = person('auditor', 'auditor')
const at = Date.now() - 3_600_000

let stage: ControlStage
beforeAll(async () => {
  stage = await controlStage()
  const rows = ['ann', 'bob'].flatMap((account, place) =>
    Array.from({ length: 3 + place }, (_, index) =>
      usageRow({
        requestId: `req_${account}_${index}`,
        account,
        at,
        modelAsked: index === 0 ? '=cmd' : 'gpt',
        chargeNano: 10n ** 9n,
        tag: index === 0 ? 'checkout' : null,
      }),
    ),
  )
  for (const account of ['ann', 'bob']) await fund(stage.store, account, 10n ** 12n)
  await stage.store.keys.insert(keyRow({ id: 'key_1', account: 'ann', name: 'laptop' }))
  await stage.store.settlements.settle(rows.map((row) => settlement({ row })))
})
afterAll(() => stage.close())

const get = (who: typeof ann, path: string) => stage.send(who, 'GET', path)

describe('statistics over the control API', () => {
  test('a user sees their own, an auditor all or one account', async () => {
    const total = async (who: typeof ann, query = '') =>
      (await get(who, `/api/statistics?metric=requests${query}`)).json.total.total
    expect(await total(ann)).toBe(3)
    expect(await total(ann, '&account=ann')).toBe(3)
    expect(await total(auditor)).toBe(7)
    expect(await total(auditor, '&account=bob')).toBe(4)
    expect((await get(ann, '/api/statistics?account=bob')).status).toBe(404)
    expect((await get(ann, '/api/overview?account=bob')).status).toBe(404)
    expect((await get(ann, '/api/statistics/choices?account=bob')).status).toBe(404)
  })

  test('a series by two dimensions, compared with the period before', async () => {
    const query = 'by=model,key&since=24h&timeZone=Asia/Kolkata&compare=true&limit=1'
    const { status, json } = await get(ann, `/api/statistics?${query}`)
    expect(status).toBe(200)
    expect(json).toMatchObject({
      metric: 'spend',
      unit: 'nano',
      interval: 'hour',
      timeZone: 'Asia/Kolkata',
      series: [
        { group: { model: 'gpt', key: 'key_1' }, totalNano: '2000000000' },
        { group: {}, otherGroups: 1, totalNano: '1000000000' },
      ],
      total: { totalNano: '3000000000' },
      previous: { until: json.since, total: { totalNano: '0' } },
    })
    expect(json.total.valuesNano).toHaveLength(json.intervals.length)
    expect(json.intervals[1].slice(14, 16)).toBe('30')
  })

  test('by tag, those without one are what remains', async () => {
    const groups = async (who: typeof ann, query = '') => {
      const { json } = await get(who, `/api/statistics/breakdown?by=tag${query}`)
      return json.rows.map(({ group, requests }: { group: { tag: string }; requests: number }) => [
        group.tag,
        requests,
      ])
    }
    expect(await groups(ann)).toEqual([
      ['', 2],
      ['checkout', 1],
    ])
    expect(await groups(auditor)).toEqual([
      ['', 5],
      ['checkout', 2],
    ])
    expect(await groups(ann, '&tag=checkout')).toEqual([['checkout', 1]])
    expect(await groups(ann, '&tag=&model=gpt')).toEqual([['', 2]])
    const file = await get(ann, '/api/statistics/export?view=breakdown&by=tag&format=json')
    expect(file.json.rows).toHaveLength(2)
  })

  test('a breakdown has channels and costs for operators alone', async () => {
    const { json } = await get(ann, '/api/statistics/breakdown?by=model')
    expect(json.totals).toMatchObject({ requests: 3, spendNano: '3000000000', share: 1 })
    expect(json.totals).not.toHaveProperty('vendorCostNano')
    expect((await get(ann, '/api/statistics/breakdown?by=channel')).json.field).toBe('by')
    const all = await get(auditor, '/api/statistics/breakdown?by=channel,account&sort=requests')
    expect(all.json.rows.map(({ group }: { group: object }) => group)).toEqual([
      { channel: 'main', account: 'bob' },
      { channel: 'main', account: 'ann' },
    ])
    expect(all.json.totals.vendorCostNano).toBe('0')
    expect((await get(ann, '/api/statistics/choices')).json).toEqual({
      model: ['=cmd', 'gpt'],
      key: ['key_1'],
      group: ['default'],
      operation: ['chat'],
      statusClass: ['2xx'],
      tag: ['checkout'],
    })
    expect((await get(auditor, '/api/statistics/choices')).json.channel).toEqual(['main'])
  })

  test('a file has exactly what is shown', async () => {
    const until = new Date(Date.now() + 40 * 86_400_000).toISOString().slice(0, 10)
    const query = `by=model&since=2d&until=${until}&timeZone=UTC&interval=month`
    const csv = await get(ann, `/api/statistics/export?${query}`)
    expect(csv.headers.get('content-type')).toStartWith('text/csv')
    expect(csv.headers.get('content-disposition')).toMatch(
      /^attachment; filename="series-.*\.csv"$/,
    )
    const [heading, ...lines] = csv.json.trimEnd().split('\r\n')
    expect(heading).toBe("from,from (UTC),gpt,'=cmd,spend (USD)")
    expect(lines.at(-1)).toBe('total,,2,1,3')
    const json = await get(ann, `/api/statistics/export?${query}&format=json`)
    const shown = await get(ann, `/api/statistics?${query}`)
    expect(json.json).toEqual(shown.json)
    expect(lines).toHaveLength(shown.json.intervals.length + 1)
    const table = await get(ann, `/api/statistics/export?${query}&view=breakdown&format=json`)
    const { interval: _, ...rest } = Object.fromEntries(new URLSearchParams(query))
    const seen = await get(ann, `/api/statistics/breakdown?${new URLSearchParams(rest)}`)
    expect(table.json).toEqual(seen.json)
    // Keys are shown by their names, which are not unique: a spreadsheet has both.
    const keys = await get(
      ann,
      '/api/statistics/export?by=key,model&since=2d&view=breakdown&format=csv',
    )
    const [heads, first, , totals] = keys.json.split('\r\n')
    expect(heads).toStartWith('key,model,keyName,requests,')
    expect(first).toStartWith('key_1,gpt,laptop,2,')
    expect(totals).toStartWith('total,,,3,')
  })

  test('the first page, and its runway', async () => {
    const { json } = await get(ann, '/api/overview?timeZone=Pacific/Chatham')
    expect(json.days7).toMatchObject({ requests: 3, spendNano: '3000000000', cacheHits: 3 })
    expect(json.days30.previous.requests).toBe(0)
    expect(json.balance.availableNano).toBe('997000000000')
    expect(json.runwayDays).toBe(2_326.3)
    expect((await get(auditor, '/api/overview')).json).toMatchObject({
      balance: null,
      runwayDays: null,
      days7: { requests: 7 },
    })
  })

  test.each([
    ['metric=gold', 'metric'],
    ['by=model,model', 'by'],
    ['by=model,key,group', 'by'],
    ['by=request_id', 'by[0]'],
    ['timeZone=Mars/Olympus', 'timeZone'],
    ['since=yesterday', 'since'],
    ['since=2026-11-31', 'since'],
    ['since=1990-01-01', 'since'],
    ['since=1h&until=2020-01-01', 'until'],
    ['until=9999-12-31', 'since'],
    ['since=365d&interval=quarter', 'interval'],
    ['interval=minute', 'interval'],
    ['limit=101', 'limit'],
    ['limit=0', 'limit'],
    ['compare=maybe', 'compare'],
    [`model=${'a,'.repeat(60)}`, 'model'],
    ['owner=bob', 'owner'],
  ])('%s is refused by name', async (query, field) => {
    const { status, json } = await get(ann, `/api/statistics?${query}`)
    expect([status, json.field]).toEqual([400, field])
  })
})
