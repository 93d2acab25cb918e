// How often something may be asked for, whichever process is asked: one row for each asker, changed by one statement.

import type { Engine } from './engine.ts'
import { nowMs } from './leases.ts'
import { cleanText } from './text.ts'

export interface Pace {
  /** So many at once, then evenly so many in each span. */
  readonly count: number
  readonly spanMs: number
}

export interface PaceTable {
  /** Counts one use; returns 0, or in how many milliseconds there is one again: then nothing was counted. */
  take(subject: string, pace: Pace): Promise<number>
  /** Forgets those who have not asked for long. */
  prune(): Promise<void>
}

export function paceTable(engine: Engine): PaceTable {
  const now = nowMs[engine.kind]
  return {
    async take(subject, { count, spanMs }) {
      const name = cleanText(subject)
      const eachMs = Math.ceil(spanMs / count)
      // A use moves the time at which all is free by its share; it may lie a span ahead.
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
      return Math.max(1, Number(kept?.waitMs ?? 1))
    },
    async prune() {
      await engine.run(`DELETE FROM pace WHERE free_at <= ${now}`, [])
    },
  }
}
