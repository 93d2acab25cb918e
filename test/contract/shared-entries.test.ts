// Tests requests that share an entry of the journal: what is read of them, what the audit finds, and that nobody pays
// twice.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { reconcile } from '../../src/admin/reconcile.ts'
import type { Engine } from '../../src/store/engine.ts'
import type { Settlement } from '../../src/store/ledger.ts'
import type { Store } from '../../src/store/store.ts'
import { createStore } from '../../src/store/tables.ts'
import { finished, fund, lessee } from '../support/ledger-scene.ts'
import { unlock, withDamage } from './damage.ts'
import { type Bench, onEachEngine } from './engines.ts'

const quarterMs = 900_000
const startMs = Date.UTC(2027, 0, 31, 12)
const pricing = () => () => 10n

interface Asked {
  readonly account: string
  readonly chargeNano: bigint
  readonly afterMs: number
}

/** Numbered as an outbox numbers them, unless specified; `of` is the prefix of every name. */
function batchOf(asked: readonly Asked[], isNumbered = true, of = ''): Settlement[] {
  return asked.map(({ account, chargeNano, afterMs }, index) => {
    const at = startMs + afterMs
    const requestId = `${of}req_${at.toString(16).padStart(12, '0')}${index}`
    const paid = { chargeNano, priceVersion: chargeNano === 0n ? null : 1 }
    const row = { requestId, account: `${of}${account}`, at, ...paid }
    const ref = { node: `${of}n1`, epoch: 1 }
    const place = { ...ref, number: index + 1 }
    return finished(ref, row, {
      fromLeaseNano: chargeNano,
      ...(isNumbered && { place }),
    })
  })
}

const ten = (account: string, afterMs: number): Asked => ({ account, chargeNano: 10n, afterMs })
const asked: readonly Asked[] = [
  ten('ann', 0),
  ten('ann', 1),
  ten('bob', 2),
  ten('ann', 3),
  { account: 'ann', chargeNano: 0n, afterMs: 4 },
  ten('ann', quarterMs),
  ten('nobody', 5),
]
const idOf = (index: number) => batchOf(asked)[index]?.row.requestId ?? ''

async function fill({ store }: Pick<Bench, 'store'>, of = ''): Promise<void> {
  await fund(store, `${of}ann`, 1_000n)
  await fund(store, `${of}bob`, 1_000n)
  await lessee(store, `${of}n1`, `${of}ann`, 500n)
}

const journal = (engine: Engine) =>
  engine.query<Record<'id' | 'debit' | 'amount', string>>(
    `SELECT id, debit, CAST(amount_nano AS TEXT) AS amount FROM transfer
      WHERE code IN ('usage', 'writeoff') ORDER BY code, at, id`,
    [],
  )

/** Everything that is reported about the money of these accounts, except how the journal stores it. */
async function told(store: Store, of: string): Promise<string> {
  const limit = 99
  const all = ['ann', 'bob', 'nobody'].map(async (name) => {
    const account = `${of}${name}`
    return [
      await store.journal.wallet(account),
      await store.usage.list({ account, limit }),
      await store.journal.entries({ account, limit }),
      await store.journal.transfers({ account, usage: true, limit }),
    ]
  })
  const text = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)
  return JSON.stringify(await Promise.all(all), text).replaceAll(of, '')
}

const moved = (id: string, debits: number, credits: number) =>
  `UPDATE ledger_account SET debits_posted = debits_posted + ${debits},
    credits_posted = credits_posted + ${credits} WHERE id = '${id}'`
const [first, second, third] = [idOf(0), idOf(1), idOf(3)]
/** The damage to the database, and what the audit reports. */
const damages: readonly [string, readonly string[], readonly string[]][] = [
  [
    'an entry of another amount',
    [
      `UPDATE transfer SET amount_nano = 29 WHERE id = 'usage:${first}'`,
      moved('wallet:ann', -1, 0),
      moved('revenue:usage', 0, -1),
    ],
    [`usage ${first}`],
  ],
  [
    'an entry removed',
    [
      `DELETE FROM transfer WHERE id = 'usage:${first}'`,
      moved('wallet:ann', -30, 0),
      moved('revenue:usage', 0, -30),
    ],
    [`usage ${first}`],
  ],
  [
    'an entry more, of a request that shares one',
    [
      `INSERT INTO transfer (id, code, debit, credit, amount_nano, actor, reason, at)
        VALUES ('usage:${second}', 'usage', 'wallet:ann', 'revenue:usage', 10, 'x', 'x', ${startMs})`,
      moved('wallet:ann', 10, 0),
      moved('revenue:usage', 0, 10),
    ],
    [`journal usage:${second}`],
  ],
  [
    'a row that has left its entry',
    [`UPDATE usage SET posting = NULL WHERE request_id = '${third}'`],
    [`usage ${first}`, `usage ${third}`],
  ],
  [
    'a row that is of another entry',
    [`UPDATE usage SET posting = '${idOf(5)}' WHERE request_id = '${third}'`],
    [`usage ${first}`, `usage ${idOf(5)}`],
  ],
  [
    'a nano moved from one row to another',
    [
      `UPDATE usage SET charge_nano = 9 WHERE request_id = '${second}'`,
      `UPDATE usage SET charge_nano = 11 WHERE request_id = '${third}'`,
    ],
    [`usage ${second}`, `usage ${third}`],
  ],
]

