// Copies the records in the outboxes of a data directory, beside the processes that write them.

import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { naming } from './sqlite-file.ts'
import { hasTable, type OutboxRow, outboxFiles, outboxSlots, ownerOfHalf } from './sqlite-outbox.ts'

export interface OutboxCopy {
  readonly node: string
  /** In order of their sequence. */
  readonly rows: readonly OutboxRow[]
}

/**
 * Returns every row appended before the call, except rows that were already in the ledger when they were read: a copy
 * of the ledger made afterwards contains those.
 */
export function copyOutboxes(dataDir: string): OutboxCopy[] {
  return outboxSlots(dataDir).map((slot) => copyOutbox(dataDir, slot))
}

function copyOutbox(dataDir: string, slot: number): OutboxCopy {
  const { owner, halves } = outboxFiles(dataDir, slot)
  const opened: { readonly path: string; readonly file: Database }[] = []
  try {
    for (const path of halves.filter((each) => existsSync(each))) {
      opened.push({ path, file: naming(path, () => openHalf(path)) })
    }
    // Rows are appended in order, to either half, so all rows up to this sequence are there.
    const until = Math.max(0, ...opened.map(({ path, file }) => naming(path, () => lastSeq(file))))
    const rows = opened.flatMap(({ path, file }) => naming(path, () => rowsOf(file, until)))
    const names = opened.map(({ path, file }) => naming(path, () => ownerOfHalf(file)))
    const node = names.find((name) => name !== null) ?? naming(owner, () => ownerOf(owner))
    return { node, rows: rows.sort((a, b) => a.seq - b.seq) }
  } finally {
    for (const { file } of opened) file.close()
  }
}

function openHalf(path: string): Database {
  const file = new Database(path, { readwrite: true, create: false })
  file.run('PRAGMA busy_timeout = 5000')
  return file
}

function lastSeq(file: Database): number {
  if (!hasTable(file, 'outbox')) return 0
  const row = file.query('SELECT max(seq) AS last FROM outbox').get() as { last: number | null }
  return row.last ?? 0
}

/** Earlier versions stored no epoch. */
function rowsOf(file: Database, until: number): OutboxRow[] {
  if (!hasTable(file, 'outbox')) return []
  const columns = file.query(`SELECT 1 FROM pragma_table_info('outbox') WHERE name = 'epoch'`)
  const epoch = columns.get() === null ? '0' : 'epoch'
  const sql = `SELECT seq, ${epoch} AS epoch, body FROM outbox WHERE seq <= ? ORDER BY seq`
  return file.query(sql).all(until) as OutboxRow[]
}

/** Used only if no process has the outbox open; otherwise the name is read from a half. */
function ownerOf(path: string): string {
  const file = openHalf(path)
  try {
    const row = file.query('SELECT id FROM node').get() as { readonly id: string } | null
    if (row === null) throw new Error('it does not say whose outbox it is')
    return row.id
  } finally {
    file.close()
  }
}
