// Tests the export of request records to a warehouse: each arrives, in the order of settlement, whichever process ends
// in between; and none is removed before it was exported.

import { expect, test } from 'bun:test'
import {
  keepExporting,
  type WarehouseExport,
  type WarehouseExportEvent,
} from '../../src/admin/warehouse-export.ts'
import { type Batch, BatchTooLarge, type Warehouse } from '../../src/blobs/warehouse.ts'
import type { Engine } from '../../src/store/engine.ts'
import type { NodeRef } from '../../src/store/ledger.ts'
import type { Store } from '../../src/store/store.ts'
import { linesIn } from '../support/clickhouse.ts'
import { eventually } from '../support/clients.ts'
import { finished, fund, lessee } from '../support/ledger-scene.ts'
import { onEachEngine } from './engines.ts'

const dayMs = 86_400_000
const first = Date.parse('2026-08-01T00:00:00Z')

class Shelf implements Warehouse {
  readonly name = 'clickhouse'
  readonly batches: {
    readonly name: string
    readonly token: string
    readonly ids: readonly string[]
  }[] = []
  readonly lines: Readonly<Record<string, unknown>>[] = []
  /** Throws if it does not accept a batch; if `late`, it is called after the batch was accepted. */
  problem: (() => void | Promise<void>) | null = null
  late = false

  async put({ name, token, content }: Batch): Promise<void> {
    if (!this.late) await this.problem?.()
    const lines = linesIn(content)
    this.batches.push({ name, token, ids: lines.map((each) => each.request_id) })
    this.lines.push(...lines)
    if (this.late) await this.problem?.()
  }

  get ids(): readonly string[] {
    return this.batches.flatMap(({ ids }) => ids)
  }
}

async function scene(store: Store): Promise<NodeRef> {
  await fund(store, 'ann', 1_000n)
  return lessee(store, 'n1', 'ann', 500n)
}

/** One batch of the log. */
async function settle(store: Store, ref: NodeRef, ...ids: readonly string[]): Promise<void> {
  const rows = ids.map((requestId, index) =>
    finished(ref, { requestId, at: first + index, account: 'ann', chargeNano: 0n }),
  )
  await store.settlements.settle(rows)
}

type Run = Partial<WarehouseExport> & { readonly store: Store; readonly warehouse: Warehouse }

/** Runs until the condition holds, and ends like a server that drains. */
async function exportUntil(run: Run, until: () => unknown): Promise<WarehouseExportEvent[]> {
  const events: WarehouseExportEvent[] = []
  const stop = new AbortController()
  const tell = (event: WarehouseExportEvent) => void events.push(event)
  const usual = { holder: 'one', intervalMs: 5, firstWaitMs: 5, holdMs: dayMs, tell }
  const exporting = keepExporting({ ...usual, ...run }, stop.signal)
  await eventually(async () => (await until()) || undefined)
  stop.abort()
  await exporting
  return events
}

async function isCurrent(store: Store): Promise<boolean> {
  const [status] = await store.usageExport.list()
  return status?.place.scan === null && status.rowsBehind === 0
}

