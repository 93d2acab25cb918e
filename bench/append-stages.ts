// Measures what a record in the outbox costs the serving thread: making its text, and several ways to store it.

import { Database } from 'bun:sqlite'
import { fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeBody, encodeRecord } from '../src/ledger/record.ts'
import { openOutbox, openOutboxReader } from '../src/store/sqlite-outbox.ts'
import { finishedRequest } from '../test/support/finished.ts'

const appends = 3_000
const rounds = 12

const records = Array.from({ length: 16 }, (_, index) => {
  const requestId = `req_019a1b2c3d4e0001a1b2c3d4e5f${index.toString(16)}`
  const more = { clientAddress: '127.0.0.1', vendorRequestId: 'chatcmpl-0123456789abcdef' }
  return encodeRecord('final', 1, 258_000n, finishedRequest({ requestId, ...more }), index + 1)
})

interface Way {
  readonly name: string
  append(body: string): void
  /** Work between two rounds, which is not measured. */
  empty(): void
}

function outboxIn(dataDir: string): Way {
  const outbox = openOutbox(dataDir, 0)
  const reader = openOutboxReader(dataDir, 0)
  let seq = 0
  const append = (body: string) => {
    seq += 1
    outbox.append(0, seq, body)
  }
  return { name: 'the outbox', append, empty: () => reader.recycle(0) }
}

/** In exclusive mode, without locks; the outbox cannot use it, since other connections read it. */
function withoutLocks(dataDir: string): Way {
  const file = new Database(join(dataDir, 'alone.db'))
  for (const pragma of ['locking_mode = EXCLUSIVE', 'journal_mode = WAL', 'synchronous = NORMAL']) {
    file.run(`PRAGMA ${pragma}`)
  }
  file.run('PRAGMA wal_autocheckpoint = 0')
  file.run('CREATE TABLE outbox (seq INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT')
  const insert = file.prepare('INSERT INTO outbox (body) VALUES (?)')
  const empty = () => {
    file.run('DELETE FROM outbox')
    file.query('PRAGMA wal_checkpoint(RESTART)').get()
    file.run(`INSERT INTO outbox (body) VALUES ('')`)
  }
  return { name: 'SQLite without its locks', append: (body) => insert.run(body), empty }
}

/** Writes length, checksum and text one after another into a file of fixed size. */
function plainFile(dataDir: string): Way {
  const room = 16 * 1024 * 1024
  const file = openSync(join(dataDir, 'plain'), 'w+')
  writeSync(file, new Uint8Array(room))
  fsyncSync(file)
  const bytes = Buffer.alloc(256 * 1024)
  let at = 0
  return {
    name: 'a plain file',
    append(body) {
      const length = bytes.write(body, 8, 'utf8')
      bytes.writeUInt32LE(length, 0)
      bytes.writeUInt32LE(Bun.hash.crc32(bytes.subarray(8, 8 + length)), 4)
      at = at + length + 8 > room ? 0 : at
      at += writeSync(file, bytes, 0, length + 8, at)
    },
    empty: () => undefined,
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
const ways: readonly Way[] = [
  { name: 'text alone', append: () => undefined, empty: () => undefined },
  outboxIn(dataDir),
  withoutLocks(dataDir),
  plainFile(dataDir),
]
for (const count of [1, 3, 8]) {
  const figures = new Map<string, number[]>()
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, append, empty } of ways) {
      const before = process.cpuUsage()
      for (let each = 0; each < appends; each += 1) append(encodeBody(records.slice(0, count)))
      const { user, system } = process.cpuUsage(before)
      figures.set(name, [...(figures.get(name) ?? []), (user + system) / appends])
      empty()
    }
  }
  const said = [...figures].map(([name, all]) => {
    const [least = 0, ...rest] = all.toSorted((one, other) => one - other)
    return `${name} ${least.toFixed(1)} (${(rest[rounds >> 1] ?? 0).toFixed(1)})`
  })
  console.log(`${count} records, us to an append, least (median): ${said.join('; ')}`)
}
rmSync(dataDir, { recursive: true })
