// Tests a ledger node with its real worker on a real database: its promises, and its behaviour when something fails.
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import pg from 'pg'
import type { Hold } from '../../src/ledger/ledger.ts'
import type { LedgerNode } from '../../src/ledger/ledger-node.ts'
import { cutOf, testDatabaseUrl } from '../contract/databases.ts'
import { crashChannel } from '../support/crashing-worker.ts'
import { finishedRequest } from '../support/finished.ts'
import { eventually, type LedgerScene, ledgerScene, quickly } from '../support/ledger-node.ts'

const depositNano = 1_000_000_000n
let scene: LedgerScene

async function hold(node: LedgerNode, amountNano = 10_000n, account = 'acme'): Promise<Hold> {
  // On a busy host another node may not give back its lease in time, or this one not renew in time, so the request is
  // repeated.
  for (let tries = 1; ; tries += 1) {
    const made = await node.hold(account, 'key_1', amountNano)
    if (!('refused' in made)) return made
    const mayPass = made.refused === 'in-flight' || made.refused === 'closed'
    if (!mayPass || tries === 10) throw new Error(`refused: ${made.refused}, ${node.closed}`)
    await eventually('the node admits again', () => node.closed === null)
  }
}

/** Resolves when the record is stored. */
function finish(node: LedgerNode, held: Hold | null, requestId: string, chargeNano = 1_000n) {
  return new Promise<void>((resolve) => {
    node.finish(held, finishedRequest({ requestId, chargeNano }), resolve)
  })
}

function settledRows(): Promise<number> {
  return scene.store.usage.list({ limit: 100_000 }).then((rows) => rows.length)
}

async function expectQuiet(chargedNano: bigint): Promise<void> {
  expect(await scene.store.journal.wallet('acme')).toEqual({
    account: 'acme',
    postedNano: depositNano - chargedNano,
    leasedNano: 0n,
    heldNano: 0n,
  })
  const report = await scene.store.audit.run(
    () =>
      ({ chargeNano, writeoffNano }) =>
        chargeNano + writeoffNano,
  )
  expect(report.findings).toEqual([])
}

/** Prevents writes to the ledger until the returned function is called. */
async function blockLedger(): Promise<() => Promise<void>> {
  const { databaseUrl } = scene.settings
  if (databaseUrl === null) {
    const database = new Database(join(scene.dataDir, 'tollgate.db'))
    database.run('PRAGMA busy_timeout = 10000')
    database.run('BEGIN IMMEDIATE')
    return async () => database.close()
  }
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('BEGIN')
  await client.query('LOCK TABLE usage IN ACCESS EXCLUSIVE MODE')
  return () => client.end()
}

const engines = [
  { engine: 'sqlite', url: null },
  ...(testDatabaseUrl === null ? [] : [{ engine: 'postgres', url: testDatabaseUrl }]),
]