onEachEngine('requests that leave', (start) => {
  test('those that were there come by their time, and then all in the order of settlement', async () => {
    const { store } = await start()
    const ref = await scene(store)
    await settle(store, ref, 'a', 'b', 'c')
    const shelf = new Shelf()
    await exportUntil({ store, warehouse: shelf, batchRows: 2 }, () => isCurrent(store))
    expect(shelf.ids).toEqual(['a', 'b', 'c'])
    // Settled late, and of a time whose other records were sent long ago.
    await settle(store, ref, 'z', 'y', 'x')
    await settle(store, ref, 'w')
    await exportUntil({ store, warehouse: shelf, batchRows: 2 }, () => isCurrent(store))
    expect(shelf.ids.slice(3)).toEqual(['z', 'y', 'x', 'w'])
    expect(shelf.batches.map(({ ids }) => ids.length)).toEqual([2, 1, 2, 2])
    const names = shelf.batches.slice(2).map(({ name }) => name)
    expect(names).toEqual([...names].sort())
    expect(names[0]).toMatch(/^2026\/08\/01\/\d{12}-\d{12}-[0-9a-f]{12}$/)
    const [status] = await store.usageExport.list()
    expect(status).toMatchObject({ rowsTaken: 7, rowsBehind: 0, waitingSince: null })
  })

  test('a line has the columns of the ledger, amounts to the last digit and the time in UTC', async () => {
    const { store } = await start()
    const ref = await scene(store)
    const row = { requestId: 'a', at: first + 5, account: 'ann', chargeNano: 0n, stream: true }
    const rare = { vendorCostNano: 9_007_199_254_740_993n, units: { second: 12.5 } }
    await store.settlements.settle([finished(ref, { ...row, ...rare })])
    const shelf = new Shelf()
    await exportUntil({ store, warehouse: shelf }, () => isCurrent(store))
    expect(shelf.lines[0]).toMatchObject({
      ...{ request_id: 'a', at: '2026-08-01T00:00:00.005Z', account: 'ann', stream: true },
      ...{ vendor_cost_nano: '9007199254740993', units: '{"second":12.5}' },
    })
  })

  test('a batch whose answer is lost comes again under the same name, though more was settled', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await scene(store)
    const shelf = new Shelf()
    await exportUntil({ store, warehouse: shelf }, () => isCurrent(store))
    await settle(store, ref, 'a', 'b')
    shelf.late = true
    shelf.problem = () => {
      shelf.problem = null
      throw new Error('cut off')
    }
    await exportUntil({ store, warehouse: shelf }, () => shelf.batches.length > 0)
    await settle(store, ref, 'c')
    await exportUntil({ store: await bench.open(), warehouse: shelf }, () => isCurrent(store))
    const [once, again, rest] = shelf.batches
    expect(again).toEqual(once)
    expect([once?.ids, rest?.ids]).toEqual([['a', 'b'], ['c']])
  })
})

onEachEngine('a warehouse that is not always well', (start) => {
  test('one that takes fewer at once gets fewer; what fails is told once, and its end', async () => {
    const { store } = await start()
    const ref = await scene(store)
    await settle(store, ref, ...'abcdefgh')
    const shelf = new Shelf()
    let refusals = 0
    const told: unknown[] = []
    shelf.problem = async () => {
      refusals += 1
      if (refusals < 3) throw new BatchTooLarge('too large')
      told.push((await store.failingWork.all())[0]?.failure)
    }
    const run = { store, warehouse: shelf, batchRows: 8 }
    const events = await exportUntil(run, () => isCurrent(store))
    expect(shelf.batches.map(({ ids }) => ids.length)).toEqual([2, 2, 2, 2])
    expect(shelf.ids.join('')).toBe('abcdefgh')
    expect(events).toEqual([{ failure: 'too large' }, { failure: null }])
    expect(told[0]).toBe('too large')
    expect(await store.failingWork.all()).toEqual([])
  })

  test('one process sends at a time, and another goes on where it is gone', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await scene(store)
    const turn = { destination: 'clickhouse', holder: 'dead' }
    expect(await store.usageExport.take(turn, 600, dayMs)).not.toBe(null)
    await store.failingWork.note({ work: 'export', subject: 'clickhouse' }, 'it was away')
    await settle(store, ref, 'a')
    const shelf = new Shelf()
    const other = await bench.open()
    expect(await other.usageExport.take({ ...turn, holder: 'two' }, 600, dayMs)).toBe(null)
    await exportUntil({ store: other, warehouse: shelf, holder: 'two' }, () => isCurrent(store))
    expect(await store.failingWork.all()).toEqual([])
    // Settled while the existing ones are sent: it is in one of the two batches.
    expect(shelf.ids).toEqual(['a', 'a'])
    const place = { settled: { number: 0, index: 0 }, scan: null }
    expect(await store.usageExport.plan(turn, place)).toBe(false)
    const taken = { rows: 9, through: 9, holdMs: 0 }
    expect(await store.usageExport.move(turn, place, taken)).toBe(false)
  })

  test('after a restart by its operator everything comes again', async () => {
    const { store } = await start()
    const ref = await scene(store)
    const shelf = new Shelf()
    await exportUntil({ store, warehouse: shelf }, () => isCurrent(store))
    await settle(store, ref, 'a', 'b')
    await exportUntil({ store, warehouse: shelf }, () => isCurrent(store))
    expect(await store.usageExport.restart('s3')).toBe(false)
    expect(await store.usageExport.restart('clickhouse')).toBe(true)
    await exportUntil({ store, warehouse: shelf }, () => isCurrent(store))
    expect(shelf.ids).toEqual(['a', 'b', 'a', 'b'])
    // What was lost must not be taken for what came before.
    expect(new Set(shelf.batches.map(({ token }) => token)).size).toBe(2)
  })
})

