// Tests the outbox from its writer to the settlement of its records, over real files.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, type TestDirectory } from '../../test/contract/databases.ts'
import { eventually } from '../../test/support/clients.ts'
import { finishedRequest } from '../../test/support/finished.ts'
import type { SetAside, Settlement } from '../store/ledger.ts'
import {
  halfOf,
  type Outbox,
  type OutboxReader,
  openOutbox,
  openOutboxReader,
} from '../store/sqlite-outbox.ts'
import { OutboxDrain } from './outbox-drain.ts'
import { OutboxSync } from './outbox-sync.ts'
import { OutboxWriter } from './outbox-writer.ts'
import { encodeRecord, type RecordKind } from './record.ts'
import { Settler } from './settlement.ts'
import { SharedState } from './shared.ts'
import { SyncFailed } from './sync-failure.ts'

let directory: TestDirectory
let outbox: Outbox
let reader: OutboxReader
let state: SharedState
let settled: Settlement[]
let aside: SetAside[]
let nowMs: number

beforeEach(() => {
  directory = makeDirectory()
  state = new SharedState()
  settled = []
  aside = []
  nowMs = 0
  open()
})

afterEach(() => {
  close()
  directory.remove()
})

function open(): void {
  outbox = openOutbox(directory.path, 0)
  reader = openOutboxReader(directory.path, 0)
}

function close(): void {
  reader.close()
  outbox.close()
}

interface Faults {
  readonly append?: () => void
  readonly failures?: unknown[]
  readonly progressWaitMs?: number
}

function makeWriter({
  append = () => undefined,
  failures = [],
  progressWaitMs = 0,
}: Faults = {}): OutboxWriter {
  const faulty: Outbox = {
    ...outbox,
    append(half, seq, body) {
      append()
      outbox.append(half, seq, body)
    },
  }
  return new OutboxWriter({
    outbox: faulty,
    state,
    nowMs: () => nowMs,
    keptBy: 'outbox',
    progressWaitMs,
    onWaiting: () => undefined,
    onFailure: (error) => failures.push(error),
    onRecovered: (records) => failures.push(`recovered ${records}`),
    onCallbackError: (error) => failures.push(error),
  })
}

function makeDrain(known: readonly string[] = []): OutboxDrain {
  const settler = new Settler({
    settlements: {
      async settle(batch) {
        settled.push(...batch)
        return { settled: batch.length, chargedNano: 0n, writtenOffNano: 0n }
      },
      async setAside(entry) {
        aside.push(entry)
      },
    },
    delay: () => Promise.reject(new Error('nothing is to be waited for')),
    nowMs: () => 42,
    onSettled: () => undefined,
    onFailure: () => undefined,
    onSetAside: () => undefined,
    onLost: () => undefined,
  })
  const node = outbox.node
  const setAside = new Set(known)
  const nowMs = () => 42
  return new OutboxDrain({
    reader,
    state,
    settler,
    node,
    epoch: outbox.epoch,
    nowMs,
    setAside,
    onProgress: () => undefined,
  })
}

const record = (requestId: string, kind: RecordKind = 'final', chargeNano = 1_000n) =>
  encodeRecord(kind, 1, 0n, finishedRequest({ requestId, chargeNano }))

const ids = () => settled.map(({ row }) => row.requestId)

