// The outbox of one serving process: records of finished requests, on local disk before the ledger has them.

import type { Database } from 'bun:sqlite'
import { closeSync, existsSync, fsyncSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DataError } from './data-error.ts'
import { readMark } from './outbox-mark.ts'
import { isBusy, makeDataDir, naming, openFile } from './sqlite-file.ts'

/**
 * Two files alternate, so that the appending thread never waits for a disk: it only inserts into one, while another
 * thread empties the other, syncs its new log header and returns it.
 */
export type Half = 0 | 1
export const halves: readonly Half[] = [0, 1]

/** The half that is appended to after the halves were switched `turn` times. */
export function halfOf(turn: number): Half {
  return turn % 2 === 0 ? 0 : 1
}

/** One append: everything that finished in one turn of the event loop. */
export interface OutboxRow {
  /** Counted over both halves. */
  readonly seq: number
  /** Epoch of the outbox at the append; 0 in rows of versions without epochs. */
  readonly epoch: number
  readonly body: string
}

/** The writing end, used by one thread of one process. */
export interface Outbox {
  /** The node's name in the ledger, which lasts as long as the files. */
  readonly node: string
  /** How often this outbox was opened for appending, from 1. */
  readonly epoch: number
  /** The highest sequence in the files; 0 if they are empty. */
  readonly lastSeq: number
  /** Commits one row without a sync. Throws SQLite's error; then nothing was written. */
  append(half: Half, seq: number, body: string): void
  /** Closes the files and releases the slot. */
  close(): void
}

/** The reading end, used by another thread with its own connections. */
export interface OutboxReader {
  /** Rows of both halves with `after` < seq <= `until`, in order, at most `limit`. */
  read(after: number, until: number, limit: number): OutboxRow[]
  /** The highest sequence in one half; 0 if it is empty. */
  lastSeq(half: Half): number
  /** Empties a half that is not appended to, and prepares its log so that the next write needs no sync. */
  recycle(half: Half): void
  /** The log file that has a half's appends before the half is recycled; syncing it protects them from a power cut. */
  logPath(half: Half): string
  close(): void
}

/** Another process uses this slot. */
class OutboxTaken extends DataError {
  override readonly name = 'OutboxTaken'
}

const takeTurn = 'UPDATE turn SET count = count + 1'

/** Opens or creates a slot's outbox for appending. Throws `OutboxTaken` if another process has it. */
export function openOutbox(dataDir: string, slot: number): Outbox {
  makeDataDir(dataDir)
  const { owner, node, epoch } = takeSlot(dataDir, slot)
  const opened: Database[] = [owner]
  try {
    const files = halves.map((half) => {
      const path = halfPath(dataDir, slot, half)
      const file = openHalf(path)
      opened.push(file)
      naming(path, () => makeTables(file, node))
      return file
    })
    syncFolder(dataDir)
    const [first, second] = files.map((file) =>
      file.prepare(`INSERT INTO outbox (seq, epoch, body) VALUES (?, ${epoch}, ?)`),
    )
    if (first === undefined || second === undefined) throw new Error('An outbox has two halves.')
    return {
      node,
      epoch,
      lastSeq: Math.max(...files.map(lastSeqOf)),
      append: (half, seq, body) => {
        ;(half === 0 ? first : second).run(seq, body)
      },
      close: () => closeAll(opened),
    }
  } catch (error) {
    closeAll(opened)
    throw error
  }
}

/** Opens an outbox that this process already has open for appending. */
export function openOutboxReader(dataDir: string, slot: number): OutboxReader {
  const pathOf = (half: Half) => halfPath(dataDir, slot, half)
  const files = halves.map((half) => openHalf(pathOf(half)))
  // A half that another program reads is recycled later, because this thread must go on settling and renewing.
  for (const file of files) file.run('PRAGMA busy_timeout = 50')
  const select = files.map((file) =>
    file.prepare(
      'SELECT seq, epoch, body FROM outbox WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?',
    ),
  )
  const rowsOf = (half: Half, values: [number, number, number]) =>
    naming(pathOf(half), () => select[half]?.all(...values) as OutboxRow[])
  const fileOf = (half: Half): Database => {
    const file = files[half]
    if (file === undefined) throw new Error('An outbox has two halves.')
    return file
  }
  return {
    read(after, until, limit) {
      const rows = halves.flatMap((half) => rowsOf(half, [after, until, limit]))
      return rows.sort((a, b) => a.seq - b.seq).slice(0, limit)
    },
    lastSeq: (half) => lastSeqOf(fileOf(half)),
    recycle(half) {
      const file = fileOf(half)
      file.run('DELETE FROM outbox')
      const restarted = file.query('PRAGMA wal_checkpoint(RESTART)').get() as { busy: number }
      if (restarted.busy !== 0) throw new Error('A half of the outbox is still in use.')
      // SQLite syncs the log's header at the first write after a restart: do that here, not in an append.
      file.run(takeTurn)
    },
    logPath: (half) => `${pathOf(half)}-wal`,
    close: () => closeAll(files),
  }
}

interface Slot {
  readonly owner: Database
  readonly node: string
  readonly epoch: number
}

