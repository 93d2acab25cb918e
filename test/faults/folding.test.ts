// Tests that a process killed while it folds totals counts no request twice and leaves none out.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openStore } from '../../src/store/open.ts'
import { makeDirectory, makeSchema } from '../contract/databases.ts'
import { engineCases } from '../support/deployment.ts'
import { finished, fund } from '../support/ledger-scene.ts'
import { repetitions } from '../support/long.ts'
import { foldAll } from '../support/rollups.ts'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

const quarterMs = 900_000
const quarters = repetitions(24, 96)
const seriesEach = 100
const untilMs = quarters * quarterMs

test.each(engineCases)(
  'kill -9 while totals are folded: each is counted once, $engine',
  async ({ databaseUrl }) => {
    const folder = makeDirectory()
    const schema = databaseUrl === null ? null : await makeSchema(databaseUrl)
    const place = { dataDir: folder.path, databaseUrl: schema?.url ?? null }
    const store = await openStore(place)
    try {
      await fund(store, 'ann', 1_000_000n)
      for (let quarter = 0; quarter < quarters; quarter += 1) {
        const one = (at: number) =>
          finished(
            { node: 'n1', epoch: 1 },
            {
              requestId: `req_${quarter}_${at}`,
              at: quarter * quarterMs + at,
              account: 'ann',
              key: `key-${at}`,
              chargeNano: 1n,
              priceVersion: 1,
            },
          )
        await store.settlements.settle(Array.from({ length: seriesEach }, (_, at) => one(at)))
      }
      let kills = 0
      for (let ended = false; !ended; ) {
        ended = (await foldUntilKilled(place, Math.random() * 1_000)) === 0
        if (!ended) kills += 1
      }
      expect(kills).toBeGreaterThan(3)
      await foldAll(store, untilMs)
      const asked = { cuts: [0], until: untilMs, filter: {}, by: [], limit: 1 } as const
      const [all] = await store.rollups.read({ ...asked, sums: ['requests', 'chargeNano'] })
      const whole = BigInt(quarters * seriesEach)
      expect(all?.sums).toEqual([whole, whole])
      expect((await store.audit.run(() => () => 1n)).findings).toEqual([])
    } finally {
      await store.close()
      await schema?.drop()
      folder.remove()
    }
  },
  120_000,
)

/** Kills the process that many turns after it has folded its first quarter-hour; resolves with its exit code. */
async function foldUntilKilled(
  { dataDir, databaseUrl }: { readonly dataDir: string; readonly databaseUrl: string | null },
  turns: number,
): Promise<number | null> {
  const script = join(import.meta.dirname, 'folding-child.ts')
  const words = [process.execPath, script, dataDir, databaseUrl ?? '', String(untilMs)]
  const child = Bun.spawn(words, { stdout: 'pipe', stderr: 'inherit' })
  for await (const bytes of child.stdout) {
    if (!new TextDecoder().decode(bytes).includes('folded')) continue
    // Somewhere within the next one.
    for (let turn = 0; turn < turns; turn += 1) await nextTurn()
    child.kill('SIGKILL')
    break
  }
  await child.exited
  return child.exitCode
}