describe.each(engines)('a ledger node on $engine', ({ url }) => {
  beforeEach(async () => {
    scene = await ledgerScene(url)
    await scene.deposit('acme', depositNano)
  })

  afterEach(() => scene.remove())

  test('charges what finished, gives back the rest, and leaves nothing leased', async () => {
    const node = await scene.start()
    for (let index = 0; index < 20; index += 1) await finish(node, await hold(node), `req_${index}`)
    expect(await node.drain()).toBe(0)
    await expectQuiet(20_000n)
  })

  test('B12: a hold whose request never began is free again', async () => {
    const node = await scene.start()
    const held = await hold(node, 900_000_000n)
    expect(await node.hold('acme', 'key_1', 900_000_000n)).toEqual({ refused: 'in-flight' })
    node.release(held)
    node.release(await hold(node, 900_000_000n))
    await node.drain()
    await expectQuiet(0n)
  })

  test('B13: a request that is finished twice is charged once', async () => {
    const node = await scene.start()
    const held = await hold(node)
    await finish(node, held, 'req_twice')
    await finish(node, held, 'req_twice')
    node.finishNow(null, finishedRequest({ requestId: 'req_twice', chargeNano: 1_000n }))
    await node.drain()
    expect(await settledRows()).toBe(1)
    await expectQuiet(1_000n)
  })

  test('B8: nodes that start again and again change no balance', async () => {
    for (let round = 0; round < 3; round += 1) {
      const nodes = await Promise.all([0, 1, 2].map((slot) => scene.start({ slot })))
      for (const [index, node] of nodes.entries()) {
        await finish(node, await hold(node), `req_${round}_${index}`)
      }
      await Promise.all(nodes.map((node) => node.drain()))
    }
    await expectQuiet(9_000n)
  })

  test('two nodes share a wallet: what one leases, the other gets back from it', async () => {
    const [first, second] = await Promise.all([0, 1].map((slot) => scene.start({ slot })))
    if (first === undefined || second === undefined) throw new Error('Two nodes were started.')
    const most = await hold(first, 990_000_000n)
    first.release(most)
    await finish(second, await hold(second, 990_000_000n), 'req_other')
    await Promise.all([first.drain(), second.drain()])
    await expectQuiet(1_000n)
  })

  test('what is held is noted in the ledger, and that it is not any more', async () => {
    const node = await scene.start()
    const heldNano = async () => (await scene.store.journal.wallet('acme'))?.heldNano
    const held = await hold(node, 7_000n)
    await eventually('the hold is noted', async () => (await heldNano()) === 7_000n)
    node.release(held)
    await eventually('its end is noted', async () => (await heldNano()) === 0n)
    await node.drain()
    expect(await heldNano()).toBe(0n)
  })

  test('what a stream owed counts only until its end', async () => {
    const node = await scene.start()
    const held = await hold(node)
    node.progress(held, finishedRequest({ requestId: 'req_stream', chargeNano: 500n }))
    node.progress(held, finishedRequest({ requestId: 'req_stream', chargeNano: 900n }))
    node.finishNow(held, finishedRequest({ requestId: 'req_stream', chargeNano: 1_000n }))
    await node.drain()
    await expectQuiet(1_000n)
  })

  test('strict: a record is kept when the ledger has committed it', async () => {
    const node = await scene.start({ durability: 'strict' })
    const held = await hold(node)
    const unblock = await blockLedger()
    let kept = false
    const finished = finish(node, held, 'req_strict').then(() => {
      kept = true
    })
    await eventually('it waits for the ledger', () => node.stats().oldestUnsettledMs > 100)
    expect(kept).toBe(false)
    await unblock()
    await finished
    expect(await settledRows()).toBe(1)
    await node.drain()
  })

  test('B19: admission closes while settlement lags, and opens when it has caught up', async () => {
    const node = await scene.start({ settings: { ...quickly, maxLagMs: 200 } })
    const held = await hold(node)
    const running = await hold(node, 1n)
    const unblock = await blockLedger()
    await finish(node, held, 'req_late')
    await eventually('admission is closed', () => node.closed !== null)
    expect(node.closed).toContain('1 finished requests wait for the ledger')
    expect(await node.hold('acme', 'key_1', 1n)).toEqual({ refused: 'closed' })
    await unblock()
    await eventually('admission is open', () => node.closed === null)
    node.release(running)
    await node.drain()
    await expectQuiet(1_000n)
  })

  test('money is leased while many requests are being settled', async () => {
    await scene.deposit('late', depositNano)
    const node = await scene.start({ settings: { ...quickly, settleMs: 1_000 } })
    for (let index = 0; index < 15_000; index += 1) {
      node.finish(null, finishedRequest({ requestId: `req_${index}`, chargeNano: 0n }), null)
      if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await eventually('all of them are being settled', () => node.stats().settled > 1_000)
    const held = await node.hold('late', 'key_1', 1n)
    // Asked of the ledger between two batches, not after the last.
    expect(node.stats().unsettled).toBeGreaterThan(0)
    if ('refused' in held) throw new Error(`refused: ${held.refused}`)
    node.release(held)
    expect(await node.drain(60_000)).toBe(0)
  })

  test('B18: a record no ledger takes is set aside, its money held; the rest is settled', async () => {
    const node = await scene.start()
    const spoilt = finishedRequest({ requestId: 'req_spoilt', chargeNano: 5_000n, input: -1 })
    node.finishNow(await hold(node), spoilt)
    for (let index = 0; index < 5; index += 1) await finish(node, await hold(node), `req_${index}`)
    expect(await node.drain()).toBe(0)
    expect(node.stats().setAside).toBe(1)
    expect(await settledRows()).toBe(5)
    const wallet = await scene.store.journal.wallet('acme')
    expect(wallet).toMatchObject({
      postedNano: depositNano - 5_000n,
      leasedNano: 5_000n,
      heldNano: 5_000n,
    })
    const [aside] = await scene.store.settlements.setAsides(10)
    expect(aside).toMatchObject({ requestId: 'req_spoilt', heldNano: 5_000n })
    expect(JSON.parse(aside?.raw ?? '')).toContain('req_spoilt')
  })

  test('P10: a worker that dies is replaced; nothing is lost, running streams are told', async () => {
    const script = new URL('../support/crashing-worker.ts', import.meta.url)
    const node = await scene.start({ workerScript: script })
    const held = await hold(node)
    let fenced = 0
    node.onFenced(() => {
      fenced += 1
    })
    const channel = new BroadcastChannel(crashChannel)
    channel.postMessage('now')
    await eventually('the node is fenced', () => fenced === 1)
    await finish(node, held, 'req_before')
    await eventually('another worker opened it anew', () => node.ready())
    await finish(node, await hold(node), 'req_after')
    channel.close()
    expect(await node.drain()).toBe(0)
    expect(await settledRows()).toBe(2)
    await expectQuiet(2_000n)
  })

  test('a slot has one process at a time', async () => {
    const node = await scene.start()
    const script = join(import.meta.dir, '..', 'crash', 'child.ts')
    const task = { ...taskOf(scene), prefix: 'x', accounts: ['acme'], clients: 1 }
    const other = Bun.spawn([process.execPath, script, JSON.stringify(task)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    expect(await new Response(other.stderr).text()).toContain('OutboxTaken')
    expect(await other.exited).not.toBe(0)
    await node.drain()
  })

  test('an Idempotency-Key is taken once', async () => {
    const node = await scene.start()
    const nowMs = Date.now()
    const entry = {
      account: 'acme',
      key: 'once',
      bodyHash: 'a'.repeat(64),
      nowMs,
      expiresAt: nowMs + 60_000,
    }
    const begun = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        node.changes.begin({ ...entry, requestId: `req_${index}` }),
      ),
    )
    expect(begun.filter(({ state }) => state === 'new')).toHaveLength(1)
    expect(begun.filter(({ state }) => state === 'running')).toHaveLength(19)
    await node.drain()
  })
})

function taskOf({ settings, dataDir }: LedgerScene) {
  return { store: settings, dataDir, slot: 0, settings: quickly, durability: 'normal' } as const
}

describe.skipIf(testDatabaseUrl === null)('a ledger node whose PostgreSQL goes away', () => {
  test('P6, B6: leases serve, settlement waits, and all is settled once', async () => {
    scene = await ledgerScene(testDatabaseUrl)
    await scene.deposit('acme', depositNano)
    const { settings } = scene
    const node = await scene.start()
    const admin = new pg.Client({ connectionString: settings.databaseUrl ?? '' })
    await admin.connect()
    const cut = cutOf(settings.databaseUrl ?? '')
    node.release(await hold(node, 100_000_000n))
    let cuts = 0
    for (let index = 0; index < 300; index += 1) {
      const held = node.hold('acme', 'key_1', 10_000n)
      if (held instanceof Promise || 'refused' in held)
        throw new Error(`The lease covers it: ${node.closed}`)
      await finish(node, held, `req_${index}`)
      if (index % 30 === 10) cuts += (await admin.query(cut)).rowCount ?? 0
    }
    await eventually('all is settled', () => node.stats().unsettled === 0)
    await admin.end()
    expect(cuts).toBeGreaterThan(0)
    expect(await node.drain()).toBe(0)
    expect(await settledRows()).toBe(300)
    await expectQuiet(300_000n)
    await scene.remove()
  })
})
