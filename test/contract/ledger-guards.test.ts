// Tests what the database itself refuses from anybody: a change of the journal or of usage, and a negative wallet.

import { expect, test } from 'bun:test'
import type { Engine } from '../../src/store/engine.ts'
import type { Store } from '../../src/store/store.ts'
import { finished, fund, lessee } from '../support/ledger-scene.ts'
import { onEachEngine } from './engines.ts'

onEachEngine('the database guards the ledger', (start, kind) => {
  const refusals = [
    `UPDATE transfer SET amount_nano = 1`,
    `UPDATE transfer SET reason = 'another' WHERE id = 'usage:a'`,
    `DELETE FROM transfer WHERE id = 'usage:a'`,
    `UPDATE usage SET charge_nano = 0`,
    `DELETE FROM usage`,
    // An insert must not change anything either.
    `INSERT INTO transfer SELECT * FROM transfer WHERE id = 'usage:a'
      ON CONFLICT (id) DO UPDATE SET amount_nano = 1`,
    ...(kind === 'postgres'
      ? ['TRUNCATE transfer', 'TRUNCATE usage']
      : [
          'REPLACE INTO transfer SELECT * FROM transfer',
          'REPLACE INTO usage SELECT * FROM usage',
          'UPDATE OR REPLACE usage SET charge_nano = 0',
        ]),
  ]
  test.each(refusals)('I4: %s', async (sql) => {
    const { engine, store } = await start()
    await settleOne(store)
    const before = await journal(engine)
    await expect(engine.run(sql, [])).rejects.toThrow('append-only')
    expect(await journal(engine)).toEqual(before)
  })

  const overdrafts = [
    'UPDATE ledger_account SET debits_pending = debits_pending + 31 WHERE id = ?',
    'UPDATE ledger_account SET debits_posted = debits_posted + 31 WHERE id = ?',
    'UPDATE ledger_account SET credits_posted = credits_posted - 31 WHERE id = ?',
    'UPDATE ledger_account SET debits_pending = -1 WHERE id = ?',
  ]
  test.each(overdrafts)('I3: %s', async (sql) => {
    const { engine, store } = await start()
    await settleOne(store)
    await expect(engine.run(sql, ['wallet:ann'])).rejects.toThrow(/constraint/i)
    expect(await store.journal.wallet('ann')).toMatchObject({ postedNano: 90n, leasedNano: 60n })
  })

  test('a commit is on the disk when it returns', async () => {
    const { engine } = await start()
    const [sql, answer] =
      kind === 'sqlite'
        ? ['PRAGMA synchronous', { synchronous: 2 }]
        : ['SHOW synchronous_commit', { synchronous_commit: 'on' }]
    expect(await engine.query(sql, [])).toEqual([answer])
  })

  test('what fails in a transaction undoes all of it, and the next one is not in it', async () => {
    const { engine, store } = await start()
    await fund(store, 'ann', 100n)
    const failing = engine.transaction(async (session) => {
      await session.run(`INSERT INTO account (id, created_at) VALUES ('bob', 1)`, [])
      throw new Error('on purpose')
    })
    // Requested while the transaction is open, so it must not be undone with it.
    const beside = engine.run(`INSERT INTO account (id, created_at) VALUES ('zoe', 1)`, [])
    await expect(failing).rejects.toThrow('on purpose')
    expect(await beside).toBe(1)
    expect((await store.accounts.all()).map(({ id }) => id)).toEqual(['ann', 'zoe'])
  })
})

/** Leaves ann 90, of which 60 are leased. */
async function settleOne(store: Store): Promise<void> {
  await fund(store, 'ann', 100n)
  const ref = await lessee(store, 'n1', 'ann', 60n)
  await store.settlements.settle([finished(ref, { requestId: 'a', chargeNano: 10n })])
}

async function journal(engine: Engine): Promise<unknown> {
  return [
    await engine.query('SELECT * FROM transfer ORDER BY id', []),
    await engine.query('SELECT * FROM usage ORDER BY request_id', []),
  ]
}