function takeSlot(dataDir: string, slot: number): Slot {
  const path = ownerPath(dataDir, slot)
  const former = existsSync(path) ? null : formerOwner(dataDir, slot)
  const owner = openFile(path)
  try {
    return naming(path, () => {
      owner.run('BEGIN EXCLUSIVE')
      owner.run('CREATE TABLE IF NOT EXISTS node (id TEXT NOT NULL) STRICT')
      owner.run('CREATE TABLE IF NOT EXISTS epoch (count INTEGER NOT NULL) STRICT')
      owner.run('INSERT INTO node (id) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM node)', [
        former?.node ?? crypto.randomUUID(),
      ])
      owner.run('INSERT INTO epoch (count) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM epoch)', [
        former?.epoch ?? 0,
      ])
      owner.run('UPDATE epoch SET count = count + 1')
      const node = textOf(owner, 'SELECT id AS value FROM node')
      const epoch = Number(textOf(owner, 'SELECT count AS value FROM epoch'))
      owner.run('COMMIT')
      // This transaction stays open while the process lives, and so locks the slot.
      owner.run('BEGIN EXCLUSIVE')
      return { owner, node, epoch }
    })
  } catch (error) {
    owner.close()
    if (!isBusy(error)) throw error
    throw new OutboxTaken(
      `Another Tollgate process writes outbox ${slot} in ${dataDir}. Stop it first, or give this one a slot of its own.`,
    )
  }
}

/** The node whose records the halves have: under another name the ledger could not match them. null if none. */
function formerOwner(dataDir: string, slot: number): { node: string; epoch: number } | null {
  let node: string | null = null
  let epoch = 0
  for (const path of outboxFiles(dataDir, slot).halves) {
    if (!existsSync(path)) continue
    const file = openHalf(path)
    try {
      node ??= naming(path, () => ownerOfHalf(file))
      if (node !== null)
        epoch = Math.max(
          epoch,
          naming(path, () => lastEpochOf(file)),
        )
    } finally {
      file.close()
    }
  }
  const mark = readMark(dataDir, slot)
  if (mark !== null && mark.node === node) epoch = Math.max(epoch, mark.epoch)
  // Without an epoch, record numbers would start again under the same name.
  return node === null || epoch === 0 ? null : { node, epoch }
}

/** The node's name in a half; null if it has none yet. */
export function ownerOfHalf(half: Database): string | null {
  if (!hasTable(half, 'owner')) return null
  const row = half.query('SELECT node FROM owner').get() as { readonly node: string } | null
  return row?.node ?? null
}

function lastEpochOf(half: Database): number {
  const row = half.query('SELECT max(epoch) AS last FROM outbox').get() as { last: number | null }
  return row.last ?? 0
}

export function hasTable(file: Database, name: string): boolean {
  return file.query('SELECT 1 FROM sqlite_master WHERE name = ?').get(name) !== null
}

/** Slots that have a file with records or with a node's name, lowest first. */
export function outboxSlots(dataDir: string): number[] {
  const slots = readdirSync(dataDir).flatMap(
    (name) => /^outbox-(\d+)(?:-[ab])?\.db$/.exec(name)?.[1] ?? [],
  )
  return [...new Set(slots.map(Number))].sort((a, b) => a - b)
}

function textOf(file: Database, sql: string): string {
  const row = file.query(sql).get() as { readonly value: string | number } | null
  if (row === null) throw new Error('The outbox has lost the name of its node.')
  return String(row.value)
}

/** The paths of a slot's files. */
export function outboxFiles(dataDir: string, slot: number) {
  const paths = halves.map((half) => halfPath(dataDir, slot, half))
  return { owner: ownerPath(dataDir, slot), halves: paths }
}

function ownerPath(dataDir: string, slot: number): string {
  return join(dataDir, `outbox-${slot}.db`)
}

function halfPath(dataDir: string, slot: number, half: Half): string {
  return join(dataDir, `outbox-${slot}-${half === 0 ? 'a' : 'b'}.db`)
}

function openHalf(path: string): Database {
  const file = openFile(path)
  try {
    naming(path, () => {
      // Only this process writes here. If another program locks the file nevertheless, an append waits and is not lost.
      file.run('PRAGMA busy_timeout = 5000')
      file.run('PRAGMA journal_mode = WAL')
      file.run('PRAGMA synchronous = NORMAL')
      file.run('PRAGMA wal_autocheckpoint = 0')
      // Each row is written once and read once; four connections would otherwise keep 2 MB of pages each.
      file.run('PRAGMA cache_size = -256')
    })
    return file
  } catch (error) {
    file.close()
    throw error
  }
}

function makeTables(file: Database, node: string): void {
  file.run(
    `CREATE TABLE IF NOT EXISTS outbox (
      seq INTEGER PRIMARY KEY, body TEXT NOT NULL, epoch INTEGER NOT NULL DEFAULT 0) STRICT`,
  )
  const columns = file.query(`SELECT 1 FROM pragma_table_info('outbox') WHERE name = 'epoch'`)
  if (columns.get() === null) {
    file.run('ALTER TABLE outbox ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0')
  }
  // For backups beside a running server, which locks the file that has the node's name.
  file.run('CREATE TABLE IF NOT EXISTS owner (node TEXT NOT NULL) STRICT')
  file.run('DELETE FROM owner')
  file.run('INSERT INTO owner (node) VALUES (?)', [node])
  file.run('CREATE TABLE IF NOT EXISTS turn (count INTEGER NOT NULL) STRICT')
  file.run('INSERT INTO turn (count) SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM turn)')
  // SQLite syncs the log's header at the first write to it.
  file.run(takeTurn)
}

function lastSeqOf(file: Database): number {
  const row = file.query('SELECT max(seq) AS last FROM outbox').get() as { last: number | null }
  return row.last ?? 0
}

/** Syncs the directory, so that the names of new files survive a power cut. */
function syncFolder(dataDir: string): void {
  const folder = openSync(dataDir, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function closeAll(files: readonly Database[]): void {
  for (const file of files) file.close()
}
