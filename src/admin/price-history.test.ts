// Tests the history of prices: which card was in force from when, and what the feeds contain of it.

import { expect, test } from 'bun:test'
import type { PriceRow } from '../store/ledger.ts'
import { loadConfiguration } from './configuration.ts'
import { offerOf, publicViewer } from './offer.ts'
import { jsonFeed, rssFeed } from './price-feed.ts'
import { cardChanges } from './price-history.ts'

function cards(...given: readonly Partial<PriceRow>[]): PriceRow[] {
  return given.map((change, at) => ({
    version: at + 1,
    model: 'm',
    prices: { input: '1', output: '2' },
    effectiveFrom: 10 * at,
    createdAt: 10 * at,
    origin: 'set',
    source: 'a test',
    sourceDate: null,
    actor: null,
    ...change,
  }))
}

const seen = (rows: readonly PriceRow[]) =>
  cardChanges(rows, 'm').map(({ atMs, row, announcedMs }) => [
    atMs,
    row?.version ?? null,
    announcedMs,
  ])

test('a change is one where what is charged changes, from the moment it was known and began', () => {
  const dearer = { prices: { input: '3', output: '2' } }
  expect(seen(cards({}, {}, dearer))).toEqual([
    [0, 1, 0],
    [20, 3, 20],
  ])
  // One is recorded for later, and one for a moment in the past.
  expect(seen(cards({}, { ...dearer, effectiveFrom: 90 }))).toEqual([
    [0, 1, 0],
    [90, 2, 10],
  ])
  expect(seen(cards({}, { ...dearer, effectiveFrom: 5 }))).toEqual([
    [0, 1, 0],
    [10, 2, 10],
  ])
  // Withdrawn, so the shipped card is in force; without a shipped card, none is.
  expect(seen(cards({ ...dearer, origin: 'shipped' }, {}, { prices: {} }))).toEqual([
    [0, 1, 0],
    [10, 2, 10],
    [20, 1, 0],
  ])
  expect(seen(cards({}, { prices: {} }))).toEqual([
    [0, 1, 0],
    [10, null, 10],
  ])
  // Cards of other models do not appear; patterns that match do.
  expect(seen(cards({ model: 'n' }, { model: 'mm' }, { model: 'n*', origin: 'file' }))).toEqual([])
  expect(seen(cards({ model: '*', origin: 'file' }, dearer))).toEqual([
    [0, 1, 0],
    [10, 2, 10],
  ])
})

test('a feed is well formed whatever a model is called', async () => {
  const config = await loadConfiguration({ flags: {}, env: {} })
  const model = 'a<b>&"c"\u0000\ud800]]>'
  const change = {
    model,
    version: 2,
    from: '2027-01-31T00:00:00.000Z',
    announcedAt: '2027-01-30T00:00:00.000Z',
    state: 'scheduled' as const,
    lines: [],
    steps: [],
  }
  const feed = { group: 'default', currency: 'USD', items: [change] }
  const place = { address: 'https://gateway.example', own: '/api/prices/feed.rss?group=a&b' }
  const rss = rssFeed(feed, place)
  expect(rss).toContain(
    '<title>a&lt;b&gt;&amp;&quot;c&quot;\ufffd\ufffd]]&gt;: no price any more</title>',
  )
  expect(rss).toContain('href="https://gateway.example/api/prices/feed.rss?group=a&amp;b"')
  expect(rss).toContain('<pubDate>Sat, 30 Jan 2027 00:00:00 GMT</pubDate>')
  expect(rss).not.toMatch(/[\0\ud800]/)
  const [item] = JSON.parse(jsonFeed(feed, place)).items
  expect(item).toMatchObject({
    date_published: change.announcedAt,
    _tollgate: { state: 'scheduled' },
  })
  expect(item.content_text).toStartWith(
    'Announced 2027-01-30T00:00:00.000Z, from 2027-01-31T00:00:00.000Z on: ',
  )
  expect(publicViewer(offerOf(config, []).config)).toEqual({ groups: ['default'], keyGroups: [] })
})