onEachEngine('entries that requests share', (start) => {
  test('one entry stands for an account and a quarter of an hour of a settlement', async () => {
    const { store, engine } = await start()
    await fill({ store })
    await store.settlements.settle(batchOf(asked))
    expect(await journal(engine)).toEqual([
      { id: `usage:${idOf(0)}`, debit: 'wallet:ann', amount: '30' },
      { id: `usage:${idOf(2)}`, debit: 'wallet:bob', amount: '10' },
      { id: `usage:${idOf(5)}`, debit: 'wallet:ann', amount: '10' },
      { id: `writeoff:${idOf(6)}`, debit: 'expense:writeoff', amount: '10' },
    ])
    const entries = await store.journal.entries({ account: 'ann', limit: 9 })
    const shown = entries.map(({ id, effectNano, balanceNano }) => [id, effectNano, balanceNano])
    expect(shown.slice(0, 4)).toEqual([
      [`usage:${idOf(5)}`, -10n, 960n],
      [`usage:${idOf(3)}`, -10n, 970n],
      [`usage:${idOf(1)}`, -10n, 980n],
      [`usage:${idOf(0)}`, -10n, 990n],
    ])
    expect((await store.audit.run(pricing)).findings).toEqual([])
  })

  test('what is told is the same as where each has its own', async () => {
    const anyAsked = fc.record({
      account: fc.constantFrom('ann', 'bob', 'nobody'),
      chargeNano: fc.bigInt({ min: 0n, max: 400n }),
      afterMs: fc.integer({ min: 0, max: 2 * quarterMs }),
    })
    const given = fc.array(anyAsked, { minLength: 1, maxLength: 30 })
    const { store } = await start()
    let sides = 0
    const settled = async (some: readonly Asked[], isNumbered: boolean) => {
      sides += 1
      const of = `side${sides}-`
      await fill({ store }, of)
      const batch = batchOf(some, isNumbered, of)
      const middle = batch.length >> 1
      await store.settlements.settle(batch.slice(0, middle))
      await store.settlements.settle(batch.slice(middle))
      return told(store, of)
    }
    const property = async (some: readonly Asked[]) => {
      expect(await settled(some, true)).toBe(await settled(some, false))
      const { findings } = await store.audit.run(() => (row) => row.chargeNano + row.writeoffNano)
      expect(findings).toEqual([])
    }
    await fc.assert(fc.asyncProperty(given, property), { numRuns: 12 })
  }, 60_000)
})

onEachEngine('shared entries', (start, _, share) => {
  test('each thing out of order is named, by the audit and by reconciling', async () => {
    const { store, engine } = await share()
    await fill({ store })
    await store.prices.append([
      {
        ...{ model: '*', effectiveFrom: 0, prices: { request: '0.00001' }, origin: 'file' },
        ...{ source: 'test', sourceDate: null, actor: null, createdAt: 1 },
      },
    ])
    await store.settlements.settle(batchOf(asked))
    await unlock(engine)
    const nowMs = startMs + quarterMs
    const context = { actor: 'root', nowMs, currency: async () => 'USD' }
    for (const [name, damage, found] of damages) {
      const { findings, states } = await withDamage(engine, damage, async (damaged) => {
        const asIs = createStore(damaged)
        const { findings } = await asIs.audit.run(pricing)
        const since = startMs - quarterMs
        const { items } = await reconcile({ ...context, store: asIs }, { since })
        return { findings, states: items.map(({ account, state }) => `${account} ${state}`) }
      })
      const named = findings.map(({ kind, subject }) => `${kind} ${subject}`)
      expect([name, ...named.toSorted()]).toEqual([name, ...found.toSorted()])
      const isJournal = damage.some((sql) => sql.includes('transfer'))
      if (isJournal) expect([name, ...states]).toContain('ann different')
    }
  })

  test('removed rows that come again are known by their numbers, late ones and new ones are settled', async () => {
    const { store } = await start()
    await fill({ store })
    const batch = batchOf(asked)
    // The third is skipped, and comes when the others are gone.
    const late = batch.slice(2, 3)
    await store.settlements.settle(batch.filter((each) => !late.includes(each)))
    const rows = (await store.usage.list({ limit: 99 })).length
    const before = startMs + 4 * quarterMs
    expect(await store.retention.prune(before, 2)).toBe(2)
    const found = (await store.audit.run(pricing)).findings.map(({ message }) => message)
    expect(found).toEqual(['record 3 never came into the ledger'])
    expect(await store.retention.prune(before, 99)).toBe(rows - 2)
    const wallet = await store.journal.wallet('ann')
    expect(await store.settlements.settle(batch)).toMatchObject({ settled: 1, chargedNano: 10n })
    expect(await store.settlements.settle(batch)).toMatchObject({ settled: 0 })
    expect(await store.journal.wallet('ann')).toEqual(wallet)
    // An outbox restored from a copy may number from the start again: a record of a period that was not removed is
    // settled.
    const anew = batchOf([ten('ann', 5 * quarterMs), ten('ann', 5 * quarterMs + 1)])
    expect(await store.settlements.settle(anew)).toMatchObject({ settled: 2 })
    expect((await store.audit.run(pricing)).findings).toEqual([])
  })
})
