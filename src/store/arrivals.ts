// Faulty requests that each process reports, so that every process can show those of all.

import type { Engine } from './engine.ts'
import { nowMs } from './leases.ts'

/** A request refused before any vendor was asked. Holds no secret, and nothing of the body but the model's name. */
export interface Arrival {
  readonly requestId: string
  /** Unix milliseconds. */
  readonly at: number
  /** Account of the key it presented; null if no known key was presented. */
  readonly account: string | null
  readonly keyId: string | null
  readonly address: string | null
  /** Code of the error. */
  readonly code: string
  readonly status: number
  readonly method: string
  readonly path: string
  readonly model: string | null
  readonly userAgent: string | null
  /** What the client may have meant: a path, a header or a model. */
  readonly suggestion: string | null
  /** Explanation for people. */
  readonly detail: string
}

export interface ArrivalTable {
  /** Replaces the process's previous report. */
  report(process: string, arrivals: readonly Arrival[]): Promise<void>
  /** Reports by other processes within the last hour. */
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
