// Requests that came with mistakes, as each process said last: what one knows, all can tell.

import type { Engine } from './engine.ts'
import { nowMs } from './leases.ts'

/** One that was refused before any vendor was asked. Holds no secret and nothing of its body but the model's name. */
export interface Arrival {
  readonly requestId: string
  /** Unix milliseconds. */
  readonly at: number
  /** Whose key it showed; null: that of nobody who is known. */
  readonly account: string | null
  readonly keyId: string | null
  readonly address: string | null
  /** What is wrong with it. */
  readonly code: string
  readonly status: number
  readonly method: string
  readonly path: string
  readonly model: string | null
  readonly userAgent: string | null
  /** What may have been meant: a path, a header, a model. */
  readonly suggestion: string | null
  /** For people. */
  readonly detail: string
}

export interface ArrivalTable {
  /** Replaces what the process said before. */
  report(process: string, arrivals: readonly Arrival[]): Promise<void>
  /** What the others said within the last hour. */
  reports(except: string): Promise<readonly Arrival[]>
}

const keptMs = 3_600_000

export function arrivalTable(engine: Engine): ArrivalTable {
  const now = nowMs[engine.kind]
  return {
    async report(process, arrivals) {
      await engine.run(
        `INSERT INTO arrival_report (process, at, arrivals) VALUES (?, ${now}, ?)
          ON CONFLICT (process) DO UPDATE SET at = excluded.at, arrivals = excluded.arrivals`,
        [process, JSON.stringify(arrivals)],
      )
      await engine.run(`DELETE FROM arrival_report WHERE at <= ${now} - ?`, [keptMs])
    },
    async reports(except) {
      const kept = await engine.query<{ readonly arrivals: string }>(
        `SELECT arrivals FROM arrival_report WHERE at > ${now} - ? AND process <> ?`,
        [keptMs, except],
      )
      return kept.flatMap((each) => JSON.parse(each.arrivals) as Arrival[])
    },
  }
}
