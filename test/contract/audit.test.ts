// The contract of the audit: a correct ledger has no finding, and each kind of damage is named.

import { beforeAll, expect, test } from 'bun:test'
import { auditTable } from '../../src/store/audit.ts'
import { house, type Pricing, type Settlement, type Transfer } from '../../src/store/ledger.ts'
import { dimensions, sums } from '../../src/store/rollup-columns.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { grantOne } from '../support/ledger-scene.ts'
import { unlock, withDamage } from './damage.ts'
import { type Bench, onEachEngine } from './engines.ts'
import { usageRow } from './store.ts'

const atMs = 1_763_700_000_000
const hourMs = 3_600_000
const quarterMs = 900_000
const lifetimeMs = 60_000
const node = 'node-1'
const epoch = 1

/** Two nano-units a token in, three a token out. */
const pricing: Pricing = (cards) => (row) =>
  cards.some(({ version }) => version === row.priceVersion)
    ? BigInt(row.input * 2 + row.output * 3)
    : null

function settlement(change: Partial<UsageRow>, fromLeaseNano = 0n): Settlement {
  const row = usageRow({ priceVersion: 1, ...change })
  const chargeNano = row.priceVersion === null ? 0n : BigInt(row.input * 2 + row.output * 3)
  return {
    node,
    epoch,
    row: { ...row, chargeNano, vendorCostNano: chargeNano / 2n },
    fromLeaseNano,
    capNano: null,
    idempotency: null,
  }
}

function adjustment(change: Partial<Transfer>): Transfer {
  return {
    id: 'adjust:gift',
    code: 'adjust',
    debit: house.adjust,
    credit: 'wallet:ann',
    amountNano: 1_000n,
    actor: 'op',
    reason: 'a gift',
    at: atMs,
    ...change,
  }
}

/** Everything a ledger may contain: two wallets, a lease, a write-off, requests without charge, one set aside. */
async function fill({ store }: Bench): Promise<void> {
  await store.accounts.ensure('ann', atMs)
  await store.accounts.ensure('bob', atMs)
  await store.prices.append([
    {
      model: '*',
      effectiveFrom: 0,
      prices: { input: '0.002', output: '0.003' },
      origin: 'file',
      source: 'test',
      sourceDate: null,
      actor: null,
      createdAt: atMs,
    },
  ])
  await store.journal.post([adjustment({})])
  await store.journal.post([
    adjustment({ id: 'opening:bob', code: 'opening', debit: house.promo, credit: 'wallet:bob' }),
  ])
  await store.journal.post([
    adjustment({ id: 'adjust:back', debit: 'wallet:bob', credit: house.adjust, amountNano: 40n }),
  ])
  expect(await store.nodes.open(node, lifetimeMs)).toEqual({ node, epoch })
  for (const account of ['ann', 'bob']) {
    await grantOne(store, { node, epoch, account, needNano: 500n, wantNano: 500n })
  }
  await store.leases.noteHeld({ node, epoch }, new Map([['ann', 200n]]))
  await store.settlements.settle([
    settlement({ requestId: 'req_1' }, 80n),
    settlement(
      { requestId: 'req_2', channel: 'other', at: atMs + hourMs, group: 'gold', tag: 'search' },
      80n,
    ),
    settlement({ requestId: 'req_3', account: 'bob', input: 400, key: 'key_2' }, 0n),
    settlement({ requestId: 'req_4', channel: null, status: 503, priceVersion: null }),
    settlement({ requestId: 'req_5', input: 0, output: 0, modelAsked: 'o4' }),
  ])
  await store.settlements.setAside(
    {
      requestId: 'req_poison',
      account: 'ann',
      heldNano: 50n,
      raw: '["?"]',
      reason: 'no number',
      at: atMs,
    },
    { node, epoch },
  )
}

/** The findings of the audit after `damage`. */
async function auditedWith({ engine }: Bench, damage: readonly string[]): Promise<string[]> {
  const { findings } = await withDamage(engine, damage, (damaged) =>
    auditTable(damaged).run(pricing),
  )
  return findings.map(({ kind, subject }) => `${kind} ${subject}`).toSorted()
}

const moved = (id: string, debits: number, credits: number, pending = 0): string =>
  `UPDATE ledger_account SET debits_posted = debits_posted + ${debits},
    credits_posted = credits_posted + ${credits}, debits_pending = debits_pending + ${pending}
    WHERE id = '${id}'`

