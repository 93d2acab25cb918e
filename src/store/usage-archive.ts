// The files that usage rows were written to before they were removed, and whose turn it is to write one.

import type { Engine } from './engine.ts'

export interface ArchivedFile {
  readonly name: string
  /** Of its first and its last request, Unix milliseconds. */
  readonly firstAt: number
  readonly lastAt: number
  readonly requests: number
  readonly chargeNano: bigint
  readonly writeoffNano: bigint
  readonly bytes: number
  /** Of the file's bytes, in hex. */
  readonly sha256: string
  readonly writtenAt: number
  /** null: its rows are still being removed. */
  readonly removedAt: number | null
}

/** One process of the deployment; times in Unix milliseconds. */
interface Turn {
  readonly holder: string
  readonly nowMs: number
}

export interface UsageArchiveTable {
  /** Whether this holder might take the turn, and would find rows from before that moment, or a file whose rows are not gone yet. */
  isDue(turn: Turn, before: number): Promise<boolean>
  /** Takes or keeps the turn. False where another holder has it. */
  take(turn: Turn, until: number): Promise<boolean>
  /** Notes a file that is whole, whose rows are to be removed. False where the turn was lost meanwhile. */
  add(turn: Turn, file: Omit<ArchivedFile, 'writtenAt' | 'removedAt'>): Promise<boolean>
  /** The oldest whose rows are still being removed. */
  open(): Promise<ArchivedFile | null>
  /** None of its rows is left. */
  close(name: string, nowMs: number): Promise<void>
  /** By time, those behind a file; at most `limit`. */
  list(after: Pick<ArchivedFile, 'firstAt' | 'name'> | null, limit: number): Promise<ArchivedFile[]>
}

const mine = 'SELECT 1 FROM usage_archive_turn WHERE holder = ?'

const due = `SELECT 1 FROM usage_archive_turn WHERE (holder = ? OR until <= ?)
  AND (EXISTS (SELECT 1 FROM usage_archive WHERE removed_at IS NULL)
    OR EXISTS (SELECT 1 FROM usage WHERE at < ?))`

const insert = `INSERT INTO usage_archive (name, first_at, last_at, requests, charge_nano, writeoff_nano,
    bytes, sha256, written_at)
  SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? FROM usage_archive_turn WHERE holder = ?
  ON CONFLICT (name) DO UPDATE SET removed_at = NULL`

const select = `SELECT name, first_at AS "firstAt", last_at AS "lastAt", requests,
    charge_nano AS "chargeNano", writeoff_nano AS "writeoffNano", bytes, sha256,
    written_at AS "writtenAt", removed_at AS "removedAt"
  FROM usage_archive`

export function usageArchiveTable(engine: Engine): UsageArchiveTable {
  return {
    async isDue({ holder, nowMs }, before) {
      return (await engine.query(due, [holder, nowMs, before])).length > 0
    },
    async take({ holder, nowMs }, until) {
      const sql = `UPDATE usage_archive_turn SET holder = ?, until = ? WHERE holder = ? OR until <= ?`
      return (await engine.run(sql, [holder, until, holder, nowMs])) > 0
    },
    async add({ holder, nowMs }, file) {
      const { name, firstAt, lastAt, requests, bytes, sha256 } = file
      const sums = [String(file.chargeNano), String(file.writeoffNano)]
      const values = [name, firstAt, lastAt, requests, ...sums, bytes, sha256, nowMs, holder]
      await engine.run(insert, values)
      return (await engine.query(mine, [holder])).length > 0
    },
    async open() {
      const sql = `${select} WHERE removed_at IS NULL ORDER BY written_at, name LIMIT 1`
      const [kept] = await engine.query<KeptFile>(sql, [])
      return kept === undefined ? null : fileOf(kept)
    },
    async close(name, nowMs) {
      await engine.run('UPDATE usage_archive SET removed_at = ? WHERE name = ?', [nowMs, name])
    },
    async list(after, limit) {
      const behind = after === null ? '' : ' WHERE (first_at, name) > (?, ?)'
      const values = after === null ? [limit] : [after.firstAt, after.name, limit]
      const sql = `${select}${behind} ORDER BY first_at, name LIMIT ?`
      return (await engine.query<KeptFile>(sql, values)).map(fileOf)
    },
  }
}

type KeptFile = Omit<ArchivedFile, 'chargeNano' | 'writeoffNano'> &
  Readonly<Record<'chargeNano' | 'writeoffNano', string>>

function fileOf(kept: KeptFile): ArchivedFile {
  const { chargeNano, writeoffNano } = kept
  return { ...kept, chargeNano: BigInt(chargeNano), writeoffNano: BigInt(writeoffNano) }
}