describe('the writer', () => {
  test('commits a turn of the event loop at once, then tells who waits', async () => {
    const writer = makeWriter()
    const reports: string[] = []
    const both = Promise.withResolvers<void>()
    writer.push('a', record('a'), () => reports.push('a'))
    writer.push('b', record('b'), () => {
      reports.push('b')
      both.resolve()
    })
    expect([state.written, reports]).toEqual([0, []])
    await both.promise
    expect([state.written, reports]).toEqual([1, ['a', 'b']])
    await makeDrain().settleWritten()
    expect(ids()).toEqual(['a', 'b'])
  })

  test('commits what waits together with what may not wait', () => {
    const writer = makeWriter()
    writer.push('a', record('a'), null)
    writer.pushNow('b', record('b'))
    expect(state.written).toBe(1)
    expect(writer.unsettledRecords).toBe(2)
    nowMs = 30
    expect(writer.oldestUnsettledMs()).toBe(30)
    state.settled = 1
    writer.noteSettled()
    expect([writer.unsettledRecords, writer.oldestUnsettledMs()]).toEqual([0, 0])
  })

  test('a callback that throws keeps no other from being called', () => {
    const failures: unknown[] = []
    const writer = makeWriter({ failures })
    let called = false
    writer.push('a', record('a'), () => {
      throw new Error('the client is gone')
    })
    writer.push('b', record('b'), () => {
      called = true
    })
    writer.flush()
    expect(called).toBe(true)
    expect(failures).toEqual([new Error('the client is gone')])
  })

  test('P4: keeps records in memory while the disk refuses, and writes them when it does not', async () => {
    let full = true
    const failures: unknown[] = []
    const append = () => {
      if (full) throw new Error('database or disk is full')
    }
    const writer = makeWriter({ append, failures })
    let calls = 0
    writer.push('a', record('a'), () => {
      calls += 1
    })
    writer.flush()
    writer.pushNow('b', record('b'))
    writer.pushProgress('c', record('c', 'progress'))
    expect([calls, state.written, writer.unsettledRecords]).toEqual([1, 0, 2])
    full = false
    expect(writer.close()).toBe(0)
    expect(failures).toEqual([new Error('database or disk is full'), 'recovered 2'])
    await makeDrain().settleLeft(state.written)
    expect(ids()).toEqual(['a', 'b', 'c'])
  })

  test('two files take turns, emptied without their writer, and running streams move along', async () => {
    const writer = makeWriter()
    const drain = makeDrain()
    drain.recycle()
    writer.pushProgress('stream', record('stream', 'progress', 500n))
    const halves = new Set<number>()
    let turns = 0
    // The file changes three times, so the first file is used again.
    for (let changes = 0; changes < 3; turns += 1) {
      const before = halfOf(state.turn)
      writer.pushNow(`r${turns}`, record(`r${turns}`))
      halves.add(halfOf(state.turn))
      if (halfOf(state.turn) === before) continue
      changes += 1
      await drain.settleWritten()
      drain.recycle()
      expect(state.isClean(before)).toBe(true)
      expect(reader.lastSeq(before)).toBe(0)
    }
    expect([...halves]).toEqual([0, 1])
    expect(ids()).toEqual(Array.from({ length: turns }, (_, index) => `r${index}`))
    for (const name of ['a', 'b']) {
      const { size } = statSync(join(directory.path, `outbox-0-${name}.db-wal`))
      expect(size).toBeLessThan(40 * 1024 * 1024)
    }
    // As if the process had died here: only the last half still contains the stream.
    settled = []
    const left = state.written
    state = new SharedState()
    state.written = left
    await makeDrain().settleLeft(left)
    expect(settled.at(-1)?.row).toMatchObject({
      requestId: 'stream',
      chargeNano: 500n,
      status: 503,
    })
  })
})

/** The other thread looks for a half to empty in the moment in which one comes into use. */
test('a half that comes into use is not taken for one to empty', async () => {
  class Watched extends SharedState {
    look: (() => void) | null = null
    override setClean(half: 0 | 1, clean: boolean): void {
      if (!clean) this.look?.()
      super.setClean(half, clean)
      if (!clean) this.look?.()
    }
  }
  const watched = new Watched()
  state = watched
  const writer = makeWriter()
  const drain = makeDrain()
  drain.recycle()
  let written = 0
  const write = () => {
    written += 1
    writer.pushNow(`r${written}`, record(`r${written}`))
  }
  watched.look = () => drain.recycle()
  for (const before = state.turn; state.turn === before; ) {
    await drain.settleWritten()
    write()
  }
  expect(state.isClean(halfOf(state.turn))).toBe(false)
  expect(state.isClean(halfOf(state.turn + 1))).toBe(true)
  write()
  await drain.settleWritten()
  expect(ids()).toHaveLength(written)
})

describe('what streams have used', () => {
  const longMs = 60_000

  async function left(): Promise<unknown[]> {
    settled = []
    const { written } = state
    state = new SharedState()
    await makeDrain().settleLeft(written)
    return settled.map(({ row }) => [row.requestId, row.chargeNano, row.status])
  }

  test('is committed together, at the latest when one of them has used more', async () => {
    const writer = makeWriter({ progressWaitMs: longMs })
    writer.pushProgress('a', record('a', 'progress', 100n))
    writer.pushProgress('b', record('b', 'progress', 200n))
    expect([state.written, writer.unsettledRecords]).toEqual([0, 2])
    writer.pushProgress('a', record('a', 'progress', 300n))
    expect([state.written, writer.unsettledRecords]).toEqual([1, 2])
    writer.pushProgress('b', record('b', 'progress', 400n))
    expect(state.written).toBe(1)
    expect(await left()).toEqual([
      ['a', 300n, 503],
      ['b', 200n, 503],
    ])
  })

  test('is committed when it has waited', async () => {
    const writer = makeWriter({ progressWaitMs: 1 })
    writer.pushProgress('a', record('a', 'progress', 100n))
    expect(await eventually(() => state.written || undefined)).toBe(1)
    expect(await left()).toEqual([['a', 100n, 503]])
  })

  test('is committed with whatever else is, and not for a stream that has ended', async () => {
    const writer = makeWriter({ progressWaitMs: longMs })
    writer.pushProgress('ended', record('ended', 'progress', 100n))
    writer.pushProgress('runs', record('runs', 'progress', 100n))
    writer.pushNow('ended', record('ended', 'final', 700n))
    expect(reader.read(0, 1, 1).map(({ body }) => JSON.parse(body).length)).toEqual([2])
    expect(await left()).toEqual([
      ['ended', 700n, 200],
      ['runs', 100n, 503],
    ])
    expect(writer.close()).toBe(0)
    expect(reader.lastSeq(0)).toBe(1)
  })

  test('is committed at the end', () => {
    const writer = makeWriter({ progressWaitMs: longMs })
    writer.pushProgress('a', record('a', 'progress', 100n))
    expect([writer.close(), state.written]).toEqual([0, 1])
  })

  test('waits for a disk that refuses, once for each stream', async () => {
    let full = true
    const failures: unknown[] = []
    const append = () => {
      if (full) throw new Error('database or disk is full')
    }
    const writer = makeWriter({ append, failures, progressWaitMs: longMs })
    writer.pushProgress('a', record('a', 'progress', 100n))
    writer.flush()
    writer.pushProgress('a', record('a', 'progress', 300n))
    full = false
    expect(writer.close()).toBe(0)
    expect(failures).toEqual([new Error('database or disk is full'), 'recovered 1'])
    expect(await left()).toEqual([['a', 300n, 503]])
  })
})

