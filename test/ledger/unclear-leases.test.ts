// Tests that money whose return to the wallet failed is returned later, also while the account has running requests.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Hold } from '../../src/ledger/ledger.ts'
import type { LedgerNode } from '../../src/ledger/ledger-node.ts'
import { runSql, testDatabaseUrl } from '../contract/databases.ts'
import { finishedRequest } from '../support/finished.ts'
import { eventually, type LedgerScene, ledgerScene, quickly } from '../support/ledger-node.ts'

const engines = [
  { engine: 'sqlite', url: null },
  ...(testDatabaseUrl === null ? [] : [{ engine: 'postgres', url: testDatabaseUrl }]),
]

async function run({ dataDir, settings }: LedgerScene, sqlite: string, postgres: string) {
  if (settings.databaseUrl !== null) return runSql(settings.databaseUrl, postgres)
  const database = new Database(join(dataDir, 'tollgate.db'))
  database.run('PRAGMA busy_timeout = 10000')
  database.run(sqlite)
  database.close()
}

const refuseReturns = (scene: LedgerScene) =>
  run(
    scene,
    `CREATE TRIGGER no_return BEFORE DELETE ON lease BEGIN SELECT RAISE(ABORT, 'away'); END`,
    `CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'away'; END $$;
    CREATE TRIGGER no_return BEFORE DELETE ON lease FOR EACH ROW EXECUTE FUNCTION away()`,
  )

const takeReturns = (scene: LedgerScene) =>
  run(scene, 'DROP TRIGGER no_return', 'DROP TRIGGER no_return ON lease')

/** On a busy host the ledger may answer too late for one request. */
async function held(node: LedgerNode, amountNano: bigint): Promise<Hold> {
  let made = await node.hold('acme', 'key_1', amountNano)
  for (let tries = 1; 'refused' in made && tries < 10; tries += 1)
    made = await node.hold('acme', 'key_1', amountNano)
  if ('refused' in made) throw new Error(`refused: ${made.refused}`)
  return made
}

test.each(engines)('a busy account gets it back on $engine', async ({ url }) => {
  const scene = await ledgerScene(url)
  await scene.deposit('acme', 1_000n)
  const leasedNano = async () => (await scene.store.journal.wallet('acme'))?.leasedNano
  const [first, second] = await Promise.all(
    [0, 1].map((slot) => scene.start({ slot, settings: { ...quickly, renewMs: 100 } })),
  )
  if (first === undefined || second === undefined) throw new Error('Two nodes were started.')
  const most = await held(first, 900n)
  await refuseReturns(scene)
  first.release(most)
  // The other node asks for the money, and the first fails to return it.
  expect(await second.hold('acme', 'key_2', 950n)).toHaveProperty('refused')
  await takeReturns(scene)
  expect(await leasedNano()).toBeGreaterThanOrEqual(900n)
  const small = await held(first, 10n)
  // What is held, and what may be leased for later requests of what was free.
  const isReturned = async () => ((await leasedNano()) ?? 900n) <= 110n
  await eventually('it is back in the wallet', isReturned, 10_000)
  second.release(await held(second, 950n))
  first.finishNow(small, finishedRequest({ requestId: 'req_1', account: 'acme', chargeNano: 10n }))
  await Promise.all([first.drain(), second.drain()])
  expect(await scene.store.journal.wallet('acme')).toMatchObject({
    postedNano: 990n,
    leasedNano: 0n,
  })
  await scene.remove()
})
