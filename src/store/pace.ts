// Rate limits that hold across processes: one row for each subject, changed by one statement.

import type { Engine } from './engine.ts'
import { nowMs } from './leases.ts'
import { cleanText } from './text.ts'

export interface Pace {
  /** So many uses at once, then the same number spread evenly over each span. */
  readonly count: number
  readonly spanMs: number
}

export interface PaceTable {
  /** Counts one use and returns 0, or returns the milliseconds before the next use is allowed and counts nothing. */
  take(subject: string, pace: Pace): Promise<number>
  /** Deletes subjects whose limit is unused again. */
  prune(): Promise<void>
}

export function paceTable(engine: Engine): PaceTable {
  const now = nowMs[engine.kind]
  return {
    async take(subject, { count, spanMs }) {
      const name = cleanText(subject)
      const eachMs = Math.ceil(spanMs / count)
      // Each use moves the time at which the whole limit is free by one share, to at most one span ahead.
      const taken = await engine.query(
        `INSERT INTO pace (subject, free_at) VALUES (?, ${now} + ?)
          ON CONFLICT (subject) DO UPDATE SET
            free_at = CASE WHEN pace.free_at > ${now} THEN pace.free_at ELSE ${now} END + ?
          WHERE pace.free_at + ? <= ${now} + ? RETURNING subject`,
        [name, eachMs, eachMs, eachMs, eachMs * count],
      )
      if (taken.length > 0) return 0
      const [kept] = await engine.query<{ readonly waitMs: number }>(
        `SELECT free_at + ? - ${now} - ? AS "waitMs" FROM pace WHERE subject = ?`,
        [eachMs, eachMs * count, name],
      )
      const waitMs = Math.max(1, Number(kept?.waitMs ?? 1))
      if (waitMs <= eachMs) return waitMs
      // Counted while the clock was ahead: with the whole limit used up, the next use is one share away.
      await engine.run(
        `UPDATE pace SET free_at = ${now} + ? WHERE subject = ? AND free_at > ${now} + ?`,
        [eachMs * count, name, eachMs * count],
      )
      return eachMs
    },
    async prune() {
      await engine.run(`DELETE FROM pace WHERE free_at <= ${now}`, [])
    },
  }
}
