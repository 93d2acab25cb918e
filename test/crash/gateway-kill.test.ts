// Tests kill -9 of the whole gateway under load, at random moments: every answered request is charged once.

import { describe, expect, test } from 'bun:test'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { anyInstant, eventually } from '../support/clients.ts'
import {
  costNano,
  type Deployment,
  deploy,
  engineCases,
  expectBalances,
  expectCleanAudit,
} from '../support/deployment.ts'
import { isLong, repetitions } from '../support/long.ts'
import { expectCharged, ready, type Seen, startLoad } from './gateway-load.ts'

/** One process and two workers, each killed. */
const kills = repetitions(2, 8)
const clients = 24
/** Seconds allowed on an otherwise idle machine: the measured time is printed. */
const restartLimitMs = 30_000
/** The last account has too little for all its requests. */
const credits = { acme: '1000', bell: '1000', cyan: '0.01' }
const creditsNano = { acme: 1_000_000_000_000n, bell: 1_000_000_000_000n, cyan: 10_000_000n }
/** A running stream notes its cost each time it has delivered this much. */
const quantumBytes = 1_024

interface Killed {
  readonly seen: Seen[]
  readonly readyMs: number[]
}

/** Each round changes from one process to two workers or back, so that outboxes are taken over too. */
async function killAgainAndAgain(deployment: Deployment): Promise<Killed> {
  const killed: Killed = { seen: [], readyMs: [] }
  for (let round = 0; round < kills; round += 1) {
    const startedMs = performance.now()
    const server = await deployment.start({ workers: 1 + (round % 2) })
    await ready(server)
    killed.readyMs.push(performance.now() - startedMs)
    const load = startLoad([server.url], Object.keys(credits), clients)
    await eventually(() => load.seen.length > clients || undefined, restartLimitMs)
    await anyInstant(700)
    await server.kill()
    await load.stop()
    killed.seen.push(...load.seen)
  }
  const last = await deployment.start()
  await ready(last)
  last.signal('SIGTERM')
  expect(await last.exited).toBe(0)
  return killed
}

/** Every stream that the kill broke is charged for what was noted of it. Returns their number. */
function expectProgress(seen: readonly Seen[], rows: ReadonlyMap<string, UsageRow>): number {
  const cut = seen.filter(
    ({ whole, status, dueNano, deliveredBytes }) =>
      !whole && status === 200 && dueNano !== null && deliveredBytes >= 2 * quantumBytes,
  )
  for (const { requestId, deliveredBytes } of cut) {
    const row = rows.get(requestId)
    const quanta = Math.floor(deliveredBytes / quantumBytes)
    const leastNano = costNano(0, ((quanta - 1) * quantumBytes) / 4)
    const paid = row === undefined ? 0n : row.chargeNano + row.writeoffNano
    expect([requestId, row?.errorCode, paid >= leastNano]).toEqual([
      requestId,
      'service_unavailable',
      true,
    ])
  }
  return cut.length
}

describe.each(engineCases)('kill -9 of a gateway on $engine', ({ engine, databaseUrl }) => {
  test('P1, I6, I7, I20: what was answered is charged once, what was cut by its progress, and nothing is held', async () => {
    const deployment = await deploy({ databaseUrl, credits })
    try {
      const { seen, readyMs } = await killAgainAndAgain(deployment)
      const rows = await expectBalances(deployment, creditsNano)
      const byId = new Map(rows.map((row) => [row.requestId, row]))
      const answered = expectCharged(seen, rows)
      const cut = expectProgress(seen, byId)
      for (const account of Object.keys(credits)) {
        const wallet = await deployment.store.journal.wallet(account)
        expect(wallet).toMatchObject({ account, leasedNano: 0n, heldNano: 0n })
      }
      await expectCleanAudit(deployment)
      const worstMs = Math.max(...readyMs)
      if (isLong) expect(worstMs).toBeLessThan(restartLimitMs)
      expect(answered).toBeGreaterThan(kills)
      console.log(
        `${engine}: ${kills} kills, ${answered} requests answered, ${cut} streams cut after a quantum, ` +
          `${rows.length} in usage, start to ready at most ${Math.round(worstMs)} ms`,
      )
    } finally {
      await deployment.remove()
    }
  }, 600_000)
})
