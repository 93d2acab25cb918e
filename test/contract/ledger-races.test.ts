// Tests many processes on one ledger at once: no wallet is overdrawn, no request settled twice, and there is no
// deadlock.

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openStore, type StoreSettings } from '../../src/store/open.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { createStore } from '../../src/store/tables.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { lockWallets } from '../../src/store/wallets.ts'
import {
  balanced,
  deposit,
  finished,
  fund,
  grantOne,
  hourMs,
  imbalance,
  lessee,
} from '../support/ledger-scene.ts'
import { makeDirectory, makeSchema, testDatabaseUrl } from './databases.ts'
import { type Bench, onEachEngine } from './engines.ts'

interface Several extends Bench {
  /** One of the stores on the same data. */
  pick(index: number): Store
}

type Open = () => Promise<Several>

onEachEngine('a ledger many use at once', (start, kind) => {
  // On SQLite one thread has one connection; on PostgreSQL each of these has four.
  const several = async () => {
    const bench = await start()
    const stores = [bench.store]
    while (kind === 'postgres' && stores.length < 3) stores.push(await bench.open())
    return { ...bench, pick: (index: number) => stores[index % stores.length] ?? bench.store }
  }
  moneyTests(several)
  nodeTests(several)
})

function moneyTests(several: Open): void {
  test('37 can be paid of 200 at once, and 37 are granted', async () => {
    const { engine, store, pick } = await several()
    await fund(store, 'ann', 379n)
    const refs = await Promise.all(['n1', 'n2', 'n3'].map((node) => store.nodes.open(node, hourMs)))
    const grants = await Promise.all(
      Array.from({ length: 200 }, (_, index) => {
        const ref = refs[index % refs.length] ?? { node: 'none', epoch: 1 }
        const wish = { account: 'ann', needNano: 10n, wantNano: 10n }
        return grantOne(pick(index), { ...ref, ...wish })
      }),
    )
    expect(grants.filter(({ grantedNano }) => grantedNano === 10n)).toHaveLength(37)
    expect(grants.filter(({ grantedNano }) => grantedNano === 0n)).toHaveLength(163)
    expect(await store.journal.wallet('ann')).toMatchObject({ leasedNano: 370n })
    expect(await imbalance(engine)).toEqual(balanced)
  })

  test('batches that overlap settle each request once', async () => {
    const { engine, store, pick } = await several()
    await fund(store, 'ann', 1_000n)
    const ref = await lessee(store, 'n1', 'ann', 500n)
    const row = (index: number) =>
      finished(ref, { requestId: `req_${index}`, chargeNano: 3n }, { fromLeaseNano: 3n })
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, batch) => {
        const rows = Array.from({ length: 60 }, (_, index) => row(batch * 20 + index))
        return pick(batch).settlements.settle(batch % 2 === 0 ? rows : rows.reverse())
      }),
    )
    // 12 windows of 60, each 20 after the one before.
    expect(results.reduce((sum, { settled }) => sum + settled, 0)).toBe(280)
    expect(results.reduce((sum, { chargedNano }) => sum + chargedNano, 0n)).toBe(840n)
    const wallet = { postedNano: 160n, leasedNano: 0n }
    expect(await store.journal.wallet('ann')).toMatchObject(wallet)
    expect(await store.usage.list({ limit: 1000 })).toHaveLength(280)
    expect(await imbalance(engine)).toEqual(balanced)
  })

  test('the same deposit from eight at once is posted by one', async () => {
    const { store, pick } = await several()
    await store.accounts.ensure('ann', 1)
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        pick(index).journal.post([deposit('ann', 7n, 'order')]),
      ),
    )
    expect(answers.filter((answer) => answer === 'posted')).toHaveLength(1)
    expect(answers.filter((answer) => answer === 'known')).toHaveLength(7)
    expect((await store.journal.wallet('ann'))?.postedNano).toBe(7n)
  })
}

