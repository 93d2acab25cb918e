// Tests a process that is suspended past its lease: another node closes it, and it admits nothing until it is open
// again.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { databaseFile } from '../../src/store/sqlite.ts'
import { isBusy } from '../../src/store/sqlite-file.ts'
import { testDatabaseUrl } from '../contract/databases.ts'
import { eventually, type LedgerScene, ledgerScene, quickly } from '../support/ledger-node.ts'
import { type Child, startChild } from './lines.ts'

const settings = { ...quickly, leaseMs: 1_600, renewMs: 200, fenceMs: 1_000 }
const depositNano = 1_000_000n

async function leasedNano(scene: LedgerScene): Promise<bigint | undefined> {
  return (await scene.store.journal.wallet('acme'))?.leasedNano
}

/**
 * If stopped in the middle of a write, it would block everybody else from SQLite's file for as long as it is stopped.
 */
async function stopBetweenWrites(
  { settings: { dataDir, databaseUrl } }: LedgerScene,
  child: Child,
) {
  child.signal('SIGSTOP')
  if (databaseUrl !== null) return
  while (isLocked(join(dataDir, databaseFile))) {
    child.signal('SIGCONT')
    await child.says('admitted')
    child.signal('SIGSTOP')
  }
}

function isLocked(file: string): boolean {
  using database = new Database(file)
  try {
    database.run('BEGIN IMMEDIATE')
    database.run('ROLLBACK')
    return false
  } catch (error) {
    if (!isBusy(error)) throw error
    return true
  }
}

async function stopPastTheLease(scene: LedgerScene, child: Child) {
  await child.says('opened')
  await child.says('admitted')
  await stopBetweenWrites(scene, child)
  const other = await scene.start({ slot: 1, settings })
  await eventually('the stopped node is swept', async () => (await leasedNano(scene)) === 0n)
  // The money is free again: the other node spends nearly all of it.
  const hold = await other.hold('acme', 'key_2', 900_000n)
  if ('refused' in hold) throw new Error(`refused: ${hold.refused}`)
  const before = child.lines.length
  child.signal('SIGCONT')
  await child.says('fenced')
  await eventually('its running request is settled', async () => {
    return (await scene.store.usage.find('acme', 'req_running')) !== null
  })
  other.release(hold)
  await other.drain()
  return child.lines.slice(before)
}

const engines = [
  { engine: 'sqlite', url: null },
  ...(testDatabaseUrl === null ? [] : [{ engine: 'postgres', url: testDatabaseUrl }]),
]

describe.each(engines)('SIGSTOP past the lease on $engine', ({ url }) => {
  test('I21: a fenced node admits nothing, and takes nothing that others lease', async () => {
    const scene = await ledgerScene(url)
    const { dataDir } = scene
    const store = scene.settings
    const work = { prefix: '', accounts: [], clients: 1 }
    const task = { store, dataDir, slot: 0, settings, durability: 'normal', ...work } as const
    await scene.deposit('acme', depositNano)
    const child = startChild(task, 'stopped.ts')
    try {
      const lines = await stopPastTheLease(scene, child)
      const stopped = lines.indexOf('stopped')
      const fenced = lines.indexOf('fenced')
      expect(stopped).toBeGreaterThanOrEqual(0)
      expect(fenced).toBeGreaterThanOrEqual(0)
      const asleep = lines
        .slice(stopped, Math.max(fenced, stopped))
        .filter((line) => line !== 'stopped')
      expect(asleep.filter((line) => line !== 'refused closed' && line !== 'fenced')).toEqual([])
      const row = await scene.store.usage.find('acme', 'req_running')
      if (row === null) throw new Error('The running request is lost.')
      expect(row.chargeNano + row.writeoffNano).toBe(400_000n)
      // The other node held all but the last tenth as this one settled.
      expect(row.chargeNano).toBeLessThanOrEqual(100_000n)
      const wallet = await scene.store.journal.wallet('acme')
      expect(wallet?.postedNano).toBe(depositNano - row.chargeNano)
    } finally {
      child.signal('SIGKILL')
      await child.ended
      await scene.remove()
    }
  }, 60_000)
})
