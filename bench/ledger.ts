// Measures what charging costs the serving thread (hold, record, commit) and the worker (until the ledger has it).

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileSchema } from '../src/config/schema.ts'
import { createLeases, type Leases } from '../src/ledger/leases.ts'
import { createLedger } from '../src/ledger/ledger-node.ts'
import { OutboxWriter } from '../src/ledger/outbox-writer.ts'
import { encodeBody, encodeRecord } from '../src/ledger/record.ts'
import { monotonicMs, SharedState } from '../src/ledger/shared.ts'
import { openStore } from '../src/store/open.ts'
import {
  halfOf,
  type OutboxReader,
  openOutbox,
  openOutboxReader,
} from '../src/store/sqlite-outbox.ts'
import { createLog } from '../src/telemetry/log.ts'
import { finishedRequest } from '../test/support/finished.ts'

const turns = 4_000
const rounds = 5
const holdNano = 1_000_000n
const ignore = () => undefined
const requests = Array.from({ length: 1_024 }, (_, index) =>
  finishedRequest({
    requestId: `req_019${String(index).padStart(9, '0')}000001a1b2c3d4e5`,
    input: 120 + (index % 50),
    chargeNano: 258_000n + BigInt(index % 1_000),
  }),
)

/** An unlimited wallet in memory: the database's cost of a lease is not measured here. */
function openLeases(): Leases {
  const postedNano = 10n ** 18n
  const granted = { fenced: false, leasedElsewhereNano: 0n, postedNano }
  const leases = createLeases({
    authority: {
      grant: async (_account, { wantNano }) => ({ ...granted, grantedNano: wantNano }),
      giveBack: ignore,
      recall: ignore,
      forget: ignore,
    },
    settings: { maxHeldPerKeyNano: null, maxHeldPerAccountNano: null },
    onError: ignore,
  })
  leases.open()
  return leases
}

async function turn(leases: Leases, writer: OutboxWriter, records: number, from: number) {
  for (let each = 0; each < records; each += 1) {
    const finished = requests[(from + each) % requests.length]
    const made = leases.hold('acme', 'key_1', holdNano)
    const hold = made instanceof Promise ? await made : made
    if (finished === undefined || 'refused' in hold) throw new Error('The request was refused.')
    const fromLeaseNano = leases.close(hold, finished.row.chargeNano)
    const record = encodeRecord('final', 1, fromLeaseNano, finished, from + each + 1)
    writer.push(finished.row.requestId, record, ignore)
  }
  writer.flush()
}

/** As the worker does between two rounds, outside what is measured. */
function empty(reader: OutboxReader, state: SharedState, writer: OutboxWriter): void {
  state.settled = state.written
  writer.noteSettled()
  const idle = halfOf(state.turn + 1)
  if (state.isClean(idle)) return
  reader.recycle(idle)
  state.setClean(idle, true)
}

/** Microseconds of CPU to a record; nothing else runs in this process. */
function cpuMicros(since: NodeJS.CpuUsage, records: number): string {
  const { user, system } = process.cpuUsage(since)
  return ((user + system) / records).toFixed(2)
}

async function measureServing(dataDir: string, records: number): Promise<void> {
  const outbox = openOutbox(dataDir, records)
  const reader = openOutboxReader(dataDir, records)
  const state = new SharedState()
  const fail = (error: unknown) => {
    throw error
  }
  const callbacks = {
    onWaiting: ignore,
    onRecovered: ignore,
    onFailure: fail,
    onCallbackError: fail,
  }
  const nowMs = monotonicMs
  const kept = { keptBy: 'outbox', progressWaitMs: 0 } as const
  const writer = new OutboxWriter({ outbox, state, nowMs, ...kept, ...callbacks })
  const leases = openLeases()
  const figures: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage()
    for (let each = 0; each < turns; each += 1) await turn(leases, writer, records, each * records)
    figures.push(cpuMicros(before, turns * records))
    empty(reader, state, writer)
  }
  console.log(`serving thread, ${records} records a turn: ${figures.join(' ')} us a record`)
  reader.close()
  outbox.close()
}

/** An outbox that a process left, until the node is open: reading, settling, committing, all on SQLite. */
async function measureWorker(dataDir: string): Promise<void> {
  const count = 100_000
  const outbox = openOutbox(dataDir, 0)
  for (let seq = 1; seq <= count / 4; seq += 1) {
    const four = [0, 1, 2, 3].map((each) => finishedRequest({ requestId: `req_${seq}_${each}` }))
    const body = encodeBody(four.map((finished) => encodeRecord('final', 1, 0n, finished)))
    outbox.append(0, seq, body)
  }
  outbox.close()
  const store = await openStore({ dataDir, databaseUrl: null })
  await store.accounts.ensure('acme', Date.now())
  await store.close()
  const before = process.cpuUsage()
  const beganAt = performance.now()
  const node = await createLedger({
    store: { dataDir, databaseUrl: null },
    dataDir,
    settings: fileSchema.parse({}).ledger,
    durability: 'normal',
    maxHeldPerKeyNano: null,
    maxHeldPerAccountNano: null,
    log: createLog({ level: 'warn' }),
  })
  await node.opened
  const tookMs = Math.round(performance.now() - beganAt)
  console.log(
    `worker: ${cpuMicros(before, count)} us a record; ${count} left: open in ${tookMs} ms`,
  )
  await node.drain()
}

const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
try {
  for (const records of [1, 4, 16]) await measureServing(dataDir, records)
  await measureWorker(dataDir)
} finally {
  rmSync(dataDir, { recursive: true })
}