function nodeTests(several: Open): void {
  test('a node that renews while it is swept is either swept or renewed', async () => {
    const { engine, store, pick } = await several()
    await fund(store, 'ann', 1_000n)
    const names = Array.from({ length: 24 }, (_, index) => `n${index}`)
    const refs = await Promise.all(names.map((node) => lessee(store, node, 'ann', 10n)))
    for (const ref of refs) await store.nodes.renew(ref, 0)
    const sweeps = [0, 1, 2].map((index) => pick(index).nodes.sweep())
    const renewals = refs.map((ref, index) => pick(index).nodes.renew(ref, hourMs))
    const renewed = await Promise.all(renewals)
    const swept = (await Promise.all(sweeps)).flat().map(({ node }) => node)
    expect(new Set(swept).size).toBe(swept.length)
    const kept = refs.filter((_, index) => renewed[index]).map(({ node }) => node)
    expect([...swept, ...kept].sort()).toEqual([...names].sort())
    const leasedNano = BigInt(kept.length) * 10n
    expect(await store.journal.wallet('ann')).toMatchObject({ leasedNano })
    expect(await imbalance(engine)).toEqual(balanced)
  })

  test('a recall is returned to one of those who ask', async () => {
    const { store, pick } = await several()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 10n)
    await store.leases.recall('ann', { node: 'n2', epoch: 1 })
    const asked = Array.from({ length: 8 }, (_, index) => pick(index).leases.recalled(ref))
    expect((await Promise.all(asked)).flat()).toEqual(['ann'])
  })
}

describe('four processes on one ledger', () => {
  test('sqlite', async () => {
    const directory = makeDirectory()
    const settings = { dataDir: directory.path, databaseUrl: null }
    await race('sqlite', directory.path, settings)
    const engine = await openSqlite(directory.path)
    expect(await imbalance(engine)).toEqual(balanced)
    await engine.close()
    directory.remove()
  })

  const url = testDatabaseUrl
  if (url === null) return
  test('postgres, without a deadlock', async () => {
    const schema = await makeSchema(url)
    const engine = await openPostgres(schema.url)
    const deadlocks = async () => {
      const sql = `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
      return (await engine.query<{ readonly deadlocks: number }>(sql, []))[0]?.deadlocks
    }
    const before = await deadlocks()
    await race('postgres', schema.url, { dataDir: '/nonexistent', databaseUrl: schema.url })
    expect(await imbalance(engine)).toEqual(balanced)
    expect(await deadlocks()).toBe(before)
    await engine.close()
    await schema.drop()
  })

  test('P3: on postgres, a process that stands still within a transaction does not stop the others', async () => {
    const schema = await makeSchema(url)
    const [still, other] = [await openPostgres(schema.url), await openPostgres(schema.url)]
    const stores = [createStore(still), createStore(other)] as const
    await fund(stores[0], 'ann', 10n)
    const goOn = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const stood = still.transaction(async (session) => {
      await lockWallets(session, ['ann'])
      locked.resolve()
      await goOn.promise
      await lockWallets(session, ['ann'])
    })
    await locked.promise
    const ref = await stores[1].nodes.open('n2', hourMs)
    const wish = { ...ref, account: 'ann', needNano: 10n, wantNano: 10n }
    expect(await grantOne(stores[1], wish)).toMatchObject({ grantedNano: 10n })
    goOn.resolve()
    await expect(stood).rejects.toThrow()
    expect(await imbalance(still)).toEqual(balanced)
    await Promise.all([still.close(), other.close()])
    await schema.drop()
  })
})

/** Runs the processes, and compares the answers they got with what is stored. */
async function race(engine: string, address: string, settings: StoreSettings): Promise<void> {
  const store = await openStore(settings)
  for (const account of ['ann', 'bob', 'zoe']) await fund(store, account, 600n)
  const script = join(import.meta.dirname, 'ledger-race.ts')
  const children = [1, 2, 3, 4].map((number) =>
    Bun.spawn([process.execPath, script, engine, address, `n${number}`, String(number), '200'], {
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  const ends = await Promise.all(
    children.map(async (child) => ({
      said: await new Response(child.stdout).text(),
      failed: await new Response(child.stderr).text(),
      code: await child.exited,
    })),
  )
  expect(ends.map(({ code, failed }) => ({ code, failed }))).toEqual(
    ends.map(() => ({ code: 0, failed: '' })),
  )
  const reports = ends.map(({ said }) => JSON.parse(said) as Record<string, string>)
  const sum = (name: string) => reports.reduce((total, each) => total + BigInt(each[name] ?? 0), 0n)
  const rows = await store.usage.list({ limit: 10_000 })
  expect(rows.length).toBeGreaterThan(100)
  expect(sum('settled')).toBe(BigInt(rows.length))
  expect(sum('chargedNano')).toBe(rows.reduce((total, row) => total + row.chargeNano, 0n))
  expect(sum('writtenOffNano')).toBe(rows.reduce((total, row) => total + row.writeoffNano, 0n))
  expect((await store.audit.run(() => whole)).findings).toEqual([])
  expect((await store.journal.wallets()).map(({ leasedNano }) => leasedNano)).toEqual([0n, 0n, 0n])
  await store.close()
}

/** Nothing here has a separate price, so divided usage equals the original. */
function whole({ chargeNano, writeoffNano }: UsageRow): bigint {
  return chargeNano + writeoffNano
}