describe('what a process left', () => {
  test('is there for the next one, under the same name', async () => {
    const { node } = outbox
    makeWriter().pushNow('a', record('a'))
    close()
    open()
    expect([outbox.node, outbox.lastSeq]).toEqual([node, 1])
    state = new SharedState()
    makeWriter().pushNow('b', record('b'))
    await makeDrain().settleWritten()
    expect(ids()).toEqual(['a', 'b'])
    expect(settled[0]?.node).toBe(node)
  })

  test('of its streams, those without an end owe what they said last', async () => {
    const writer = makeWriter()
    writer.pushProgress('ended', record('ended', 'progress', 100n))
    writer.pushProgress('died', record('died', 'progress', 100n))
    writer.pushProgress('died', record('died', 'progress', 300n))
    writer.pushNow('ended', record('ended', 'final', 700n))
    await makeDrain().settleLeft(state.written)
    expect(settled.map(({ row }) => [row.requestId, row.chargeNano, row.errorCause])).toEqual([
      ['ended', 700n, null],
      ['died', 300n, 'the gateway died during the request'],
    ])
  })

  test('of a running process, what streams owe is not due', async () => {
    const writer = makeWriter()
    writer.pushProgress('running', record('running', 'progress'))
    await makeDrain().settleWritten()
    expect(settled).toEqual([])
    expect(state.settled).toBe(1)
  })

  test('what was set aside before is not settled on top of that', async () => {
    const writer = makeWriter()
    writer.pushNow('aside', record('aside'))
    writer.pushNow('fine', record('fine'))
    await makeDrain(['aside']).settleLeft(state.written)
    expect(ids()).toEqual(['fine'])
  })

  test('B18: what cannot be read is kept apart as it is, and stops nothing', async () => {
    makeWriter().pushNow('a', record('a'))
    outbox.append(0, 2, 'not JSON')
    outbox.append(0, 3, JSON.stringify([record('b')]))
    state.written = 3
    await makeDrain().settleWritten()
    expect(ids()).toEqual(['a', 'b'])
    const requestId = `unreadable:${outbox.node}:${outbox.epoch}:2:0`
    expect(aside).toMatchObject([{ requestId, raw: '"not JSON"' }])
  })

  test('more than a batch, and sequences that were never written', async () => {
    const writer = makeWriter()
    for (let index = 0; index < 1_203; index += 1) writer.pushNow(`r${index}`, record(`r${index}`))
    state.written += 5
    await makeDrain().settleWritten()
    expect(settled).toHaveLength(1_203)
    expect(state.settled).toBe(1_208)
  })
})

test('P5: a sync that fails is reported as such, and not tried again in silence', async () => {
  const error = Object.assign(new Error('i/o error'), { code: 'EIO' })
  const sync = new OutboxSync({ logs: [{ datasync: () => Promise.reject(error) }], state })
  await sync.sync()
  makeWriter().pushNow('a', record('a'))
  expect(sync.sync()).rejects.toBeInstanceOf(SyncFailed)
})

test('a sync reaches the half that is written, and both after they took turns', async () => {
  const calls = [0, 0]
  const log = (half: number) => ({
    datasync: async () => {
      calls[half] = (calls[half] ?? 0) + 1
    },
  })
  const sync = new OutboxSync({ logs: [log(0), log(1)], state })
  const written = async () => {
    state.written += 1
    await sync.sync()
    return [...calls]
  }
  // Records of the last run may be in either half.
  expect(await written()).toEqual([1, 1])
  expect(await written()).toEqual([2, 1])
  state.turn += 1
  expect(await written()).toEqual([3, 2])
  expect(await written()).toEqual([3, 3])
  // The files change twice between two syncs.
  state.turn += 2
  expect(await written()).toEqual([4, 4])
  await sync.sync()
  expect(calls).toEqual([4, 4])
})

test('two records of one append that cannot be read are both kept apart', async () => {
  makeWriter().pushNow('a', record('a'))
  outbox.append(0, 2, '[1, 2]')
  state.written = 2
  await makeDrain().settleWritten()
  expect(new Set(aside.map(({ requestId }) => requestId)).size).toBe(2)
})