const entered = (id: string, code: string, debit: string, credit: string, amount: number): string =>
  `INSERT INTO transfer (id, code, debit, credit, amount_nano, actor, reason, at)
    VALUES ('${id}', '${code}', '${debit}', '${credit}', ${amount}, 'x', 'x', 1)`

const quarterOf = (at: number) => new Date(Math.floor(at / quarterMs) * quarterMs).toISOString()
const named = (at: number, change: Readonly<Record<string, string>> = {}) => {
  const first = { account: 'ann', key_id: 'key_1', model: 'gpt-4o-mini', channel: 'main' }
  const whole = { ...first, group_id: 'default', operation: 'chat', status_class: '2xx', ...change }
  return `quarter ${quarterOf(at)} ${JSON.stringify(Object.values(whole))}`
}
const ofAll = { account: '', key_id: '' }
const firstQuarter = named(atMs)
const firstOfAll = named(atMs, ofAll)
const seriesOfFirst = `(SELECT id FROM usage_series WHERE account = 'ann' AND key_id = 'key_1'
  AND channel = 'main' AND model = 'gpt-4o-mini')`

/** The damage to the database, and exactly what the audit must report. */
const corruptions: readonly [string, readonly string[], readonly string[]][] = [
  [
    'an entry with another amount',
    [`UPDATE transfer SET amount_nano = amount_nano + 1 WHERE id = 'adjust:gift'`],
    ['journal adjust:admin', 'wallet wallet:ann'],
  ],
  [
    'an entry removed',
    [`DELETE FROM transfer WHERE id = 'opening:bob'`],
    ['journal expense:promo', 'wallet wallet:bob'],
  ],
  [
    'an entry of an account that is not there',
    [
      entered('topup:x', 'topup', 'expense:promo', 'wallet:nobody', 7),
      moved('expense:promo', 7, 0),
    ],
    ['journal all accounts', 'wallet wallet:nobody'],
  ],
  [
    'an entry of nothing, in the name of another code',
    [entered('topup:x', 'bonus', 'expense:promo', 'wallet:ann', 0)],
    ['journal topup:x'],
  ],
  [
    'an adjustment without a reason',
    [`UPDATE transfer SET reason = NULL WHERE id = 'adjust:gift'`],
    ['journal adjust:gift'],
  ],
  [
    'a wallet with another credit',
    [moved('wallet:ann', 0, 1)],
    ['journal all accounts', 'wallet wallet:ann'],
  ],
  [
    'money moved between accounts without an entry',
    [moved('wallet:ann', 1, 0), moved('wallet:bob', 0, 1)],
    ['wallet wallet:ann', 'wallet wallet:bob'],
  ],
  [
    'a wallet spent below nothing by an entry',
    [
      entered('topup:x', 'topup', 'wallet:ann', 'expense:promo', 5_000),
      moved('wallet:ann', 5_000, 0),
      moved('expense:promo', 0, 5_000),
    ],
    ['wallet wallet:ann'],
  ],
  [
    'a wallet that is missing, of an account without entries',
    [`INSERT INTO account (id, created_at) VALUES ('zoe', 1)`],
    ['wallet zoe'],
  ],
  ['more pending than is leased', [moved('wallet:ann', 0, 0, 1)], ['lease wallet:ann']],
  [
    'a lease that lost a part',
    [`UPDATE lease SET amount_nano = amount_nano - 1 WHERE account = 'ann'`],
    ['lease wallet:ann'],
  ],
  ['a lease removed', [`DELETE FROM lease WHERE account = 'bob'`], ['lease wallet:bob']],
  [
    'leases of a node that is closed',
    [`UPDATE node SET state = 'closed'`],
    ['lease node-1/1/ann', 'lease node-1/1/bob'],
  ],
  [
    'more held than leased',
    [`UPDATE lease SET held_nano = 10000 WHERE account = 'ann'`],
    ['lease node-1/1/ann'],
  ],
  ['a set-aside row removed', ['DELETE FROM set_aside'], ['lease wallet:ann']],
  [
    'a set-aside row that pins another amount',
    ['UPDATE set_aside SET held_nano = held_nano + 1'],
    ['lease wallet:ann'],
  ],
  [
    'a set-aside row that was settled too',
    [`UPDATE set_aside SET request_id = 'req_1'`],
    ['set-aside req_1'],
  ],
  [
    'a row with another charge',
    [`UPDATE usage SET charge_nano = charge_nano + 1 WHERE request_id = 'req_1'`],
    [firstOfAll, firstQuarter, 'usage req_1', 'usage req_1'],
  ],
  [
    'a part of a charge called written off',
    [
      `UPDATE usage SET charge_nano = charge_nano - 1, writeoff_nano = 1 WHERE request_id = 'req_1'`,
    ],
    [firstOfAll, firstQuarter, 'usage req_1', 'usage req_1'],
  ],
  [
    'a row with other tokens',
    [`UPDATE usage SET output_tokens = output_tokens + 1 WHERE request_id = 'req_1'`],
    [firstOfAll, firstQuarter, 'usage req_1'],
  ],
  [
    'a row priced by a card that is not there',
    [`UPDATE usage SET price_version = 9 WHERE request_id = 'req_1'`],
    ['usage req_1'],
  ],
  [
    'a charge without a price',
    [`UPDATE usage SET price_version = NULL WHERE request_id = 'req_1'`],
    ['usage req_1'],
  ],
  [
    'a row of another account',
    [`UPDATE usage SET account = 'bob' WHERE request_id = 'req_1'`],
    [firstQuarter, named(atMs, { account: 'bob' }), 'usage req_1'],
  ],
  [
    'a row removed',
    [`DELETE FROM usage WHERE request_id = 'req_1'`],
    [firstOfAll, firstQuarter, 'journal usage:req_1'],
  ],
  [
    'the only row of a quarter removed',
    [`DELETE FROM usage WHERE request_id = 'req_2'`],
    [
      named(atMs + hourMs, { ...ofAll, channel: 'other', group_id: 'gold' }),
      named(atMs + hourMs, { channel: 'other', group_id: 'gold' }),
      named(atMs + hourMs, { channel: 'other', group_id: 'gold', tag: 'search' }),
      'journal usage:req_2',
    ],
  ],
  [
    'an entry of usage for another amount',
    [
      `UPDATE transfer SET amount_nano = amount_nano - 1 WHERE id = 'usage:req_1'`,
      moved('wallet:ann', -1, 0),
      moved('revenue:usage', 0, -1),
    ],
    ['usage req_1'],
  ],
  [
    'an entry of usage from another wallet',
    [
      `UPDATE transfer SET debit = 'wallet:bob' WHERE id = 'usage:req_1'`,
      moved('wallet:ann', -80, 0),
      moved('wallet:bob', 80, 0),
    ],
    ['usage req_1', 'wallet wallet:bob'],
  ],
  [
    'an entry of usage removed',
    [
      `DELETE FROM transfer WHERE id = 'usage:req_1'`,
      moved('wallet:ann', -80, 0),
      moved('revenue:usage', 0, -80),
    ],
    ['usage req_1'],
  ],
  [
    'an entry of usage that belongs to no row',
    [
      entered('usage:ghost', 'usage', 'wallet:ann', 'revenue:usage', 5),
      moved('wallet:ann', 5, 0),
      moved('revenue:usage', 0, 5),
    ],
    ['journal usage:ghost'],
  ],
  [
    'an entry of usage for a request that cost nothing',
    [
      entered('usage:req_5', 'usage', 'wallet:ann', 'revenue:usage', 5),
      moved('wallet:ann', 5, 0),
      moved('revenue:usage', 0, 5),
    ],
    ['usage req_5'],
  ],
  [
    'a write-off removed',
    [
      `DELETE FROM transfer WHERE id = 'writeoff:req_3'`,
      `UPDATE ledger_account SET debits_posted = 0 WHERE id = 'expense:writeoff'`,
      `UPDATE ledger_account SET credits_posted = credits_posted - (
        SELECT writeoff_nano FROM usage WHERE request_id = 'req_3') WHERE id = 'revenue:usage'`,
    ],
    ['usage req_3'],
  ],
  [
    'a write-off for a request the wallet paid',
    [
      entered('writeoff:req_1', 'writeoff', 'expense:writeoff', 'revenue:usage', 5),
      moved('expense:writeoff', 5, 0),
      moved('revenue:usage', 0, 5),
    ],
    ['usage req_1'],
  ],
  ...sums.map(({ name }): [string, string[], string[]] => [
    `a quarter with other ${name}`,
    [`UPDATE usage_quarter SET ${name} = coalesce(${name}, 0) + 1 WHERE series = ${seriesOfFirst}`],
    [firstQuarter],
  ]),
  ...dimensions.map(({ name }): [string, string[], string[]] => [
    `a quarter under another ${name}`,
    [`UPDATE usage_series SET ${name} = 'x' WHERE id = ${seriesOfFirst}`],
    [firstQuarter, named(atMs, { [name]: 'x' })].toSorted(),
  ]),
  [
    'a quarter at another time',
    [`UPDATE usage_quarter SET quarter = 0 WHERE series = ${seriesOfFirst}`],
    [named(0), firstQuarter],
  ],
  [
    'a total of all accounts with another charge',
    [
      `UPDATE usage_quarter_all SET charge_nano = charge_nano + 1 WHERE series = (
      SELECT id FROM usage_series WHERE account = '' AND channel = 'other')`,
    ],
    [named(atMs + hourMs, { ...ofAll, channel: 'other', group_id: 'gold' })],
  ],
  [
    'a total of a tag with another charge',
    ['UPDATE usage_tagged_quarter SET charge_nano = charge_nano + 1'],
    [named(atMs + hourMs, { channel: 'other', group_id: 'gold', tag: 'search' })],
  ],
  [
    'the total of a tag removed',
    ['DELETE FROM usage_tagged_quarter'],
    [named(atMs + hourMs, { channel: 'other', group_id: 'gold', tag: 'search' })],
  ],
  [
    'the tag of a request removed',
    [`UPDATE usage SET tag = NULL WHERE request_id = 'req_2'`],
    [named(atMs + hourMs, { channel: 'other', group_id: 'gold', tag: 'search' })],
  ],
  [
    'a quarter removed',
    [
      `DELETE FROM usage_quarter WHERE series = (
      SELECT id FROM usage_series WHERE account = 'ann' AND channel = 'other')`,
    ],
    [named(atMs + hourMs, { channel: 'other', group_id: 'gold' })],
  ],
  [
    'amounts past what their sum can be counted in',
    [
      entered('topup:x', 'topup', 'expense:promo', 'wallet:ann', 0),
      entered('topup:y', 'topup', 'expense:promo', 'wallet:ann', 0),
      `UPDATE transfer SET amount_nano = 9223372036854775807 WHERE id IN ('topup:x', 'topup:y')`,
    ],
    ['journal expense:promo', 'wallet wallet:ann'],
  ],
]

