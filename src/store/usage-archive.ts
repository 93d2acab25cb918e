// The archive files to which usage rows are written before they are removed, and which process writes the next one.

import type { Engine, Session, Value } from './engine.ts'
import { exportedUntil } from './exported-until.ts'
import { aheadMs } from './leases.ts'

export interface ArchivedFile {
  readonly name: string
  /** When its first and its last request began, Unix milliseconds. */
  readonly firstAt: number
  readonly lastAt: number
  readonly requests: number
  readonly chargeNano: bigint
  readonly writeoffNano: bigint
  readonly bytes: number
  /** SHA-256 of the file's bytes, hex. */
  readonly sha256: string
  readonly writtenAt: number
  /** null while its rows are still being removed. */
  readonly removedAt: number | null
}

/** A process of the deployment that may hold the turn; times in Unix milliseconds. */
interface Turn {
  readonly holder: string
  readonly nowMs: number
}

export interface UsageArchiveTable {
  /** Whether this holder could take the turn and has work: rows from before a moment, or a file whose rows remain. */
  isDue(turn: Turn, before: number): Promise<boolean>
  /** Takes or keeps the turn. False if another holder has it. */
  take(turn: Turn, until: number): Promise<boolean>
  /** Records a complete file, whose rows are to be removed. False if the turn was lost meanwhile. */
  add(turn: Turn, file: Omit<ArchivedFile, 'writtenAt' | 'removedAt'>): Promise<boolean>
  /** The oldest file whose rows are still being removed. */
  open(): Promise<ArchivedFile | null>
  /** Records that all of its rows are removed. */
  close(name: string, nowMs: number): Promise<void>
  /** By time, those after a file; at most `limit`. */
  list(after: Pick<ArchivedFile, 'firstAt' | 'name'> | null, limit: number): Promise<ArchivedFile[]>
}

const mine = 'SELECT 1 FROM usage_archive_turn WHERE holder = ?'

/** Longer than any turn. */
const longestTurnMs = 60_000

/** Bound to the values of `freeFor`. */
const isFree = '(holder = ? OR until <= ? OR until > ?)'

function freeFor({ holder, nowMs }: Turn): Value[] {
  return [holder, nowMs, nowMs + longestTurnMs + aheadMs]
}

const due = (session: Session) => `SELECT 1 FROM usage_archive_turn WHERE ${isFree}
  AND (EXISTS (SELECT 1 FROM usage_archive WHERE removed_at IS NULL)
    OR EXISTS (SELECT 1 FROM usage WHERE at < ? AND at < ${exportedUntil(session)}))`

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
    async isDue(turn, before) {
      return (await engine.query(due(engine), [...freeFor(turn), before])).length > 0
    },
    async take(turn, until) {
      const sql = `UPDATE usage_archive_turn SET holder = ?, until = ? WHERE ${isFree}`
      return (await engine.run(sql, [turn.holder, until, ...freeFor(turn)])) > 0
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
