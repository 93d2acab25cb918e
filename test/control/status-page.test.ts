// Tests the status page: what anyone sees if the operator turned it on, and that it shows nothing about channels.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { withChannels } from '../../src/admin/channels.ts'
import { loadConfiguration } from '../../src/admin/configuration.ts'
import { offerOf } from '../../src/admin/offer.ts'
import { readStatusPage } from '../../src/admin/status-page.ts'
import { shippedPrices } from '../../src/catalog/shipped-prices.ts'
import { runTimeDefaults } from '../../src/config/run-time.ts'
import { ensurePrices } from '../../src/meter/ensure-prices.ts'
import { settlement, usageRow } from '../contract/store.ts'
import { type ControlStage, controlStage } from '../support/control.ts'
import { fund } from '../support/ledger-scene.ts'

const dayMs = 86_400_000
const model = 'sandbox/chat'
const notice = { text: { en: 'Slow.' }, from: null, until: null }

let settings = runTimeDefaults
let stage: ControlStage
beforeAll(async () => {
  stage = await controlStage({ running: { settings: () => settings } })
  const { store } = stage
  await ensurePrices(store.prices, {}, shippedPrices('USD'), 1)
  await fund(store, 'ann', 1_000n)
  const now = Date.now()
  const rows = Array.from({ length: 12 }, (_, place) =>
    usageRow({
      requestId: `req_${place}`,
      at: now,
      modelAsked: model,
      status: place < 11 ? 200 : 502,
    }),
  )
  const old = { modelAsked: model, at: now - 3 * dayMs, channel: 'secret-channel' }
  const more = [
    usageRow({ ...old, requestId: 'req_a', status: 404 }),
    usageRow({ ...old, requestId: 'req_b' }),
    usageRow({ ...old, requestId: 'req_c', modelAsked: 'private-model' }),
    usageRow({ ...old, requestId: 'req_d', at: now - 100 * dayMs, status: 500 }),
  ]
  await store.settlements.settle([...rows, ...more].map((row) => settlement({ row })))
})
afterAll(() => stage.close())

const get = () => stage.send(null, 'GET', '/api/status')

test('nobody sees one until it is turned on', async () => {
  expect((await get()).status).toBe(404)
  expect((await stage.send(null, 'GET', '/api/features')).json).toEqual({ statusPage: false })
})

test('anyone sees the models of public groups day by day, with how many requests that is of', async () => {
  const incidents = [
    { ...notice, severity: 'critical' as const, until: '2020-01-01T00:00:00.000Z' },
    { ...notice, severity: 'warning' as const },
    { ...notice, severity: 'warning' as const, from: '2100-01-01T00:00:00.000Z' },
    { ...notice, severity: 'info' as const },
  ]
  settings = { ...runTimeDefaults, statusPage: true, notices: incidents }
  expect((await stage.send(null, 'GET', '/api/features')).json).toEqual({ statusPage: true })
  const { status, json, headers } = await get()
  expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=30'])
  expect(json.days).toHaveLength(90)
  expect(json.state).toBe('degraded')
  const shown = json.models.find((each: { model: string }) => each.model === model)
  expect(shown).toMatchObject({ state: 'degraded', requests: 13, successRate: 12 / 13 })
  expect(shown.daily).toHaveLength(90)
  expect(shown.daily.at(-1)).toEqual({ requests: 12, successRate: 11 / 12 })
  expect(shown.daily.at(-4)).toEqual({ requests: 1, successRate: 1 })
  expect(shown.daily[0]).toEqual({ requests: 0, successRate: null })
  const quiet = json.models.find((each: { model: string }) => each.model === 'sandbox/image')
  expect(quiet).toMatchObject({ state: 'unknown', requests: 0, successRate: null })
  expect(json.incidents.map(({ state }: { state: string }) => state)).toEqual([
    'over',
    'ongoing',
    'scheduled',
  ])
  for (const secret of ['secret-channel', 'private-model', '"sandbox"'])
    expect(JSON.stringify(json)).not.toContain(secret)
})

test('the totals are read once in 30 seconds, and those of days that are over once in an hour', async () => {
  const { store } = stage
  const config = withChannels(await loadConfiguration({ flags: {}, env: {} }), {})
  const offer = offerOf(config, await store.prices.all())
  let reads: number[] = []
  const rollups = {
    ...store.rollups,
    read: (query: Parameters<typeof store.rollups.read>[0]) => {
      reads.push(query.cuts.length)
      return store.rollups.read(query)
    },
  }
  const context = { store: { ...store, rollups } }
  const noon = Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2
  const readAt = async (nowMs: number) => {
    reads = []
    await Promise.all([1, 2].map(() => readStatusPage({ ...context, nowMs }, offer, settings)))
    return reads
  }
  expect(await readAt(noon)).toEqual([89, 1, 1])
  expect(await readAt(noon + 29_999)).toEqual([])
  expect(await readAt(noon + 30_000)).toEqual([1, 1])
  expect(await readAt(noon + 3_600_000)).toEqual([89, 1, 1])
})

test('incidents are a feed, each state of one an item with an id of its own', async () => {
  const path = '/api/status/feed.rss'
  settings = { ...runTimeDefaults, statusPage: false, notices: [] }
  expect((await stage.send(null, 'GET', path)).status).toBe(404)
  const incident = {
    severity: 'critical' as const,
    text: { en: 'Slow <now> & then.', 'zh-CN': '慢。' },
    from: '2026-01-31T08:00:00.000Z',
    until: null,
  }
  const read = async (until: string | null) => {
    settings = { ...runTimeDefaults, statusPage: true, notices: [{ ...incident, until }] }
    return stage.send(null, 'GET', path)
  }
  const begun = await read(null)
  expect(begun.headers.get('content-type')).toBe('application/rss+xml; charset=utf-8')
  expect(begun.json).toContain('<title>Under way: Slow &lt;now&gt; &amp; then.</title>')
  expect(begun.json).toContain('<pubDate>Sat, 31 Jan 2026 08:00:00 GMT</pubDate>')
  expect(begun.json).toContain('<link>http://127.0.0.1:8787/console/status</link>')
  const ended = await read('2026-01-31T09:00:00.000Z')
  expect(ended.json).toContain('<title>Over: Slow &lt;now&gt; &amp; then.</title>')
  const idOf = (text: string) => /<guid.*<\/guid>/.exec(text)?.[0]
  expect(idOf(ended.json)).not.toBe(idOf(begun.json))
  expect(idOf((await read(null)).json)).toBe(idOf(begun.json))
})
