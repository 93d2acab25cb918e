// Work beside requests that fails at the moment: one process tries, and all can tell.

import type { Engine } from './engine.ts'
import { nowMs } from './leases.ts'
import { cleanText } from './text.ts'

/** `subject` is empty where there is only one. */
interface Work {
  readonly work: 'archive' | 'export'
  readonly subject: string
}

export interface FailingWork extends Work {
  /** For operators. */
  readonly failure: string
  /** Of the first failure in a row, Unix milliseconds. */
  readonly since: number
}

export interface FailingWorkTable {
  /** How it ended this time; null: well. */
  note(work: Work, failure: string | null): Promise<void>
  /** What failed last, within the last quarter of an hour: what was turned off does not fail any more. */
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
