// Tests settlement against a ledger that fails in every possible way: no record is lost or doubled, and settlement
// never stops.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { finishedRequest } from '../../test/support/finished.ts'
import type { SetAside, Settlement, SettleResult } from '../store/ledger.ts'
import { RowRefused } from '../store/store.ts'
import { type Entry, Settler } from './settlement.ts'
import { SyncFailed } from './sync-failure.ts'

interface Scene {
  readonly settler: Settler
  readonly settled: string[]
  readonly aside: SetAside[]
  readonly lost: string[]
  readonly waits: number[]
  readonly batches: number[]
}

interface Faults {
  /** The error with which `settle` or `setAside` fails; null: it succeeds. Asked before each call. */
  readonly next?: () => unknown
  readonly poison?: ReadonlySet<string>
  readonly refuseAside?: boolean
}

function makeScene({ next = () => null, poison = new Set(), refuseAside = false }: Faults): Scene {
  const settled: string[] = []
  const aside: SetAside[] = []
  const lost: string[] = []
  const waits: number[] = []
  const batches: number[] = []
  const known = new Set<string>()
  const throwIf = (error: unknown) => {
    if (error !== null) throw error
  }
  const settlements = {
    async settle(batch: readonly Settlement[]): Promise<SettleResult> {
      batches.push(batch.length)
      throwIf(next())
      const ids = batch.map(({ row }) => row.requestId)
      if (ids.some((id) => poison.has(id))) throw new RowRefused('a row that cannot be kept')
      const fresh = ids.filter((id) => !known.has(id))
      for (const id of fresh) known.add(id)
      settled.push(...fresh)
      return { settled: fresh.length, chargedNano: 0n, writtenOffNano: 0n }
    },
    async setAside(entry: SetAside): Promise<void> {
      throwIf(next())
      if (refuseAside) throw new RowRefused('not even here')
      aside.push(entry)
    },
  }
  const settler = new Settler({
    settlements,
    delay: async (delayMs) => {
      waits.push(delayMs)
    },
    nowMs: () => 42,
    onSettled: () => undefined,
    onFailure: () => undefined,
    onSetAside: () => undefined,
    onLost: (entry) => lost.push(entry.raw),
  })
  return { settler, settled, aside, lost, waits, batches }
}

function entries(count: number): Entry[] {
  return Array.from({ length: count }, (_, index) => {
    const { row } = finishedRequest({ requestId: `req_${index}` })
    const settlement = {
      row,
      node: 'n',
      epoch: 1,
      fromLeaseNano: BigInt(index),
      capNano: null,
      idempotency: null,
    }
    return { settlement, raw: () => `raw ${index}` }
  })
}

describe('settlement', () => {
  test('B18: one poisoned row is set aside with its money, and the rest goes on', async () => {
    const scene = makeScene({ poison: new Set(['req_137']) })
    await scene.settler.settle(entries(500))
    expect(scene.settled).toHaveLength(499)
    expect(scene.aside).toEqual([
      {
        requestId: 'req_137',
        account: 'acme',
        heldNano: 137n,
        raw: 'raw 137',
        reason: 'a row that cannot be kept',
        at: 42,
      },
    ])
    expect(scene.batches.length).toBeLessThan(25)
  })

  test('B6: nothing leaves the batch before a commit, however often the ledger fails', async () => {
    let failures = 12
    const next = () => (failures-- > 0 ? new Error('database is away') : null)
    const scene = makeScene({ next })
    await scene.settler.settle(entries(3))
    expect(scene.settled).toEqual(['req_0', 'req_1', 'req_2'])
    expect(scene.waits).toHaveLength(12)
    expect(scene.waits.slice(0, 3)).toEqual([50, 100, 200])
    expect(Math.max(...scene.waits)).toBe(2_000)
  })

  test('B13: a batch whose commit was cut off from its answer is settled once', async () => {
    const scene = makeScene({})
    await scene.settler.settle(entries(4))
    await scene.settler.settle(entries(6))
    expect(scene.settled).toHaveLength(6)
  })

  test('what cannot be set aside either is reported with all it was', async () => {
    const scene = makeScene({ poison: new Set(['req_0']), refuseAside: true })
    await scene.settler.settle(entries(2))
    expect(scene.lost).toEqual(['raw 0'])
    expect(scene.settled).toEqual(['req_1'])
  })

  test('a failed sync is never tried again', async () => {
    const error = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' })
    const scene = makeScene({ next: () => error })
    expect(scene.settler.settle(entries(2))).rejects.toBeInstanceOf(SyncFailed)
    expect(scene.batches).toEqual([2])
  })

  test('any poison among any failures: each entry ends once, in one of two places', async () => {
    const faults = fc.infiniteStream(fc.integer({ min: 0, max: 3 }))
    await fc.assert(
      fc.asyncProperty(
        fc.nat(60),
        fc.uniqueArray(fc.nat(60)),
        faults,
        async (count, bad, stream) => {
          const next = () => (stream.next().value === 0 ? new Error('busy') : null)
          const poison = new Set(bad.map((index) => `req_${index}`))
          const scene = makeScene({ next, poison })
          const all = entries(count)
          await scene.settler.settle(all)
          const ended = [...scene.settled, ...scene.aside.map(({ requestId }) => requestId)]
          expect(ended.sort()).toEqual(all.map(({ settlement }) => settlement.row.requestId).sort())
        },
      ),
      { numRuns: 200 },
    )
  })
})
