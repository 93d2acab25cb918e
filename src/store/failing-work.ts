// Background work that is failing: one process runs it, and every process can report the failure.

import type { Engine } from './engine.ts'
import { nowMs } from './leases.ts'
import { cleanText } from './text.ts'

/** `subject` is empty if there is only one job of that kind. */
interface Work {
  readonly work: 'archive' | 'export'
  readonly subject: string
}

export interface FailingWork extends Work {
  /** Explanation for operators. */
  readonly failure: string
  /** Time of the first of the consecutive failures, Unix milliseconds. */
  readonly since: number
}

export interface FailingWorkTable {
  /** Records the outcome of a run; null: success. */
  note(work: Work, failure: string | null): Promise<void>
  /** Failures of the last 15 minutes; work that was turned off stops failing and disappears. */
  all(): Promise<readonly FailingWork[]>
}

const keptMs = 900_000

export function failingWorkTable(engine: Engine): FailingWorkTable {
  const now = nowMs[engine.kind]
  return {
    async note({ work, subject }, failure) {
      if (failure === null) {
        await engine.run('DELETE FROM failing_work WHERE work = ? AND subject = ?', [work, subject])
        return
      }
      await engine.run(
        `INSERT INTO failing_work (work, subject, failure, since, last_at)
          VALUES (?, ?, ?, ${now}, ${now}) ON CONFLICT (work, subject) DO UPDATE SET
          failure = excluded.failure, last_at = excluded.last_at,
          since = CASE WHEN failing_work.last_at > excluded.last_at - ? THEN failing_work.since
            ELSE excluded.since END`,
        [work, subject, cleanText(failure), keptMs],
      )
    },
    all() {
      const sql = `SELECT work, subject, failure, since FROM failing_work
        WHERE last_at > ${now} - ? ORDER BY work, subject`
      return engine.query<FailingWork>(sql, [keptMs])
    },
  }
}