onEachEngine('what is still to leave', (start) => {
  test('stays past its time until it was taken, and no longer than it is held', async () => {
    const { store } = await start()
    const ref = await scene(store)
    const late = Date.now() + dayMs
    await settle(store, ref, 'a')
    const shelf = new Shelf()
    const turn = { destination: 'clickhouse', holder: 'one' }
    await store.usageExport.take(turn, 0, dayMs)
    expect(await store.retention.prune(late, 9)).toBe(0)
    expect(await store.retention.oldest(late, null, 9)).toEqual([])
    await exportUntil({ store, warehouse: shelf }, () => isCurrent(store))
    await settle(store, ref, 'b')
    await settle(store, ref, 'c')
    expect(await store.retention.prune(first + 1, 9)).toBe(0)
    await exportUntil({ store, warehouse: shelf }, () => isCurrent(store))
    expect((await store.retention.oldest(late, null, 9)).length).toBe(3)
    expect(await store.retention.prune(late, 9)).toBe(3)
    await settle(store, ref, 'd')
    expect(await store.retention.prune(late, 9)).toBe(0)
    const state = await store.usageExport.take(turn, 0, 0)
    const [place, status] = [state?.place, (await store.usageExport.list())[0]]
    if (place === undefined || status === undefined) throw new Error('There is no place.')
    const through = place.settled.number
    await store.usageExport.move(turn, place, { rows: 0, through, holdMs: 0 })
    expect(await store.retention.prune(late, 9)).toBe(1)
  })

  test('is in the log however much is settled behind it', async () => {
    const { store, engine } = await start()
    const ref = await scene(store)
    const shelf = new Shelf()
    await exportUntil({ store, warehouse: shelf }, () => isCurrent(store))
    await settle(store, ref, 'a')
    await farBehind(store, engine, ref)
    await exportUntil({ store, warehouse: shelf }, () => isCurrent(store))
    expect(shelf.ids.slice(0, 2)).toEqual(['a', 'req_0'])
    expect(shelf.ids).toHaveLength(65)
  })

  test('and was forgotten, since it is held no longer, comes again with all the rest', async () => {
    const { store, engine } = await start()
    const ref = await scene(store)
    const shelf = new Shelf()
    await exportUntil({ store, warehouse: shelf, holdMs: 0 }, () => isCurrent(store))
    await settle(store, ref, 'a')
    await settle(store, ref, 'b')
    await farBehind(store, engine, ref)
    const events = await exportUntil({ store, warehouse: shelf }, () => isCurrent(store))
    expect(events).toEqual([{ again: true }])
    expect(new Set(shelf.ids).size).toBe(66)
  })
})

/** As if thousands were settled, so that the log forgets the oldest. */
async function farBehind(store: Store, engine: Engine, ref: NodeRef): Promise<void> {
  const { number } = await store.usage.newest()
  const sql = "INSERT INTO settlement_log (number, ids) VALUES (?, '[]')"
  await engine.run(sql, [number + 6_000])
  if (engine.kind === 'postgres')
    await engine.run('UPDATE settlement_count SET value = ?', [number + 6_000])
  for (let index = 0; index < 64; index += 1) await settle(store, ref, `req_${index}`)
}
