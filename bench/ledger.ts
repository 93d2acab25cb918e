// What money costs the serving thread for each request: hold, finish and the commit of a turn; and the worker to read it back.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emptyRow } from '../src/history/row.ts'
import { createLeases } from '../src/ledger/leases.ts'
import type { Finished } from '../src/ledger/ledger.ts'
import { OutboxWriter } from '../src/ledger/outbox-writer.ts'
import { decodeBody, encodeRecord } from '../src/ledger/record.ts'
import { monotonicMs, SharedState } from '../src/ledger/shared.ts'
import { openOutbox, openOutboxReader } from '../src/store/sqlite-outbox.ts'

const turns = 20_000
const rounds = 5

function finishedRequest(index: number): Finished {
  const row = {
    ...emptyRow,
    requestId: `req_019${String(index).padStart(9, '0')}000001a1b2c3d4e5`,
    at: 1_795_000_000_000 + index,
    account: 'bench',
    key: 'key_1',
    keyName: 'bench',
    group: 'default',
    operation: 'chat',
    modelAsked: 'gpt-4o-mini',
    modelServed: 'gpt-4o-mini-2024-07-18',
    channel: 'main',
    vendor: 'openai',
    attempts: 1,
    stream: false,
    input: 120 + (index % 50),
    output: 400 + (index % 90),
    usageSource: 'reported',
    priceVersion: 3,
    chargeNano: 258_000n + BigInt(index % 1_000),
    vendorCostNano: 258_000n,
    ttftMs: 312.25,
    durationMs: 640.5,
    status: 200,
  } as const
  return { row, capNano: null, idempotency: null }
}

/** Microseconds of CPU of this thread alone: nothing else runs in this process. */
function cpuMicros(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return user + system
}

async function measure(records: number): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  const outbox = openOutbox(dataDir, 0)
  const reader = openOutboxReader(dataDir, 0)
  const state = new SharedState()
  const ignore = () => undefined
  const writer = new OutboxWriter({
    outbox,
    state,
    nowMs: monotonicMs,
    keptBy: 'outbox',
    onWaiting: ignore,
    onFailure: (error) => {
      throw error
    },
    onRecovered: ignore,
    onCallbackError: ignore,
  })
  const leases = createLeases({
    authority: {
      grant: async (_account, _need, want) => ({
        grantedNano: want,
        fenced: false,
        leasedElsewhereNano: 0n,
        postedNano: 1_000_000_000_000_000n,
      }),
      giveBack: ignore,
      recall: ignore,
    },
    settings: { maxHeldPerKeyNano: null, maxHeldPerAccountNano: null },
    onError: ignore,
  })
  leases.open()
  const first = await leases.hold('bench', 'key_1', 1_000_000n)
  if ('refused' in first) throw new Error('The bench account was refused.')
  const requests = Array.from({ length: 1_024 }, (_, index) => finishedRequest(index))
  const kept = ignore
  let at = 0
  const turn = async () => {
    for (let each = 0; each < records; each += 1) {
      const finished = requests[at++ % requests.length] as Finished
      const made = leases.hold('bench', 'key_1', 1_000_000n)
      const hold = made instanceof Promise ? await made : made
      if ('refused' in hold) throw new Error('The bench account was refused.')
      const record = encodeRecord('final', 1, leases.close(hold, finished.row.chargeNano), finished)
      writer.push(finished.row.requestId, record, kept)
    }
    writer.flush()
  }
  const figures: number[] = []
  const reading: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage()
    for (let each = 0; each < turns / rounds; each += 1) await turn()
    figures.push(cpuMicros(before) / (turns / rounds) / records)
    const from = process.cpuUsage()
    while (state.settled < state.written) {
      const rows = reader.read(state.settled, state.written, 100)
      for (const row of rows) decodeBody(row.body, outbox.node)
      state.settled = rows.at(-1)?.seq ?? state.written
    }
    reading.push(cpuMicros(from) / (turns / rounds) / records)
    const idle = state.half === 0 ? 1 : 0
    if (!state.isClean(idle)) {
      reader.recycle(idle)
      state.setClean(idle, true)
    }
    writer.noteSettled()
  }
  const words = (all: number[]) => all.map((each) => each.toFixed(2)).join(' ')
  console.log(`${records} records a turn: hold, finish, commit ${words(figures)} us a record`)
  console.log(`${records} records a turn: read and decode      ${words(reading)} us a record`)
  reader.close()
  outbox.close()
  rmSync(dataDir, { recursive: true })
}

for (const records of [1, 4, 16]) await measure(records)
