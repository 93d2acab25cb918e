// Running requests across processes: who looks at which account's, what each process last said runs there, and what is to
// be stopped. Nothing is written while nobody looks. Times are the database's, for machines differ in theirs.

import type { Engine } from './engine.ts'
import { nowMs } from './leases.ts'
import { cleanText } from './text.ts'

/** As its process last said. */
export interface RunningRequest {
  readonly requestId: string
  /** Unix milliseconds. */
  readonly at: number
  readonly account: string
  readonly key: string
  readonly keyName: string
  readonly group: string
  readonly operation: string
  readonly model: string
  readonly stream: boolean
  /** Who is asked now; null where nobody is. */
  readonly channel: string | null
  readonly attempts: number
  readonly ageMs: number
  readonly ttftMs: number | null
  /** Until now. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costNano: string
  readonly heldNano: string
}

/** How a process does. Times in Unix milliseconds. */
export interface ProcessReading {
  readonly process: string
  readonly startedAt: number
  readonly running: number
  /** Finished requests that are not in the ledger yet, and the age of the oldest. */
  readonly unsettled: number
  readonly oldestUnsettledMs: number
  /** Why the ledger lets no request begin; null: it does. */
  readonly closed: string | null
  /** By phase, the counts of the buckets of `tollgate_overhead_seconds`. */
  readonly overhead: Readonly<Record<OverheadPhase, readonly number[]>>
  readonly channels: readonly ChannelReading[]
  /** What its operator should see to, though requests may come. */
  readonly warnings: readonly string[]
  /** Left out by versions that do not tell it. */
  readonly alike?: Alike
  /** Answered requests that were passed over on the way to the ledger; left out as well. */
  readonly missing?: number
}

/** What must be equal on all nodes. */
export interface Alike {
  readonly version: string
  /** Fingerprints. */
  readonly encryptionKey: string
  readonly configuration: string
}

export type OverheadPhase = 'auth' | 'route' | 'settle'

export interface ChannelReading {
  readonly id: string
  /** 0 ok, 1 degraded, 2 open or cooling, 3 disabled. */
  readonly state: 0 | 1 | 2 | 3
  /** Why it is not wholly well, and since when; null where it is. */
  readonly trouble: ChannelTrouble | null
}

/** As of `Trouble` in the router, with a time that other machines understand. */
interface ChannelTrouble {
  readonly reason: string
  readonly fault: string
  readonly sinceAt: number
}

interface RunningStop {
  readonly requestId: string
  /** Whose it must be; null: an operator stops it, whoever's it is. */
  readonly account: string | null
}

/** What a process has to do about its running requests. */
interface RunningWork {
  /** Accounts that somebody looks at; null: all of them. */
  readonly accounts: readonly string[] | null
  readonly stops: readonly RunningStop[]
}

export interface RunningTable {
  /** Somebody looks at an account's requests, or with null at all. False where nobody did until now. */
  watch(account: string | null): Promise<boolean>
  work(): Promise<RunningWork>
  /** Replaces what the process said before. `reading`: for operators. */
  report(
    process: string,
    requests: readonly RunningRequest[],
    reading?: ProcessReading,
  ): Promise<void>
  /** What processes said in the last seconds, and how many of them did. */
  reports(): Promise<RunningReports>
  stop(stop: RunningStop): Promise<void>
  /** Nobody need stop it any more: it is done, or given up. False where that was so already. */
  stopped(requestId: string): Promise<boolean>
  isStopping(requestId: string): Promise<boolean>
}

interface RunningReports {
  readonly processes: number
  readonly requests: readonly RunningRequest[]
  /** Of those that say how they do. */
  readonly readings: readonly ProcessReading[]
}

const watchedMs = 10_000
const reportedMs = 3_000
/** A stop that no process took is of a request that ended. */
const stopMs = 10_000
const everybody = ''

export function runningTable(engine: Engine): RunningTable {
  const now = nowMs[engine.kind]
  return {
    async watch(account) {
      const name = account === null ? everybody : cleanText(account)
      const [kept] = await engine.query<{ readonly fresh: number }>(
        `SELECT CASE WHEN until > ${now} + ? THEN 1 ELSE 0 END AS fresh FROM running_watch
          WHERE account = ? AND until > ${now}`,
        [watchedMs / 2, name],
      )
      // A console asks every second: that is no reason to write as often.
      if (kept?.fresh === 1) return true
      await engine.run(
        `INSERT INTO running_watch (account, until) VALUES (?, ${now} + ?)
          ON CONFLICT (account) DO UPDATE SET until = excluded.until`,
        [name, watchedMs],
      )
      if (kept !== undefined) return true
      await engine.run(`DELETE FROM running_watch WHERE until <= ${now}`, [])
      return false
    },
    work: () => readWork(engine),
    async report(process, requests, reading) {
      await engine.run(
        `INSERT INTO running_report (process, at, requests, reading) VALUES (?, ${now}, ?, ?)
          ON CONFLICT (process) DO UPDATE SET at = excluded.at, requests = excluded.requests,
          reading = excluded.reading`,
        [process, JSON.stringify(requests), reading === undefined ? null : JSON.stringify(reading)],
      )
      await engine.run(`DELETE FROM running_report WHERE at <= ${now} - ?`, [watchedMs])
    },
    async reports() {
      const kept = await engine.query<{
        readonly requests: string
        readonly reading: string | null
      }>(`SELECT requests, reading FROM running_report WHERE at > ${now} - ?`, [reportedMs])
      const requests = kept.flatMap((each) => JSON.parse(each.requests) as RunningRequest[])
      const readings = kept.flatMap(({ reading }) =>
        reading === null ? [] : [JSON.parse(reading) as ProcessReading],
      )
      return { processes: kept.length, requests, readings }
    },
    async stop({ requestId, account }) {
      await engine.run(
        `INSERT INTO running_stop (request_id, account, until) VALUES (?, ?, ${now} + ?)
          ON CONFLICT (request_id) DO UPDATE SET account = excluded.account, until = excluded.until`,
        [cleanText(requestId), account === null ? null : cleanText(account), stopMs],
      )
    },
    async stopped(requestId) {
      const sql = 'DELETE FROM running_stop WHERE request_id = ?'
      return (await engine.run(sql, [cleanText(requestId)])) > 0
    },
    async isStopping(requestId) {
      const sql = 'SELECT 1 FROM running_stop WHERE request_id = ?'
      return (await engine.query(sql, [cleanText(requestId)])).length > 0
    },
  }
}

/** One statement: every process asks it twice a second while it has something to do. */
async function readWork(engine: Engine): Promise<RunningWork> {
  const now = nowMs[engine.kind]
  const rows = await engine.query<{ readonly id: string | null; readonly account: string | null }>(
    `SELECT CAST(NULL AS TEXT) AS id, account FROM running_watch WHERE until > ${now}
      UNION ALL SELECT request_id, account FROM running_stop WHERE until > ${now}`,
    [],
  )
  const watched = rows.flatMap(({ id, account }) =>
    id === null && account !== null ? [account] : [],
  )
  const stops = rows.flatMap(({ id, account }) => (id === null ? [] : [{ requestId: id, account }]))
  return { accounts: watched.includes(everybody) ? null : watched, stops }
}
