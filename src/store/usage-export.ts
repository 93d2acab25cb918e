// Export of usage rows to data warehouses: its progress, which process sends, and which rows must be kept for it.

import type { Engine, Session } from './engine.ts'
import { aheadMs, nowMs } from './leases.ts'
import { newestBatch } from './settlement-log.ts'
import { type KeptUsage, selectUsage, usageRowOf } from './usage-columns.ts'
import type { SettledPlace, UsagePlace } from './usage-filter.ts'
import type { UsageRow } from './usage-row.ts'

/** The place after the last row that the warehouse has received. */
export interface ExportPlace {
  readonly settled: SettledPlace
  /** Rows that existed before the export began are sent first, in the order of their time; null when they all are. */
  readonly scan: UsagePlace | null
}

export interface ExportState {
  /** When the export began, or was restarted; Unix milliseconds. */
  readonly beganAt: number
  readonly place: ExportPlace
  /** End of a batch that may have been sent already; null: none. */
  readonly planned: ExportPlace | null
}

/** A process that has the turn for a destination. */
interface ExportTurn {
  readonly destination: string
  readonly holder: string
}

export interface ExportStatus extends ExportState {
  readonly destination: string
  readonly holder: string
  /** Number of rows received, some more than once; and when the last were, Unix milliseconds. */
  readonly rowsTaken: number
  readonly takenAt: number | null
  readonly heldUntil: number
  /** Number of rows settled after the place, without rows that are still scanned; and since when the oldest waits. */
  readonly rowsBehind: number
  readonly waitingSince: number | null
}

export interface UsageExportTable {
  /** Takes or keeps the turn; null if another process has it. The first call begins the export with existing rows. */
  take(turn: ExportTurn, forMs: number, holdMs: number): Promise<ExportState | null>
  /** Records what is about to be sent, so that the next process sends the same batch. False if the turn was lost. */
  plan(turn: ExportTurn, planned: ExportPlace): Promise<boolean>
  /**
   * Records that all rows up to `to` were received: `rows` more; `through`: the last batch received completely. Later
   * rows are kept for `holdMs`. False if the turn was lost.
   */
  move(turn: ExportTurn, to: ExportPlace, taken: Taken): Promise<boolean>
  leave(turn: ExportTurn): Promise<void>
  /** Rows that existed at the beginning, in the order of their time, after one place and up to another. */
  scan(after: UsagePlace, until: UsagePlace | null, limit: number): Promise<readonly UsageRow[]>
  list(): Promise<readonly ExportStatus[]>
  /** Makes everything be sent again; false if nothing ever was. */
  restart(destination: string): Promise<boolean>
}

interface Taken {
  readonly rows: number
  readonly through: number
  readonly holdMs: number
}

/** A place before any row. */
export const beginning: UsagePlace = { at: -1, requestId: '' }

export function usageExportTable(engine: Engine): UsageExportTable {
  const now = nowMs[engine.kind]
  return {
    async take({ destination, holder }, forMs, holdMs) {
      const sql = `UPDATE usage_export SET holder = ?, until = ${now} + ?
        WHERE destination = ? AND (holder = ? OR until <= ${now} OR until > ${now} + ?)
        RETURNING place, planned, began_at AS "beganAt"`
      const values = [holder, forMs, destination, holder, forMs + aheadMs]
      const [taken] = await engine.query<KeptState>(sql, values)
      if (taken !== undefined) return stateOf(taken)
      await begin(engine, destination, holdMs)
      const [first] = await engine.query<KeptState>(sql, values)
      return first === undefined ? null : stateOf(first)
    },
    async plan({ destination, holder }, planned) {
      const sql = 'UPDATE usage_export SET planned = ? WHERE destination = ? AND holder = ?'
      return (await engine.run(sql, [JSON.stringify(planned), destination, holder])) > 0
    },
    async move({ destination, holder }, to, { rows, through, holdMs }) {
      const changed = await engine.run(
        `UPDATE usage_export SET place = ?, planned = NULL, number = ?, scanning = ?,
          held_until = ${now} + ?, rows_taken = rows_taken + ?,
          taken_at = CASE WHEN ? > 0 THEN ${now} ELSE taken_at END
          WHERE destination = ? AND holder = ?`,
        [
          ...[JSON.stringify(to), through, to.scan === null ? 0 : 1, holdMs],
          ...[rows, rows, destination, holder],
        ],
      )
      return changed > 0
    },
    async leave({ destination, holder }) {
      const sql = 'UPDATE usage_export SET until = 0 WHERE destination = ? AND holder = ?'
      await engine.run(sql, [destination, holder])
    },
    async scan(after, until, limit) {
      const end = until === null ? '' : 'AND at <= ? AND (at, request_id) <= (?, ?)'
      const sql = `${selectUsage} WHERE at >= ? AND (at, request_id) > (?, ?) ${end}
        ORDER BY at, request_id LIMIT ?`
      const from = [after.at, after.at, after.requestId]
      const to = until === null ? [] : [until.at, until.at, until.requestId]
      const kept = await engine.query<KeptUsage>(sql, [...from, ...to, limit])
      return kept.map(usageRowOf)
    },
    list: () => engine.snapshot(list),
    async restart(destination) {
      const sql = 'DELETE FROM usage_export WHERE destination = ?'
      return (await engine.run(sql, [destination])) > 0
    },
  }
}

/** Rows settled from here on are in the log, and earlier ones in the table. */
async function begin(engine: Engine, destination: string, holdMs: number): Promise<void> {
  const now = nowMs[engine.kind]
  const settled = await newestBatch(engine)
  const place: ExportPlace = { settled, scan: beginning }
  await engine.run(
    `INSERT INTO usage_export (destination, began_at, number, scanning, place, held_until, holder, until,
        rows_taken) VALUES (?, ${now}, ?, 1, ?, ${now} + ?, '', 0, 0) ON CONFLICT DO NOTHING`,
    [destination, settled.number, JSON.stringify(place), holdMs],
  )
}

interface KeptState {
  readonly beganAt: number
  readonly place: string
  readonly planned: string | null
}

function stateOf({ place, planned, beganAt }: KeptState): ExportState {
  const isPlanned = planned !== null
  return { beganAt, place: JSON.parse(place), planned: isPlanned ? JSON.parse(planned) : null }
}

async function list(session: Session): Promise<readonly ExportStatus[]> {
  const kept = await session.query<KeptState & Omit<ExportStatus, keyof ExportState>>(
    `SELECT destination, began_at AS "beganAt", place, planned, holder, rows_taken AS "rowsTaken", taken_at AS "takenAt",
        held_until AS "heldUntil", CAST(coalesce((SELECT sum(requests) FROM settlement_log
          WHERE settlement_log.number > usage_export.number), 0) AS BIGINT) AS "rowsBehind",
        (SELECT min(nullif(settled_at, 0)) FROM settlement_log
          WHERE settlement_log.number > usage_export.number) AS "waitingSince"
      FROM usage_export ORDER BY destination`,
    [],
  )
  return kept.map((each) => ({ ...each, ...stateOf(each) }))
}
