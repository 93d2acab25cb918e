// Tests kill -9 at any moment: what was promised is charged once, and nothing else is.
import { describe, expect, test } from 'bun:test'
import { testDatabaseUrl } from '../contract/databases.ts'
import { anyInstant } from '../support/clients.ts'
import { type LedgerScene, ledgerScene, quickly } from '../support/ledger-node.ts'
import { repetitions } from '../support/long.ts'
import { startChild } from './lines.ts'

/** Each round kills one process in every slot. */
const rounds = repetitions(2, 17)
const slots = [0, 1, 2]
const accounts = ['acme', 'bell', 'cyan']
const depositNano = 1_000_000_000_000n
/** Less than the requests cost: the excess is written off, never charged twice. */
const smallDepositNano = 2_000_000n

interface Promised {
  readonly kept: Map<string, bigint>
  readonly used: Map<string, bigint>
  opened: number
}

async function killOnce(scene: LedgerScene, round: number, slot: number, promised: Promised) {
  const startedAt = performance.now()
  const child = startChild({
    store: scene.settings,
    dataDir: scene.dataDir,
    slot,
    settings: quickly,
    durability: round % 2 === 0 ? 'normal' : 'strict',
    prefix: `r${round}s${slot}`,
    accounts,
    clients: 9,
  })
  await child.says('opened')
  const openMs = performance.now() - startedAt
  await anyInstant(250)
  child.signal('SIGKILL')
  await child.ended
  promised.opened = Math.max(promised.opened, openMs)
  for (const line of child.lines) {
    const [word, id = '', amount = ''] = line.split(' ')
    if (word === 'kept') promised.kept.set(id, BigInt(amount))
    if (word === 'used') promised.used.set(id, BigInt(amount))
  }
}

async function readUsage(
  scene: LedgerScene,
): Promise<Map<string, { whole: bigint; code: string | null }>> {
  const rows = await scene.store.usage.list({ limit: 1_000_000 })
  const byId = new Map(
    rows.map(({ requestId, chargeNano, writeoffNano, errorCode }) => [
      requestId,
      { whole: chargeNano + writeoffNano, code: errorCode },
    ]),
  )
  expect(byId.size).toBe(rows.length)
  return byId
}

async function checkBooks(scene: LedgerScene): Promise<void> {
  const rows = await scene.store.usage.list({ limit: 1_000_000 })
  for (const [account, deposited] of deposits) {
    const wallet = await scene.store.journal.wallet(account)
    const charged = rows
      .filter((row) => row.account === account)
      .reduce((sum, { chargeNano }) => sum + chargeNano, 0n)
    const posted = deposited - charged
    expect(wallet).toEqual({ account, postedNano: posted, leasedNano: 0n, heldNano: 0n })
    expect(posted).toBeGreaterThanOrEqual(0n)
  }
  const report = await scene.store.audit.run(
    () =>
      ({ chargeNano, writeoffNano }) =>
        chargeNano + writeoffNano,
  )
  expect(report.findings).toEqual([])
  expect(report.setAside).toBe(0)
}

const deposits = new Map([
  ['acme', depositNano],
  ['bell', depositNano],
  ['cyan', smallDepositNano],
])

async function killAgainAndAgain(scene: LedgerScene): Promise<Promised> {
  const promised: Promised = { kept: new Map(), used: new Map(), opened: 0 }
  for (const [account, amountNano] of deposits) await scene.deposit(account, amountNano)
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(slots.map((slot) => killOnce(scene, round, slot, promised)))
  }
  // One more start for each slot settles what its last process left.
  for (const slot of slots) {
    const node = await scene.start({ slot })
    expect(await node.drain()).toBe(0)
  }
  return promised
}

const engines = [
  { engine: 'sqlite', url: null },
  ...(testDatabaseUrl === null ? [] : [{ engine: 'postgres', url: testDatabaseUrl }]),
]

describe.each(engines)('kill -9 on $engine', ({ engine, url }) => {
  test('I6, I7, I20: each request that was promised is charged once, and the books are right', async () => {
    const scene = await ledgerScene(url)
    try {
      const promised = await killAgainAndAgain(scene)
      const usage = await readUsage(scene)
      for (const [id, cost] of promised.kept)
        expect([id, usage.get(id)]).toEqual([id, { whole: cost, code: null }])
      let died = 0
      for (const [id, used] of promised.used) {
        const row = usage.get(id)
        if (row?.code === 'service_unavailable') died += 1
        expect([id, row !== undefined && row.whole >= used]).toEqual([id, true])
      }
      await checkBooks(scene)
      expect(promised.kept.size).toBeGreaterThan(0)
      console.log(
        `${engine}: ${rounds * slots.length} kills, ${promised.kept.size} promised, ${usage.size} in usage, ` +
          `${died} streams that died, start to open at most ${Math.round(promised.opened)} ms`,
      )
    } finally {
      await scene.remove()
    }
  }, 300_000)
})