onEachEngine('the audit', (start) => {
  test('of an empty ledger, and of one in order, finds nothing and counts what there is', async () => {
    const bench = await start()
    const empty = { transfers: 0, usageRows: 0, wallets: 0, findings: [], setAside: 0 }
    expect(await bench.store.audit.run(pricing)).toEqual(empty)
    await fill(bench)
    // Three postings, a charge each for requests 1 to 3, and the write-off of the third.
    const counts = { transfers: 7, usageRows: 5, wallets: 2, setAside: 1 }
    expect(await bench.store.audit.run(pricing)).toEqual({ ...counts, findings: [] })
  })

  test('reads rows of one moment in several pages, whole quarters across them', async () => {
    const { store } = await start()
    await store.accounts.ensure('ann', atMs)
    await store.prices.append([])
    const rows = Array.from({ length: 4_500 }, (_, index) =>
      settlement({
        requestId: `req_${String(index).padStart(6, '0')}`,
        // Several rows at the same moment, a quarter that ends within a page, one that spans two.
        at: atMs + Math.floor(index / 7) * 9_000,
        key: `key_${index % 3}`,
        priceVersion: null,
      }),
    )
    for (let from = 0; from < rows.length; from += 500) {
      await store.settlements.settle(rows.slice(from, from + 500))
    }
    const report = await store.audit.run(pricing)
    expect([report.usageRows, report.findings]).toEqual([4_500, []])
  })

  test('is of one moment while requests are settled beside it', async () => {
    const bench = await start()
    await fill(bench)
    const other = await bench.open()
    let settled = 0
    let auditing = true
    const settling = (async () => {
      while (auditing) {
        await other.settlements.settle([settlement({ requestId: `more_${settled}` })])
        settled += 1
      }
    })()
    const seen = new Set<number>()
    try {
      while (seen.size < 5) {
        const { findings, usageRows } = await bench.store.audit.run(pricing)
        expect(findings).toEqual([])
        seen.add(usageRows)
      }
    } finally {
      auditing = false
      await settling
    }
    expect((await bench.store.audit.run(pricing)).usageRows).toBe(5 + settled)
  })
})

onEachEngine('the audit of a ledger out of order', (_start, _kind, share) => {
  let bench: Bench
  beforeAll(async () => {
    bench = await share()
    await fill(bench)
    await unlock(bench.engine)
  })

  test.each(corruptions.map((each) => [...each] as const))('names %s', async (_, damage, named) => {
    expect(await auditedWith(bench, damage)).toEqual([...named].toSorted())
  })

  test('found each alone: undone, it is in order', async () => {
    expect(await auditedWith(bench, [])).toEqual([])
  })
})
