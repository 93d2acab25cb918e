// Running requests across processes: which accounts are watched, what each process last reported, and which requests to
// stop. Nothing is written while nobody watches. Times are the database's, because machines' clocks differ.

import type { Engine } from './engine.ts'
import { aheadMs, nowMs } from './leases.ts'
import { cleanText } from './text.ts'

/** A running request as its process last reported it. */
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
  /** The channel asked now; null if none is. */
  readonly channel: string | null
  readonly attempts: number
  readonly ageMs: number
  readonly ttftMs: number | null
  /** Usage and cost so far. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costNano: string
  readonly heldNano: string
}

/** The state of a process. Times in Unix milliseconds. */
export interface ProcessReading {
  readonly process: string
  readonly startedAt: number
  readonly running: number
  /** Number of finished requests that are not in the ledger yet, and the age of the oldest. */
  readonly unsettled: number
  readonly oldestUnsettledMs: number
  /** Why the ledger admits no requests; null if it does. */
  readonly closed: string | null
  /** By phase, the counts in the buckets of `tollgate_overhead_seconds`. */
  readonly overhead: Readonly<Record<OverheadPhase, readonly number[]>>
  readonly channels: readonly ChannelReading[]
  /** Problems for an operator to solve, although the process serves requests. */
  readonly warnings: readonly string[]
  /** Absent in reports of versions that do not send it. */
  readonly alike?: Alike
  /** Answered requests whose records did not reach the ledger; may also be absent. */
  readonly missing?: number
}

/** Values that must be equal on all nodes. */
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
  /** Why the channel is not fully healthy, and since when; null if it is. */
  readonly trouble: ChannelTrouble | null
}

/** Like `Trouble` in the router, with a wall-clock time that other machines understand. */
interface ChannelTrouble {
  readonly reason: string
  readonly fault: string
  readonly sinceAt: number
}

interface RunningStop {
  readonly requestId: string
  /** The account whose request it must be; null: an operator stops it, whichever account's it is. */
  readonly account: string | null
}

/** What a process has to do about its running requests. */
interface RunningWork {
  /** Watched accounts; null: all of them. */
  readonly accounts: readonly string[] | null
  readonly stops: readonly RunningStop[]
}

export interface RunningTable {
  /** Marks an account's requests as watched, or with null all requests. False if they were not watched before. */
  watch(account: string | null): Promise<boolean>
  work(): Promise<RunningWork>
  /** Replaces the process's previous report. `reading`: state of the process, for operators. */
  report(
    process: string,
    requests: readonly RunningRequest[],
    reading?: ProcessReading,
  ): Promise<void>
  /** What processes reported within the last seconds, and how many of them did. */
  reports(): Promise<RunningReports>
  stop(stop: RunningStop): Promise<void>
  /** `waiting`: no process has carried it out yet. `none`: it was given up, or was never asked for. */
  stopState(stop: RunningStop): Promise<'waiting' | 'done' | 'none'>
  /** Ends a stop that waits: it is done, or is given up. False if none waits. */
  endStop(stop: RunningStop, how: 'done' | 'given-up'): Promise<boolean>
}

interface RunningReports {
  readonly processes: number
  readonly requests: readonly RunningRequest[]
  /** From the processes that report their state. */
  readonly readings: readonly ProcessReading[]
}

const watchedMs = 10_000
const reportedMs = 3_000
/** A stop that no process carried out by then is for a request that has ended. */
const stopMs = 10_000
/** For so long a stop that was carried out is known, with the time of that as a negative number. */
const keptMs = 60_000
const everybody = ''

const isWatched = (now: string) => `until > ${now} AND until <= ${now} + ${watchedMs + aheadMs}`

export function runningTable(engine: Engine): RunningTable {
  const now = nowMs[engine.kind]
  return {
    async watch(account) {
      const name = account === null ? everybody : cleanText(account)
      const [kept] = await engine.query<{ readonly fresh: number }>(
        `SELECT CASE WHEN until > ${now} + ? THEN 1 ELSE 0 END AS fresh FROM running_watch
          WHERE account = ? AND ${isWatched(now)}`,
        [watchedMs / 2, name],
      )
      // A console asks every second, but writing less often is enough.
      if (kept?.fresh === 1) return true
      await engine.run(
        `INSERT INTO running_watch (account, until) VALUES (?, ${now} + ?)
          ON CONFLICT (account) DO UPDATE SET until = excluded.until`,
        [name, watchedMs],
      )
      if (kept !== undefined) return true
      await engine.run(`DELETE FROM running_watch WHERE NOT (${isWatched(now)})`, [])
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
      await engine.run(`DELETE FROM running_report WHERE at <= ${now} - ? OR at > ${now} + ?`, [
        watchedMs,
        aheadMs,
      ])
    },
    async reports() {
      const kept = await engine.query<{
        readonly requests: string
        readonly reading: string | null
      }>(
        `SELECT requests, reading FROM running_report WHERE at > ${now} - ? AND at <= ${now} + ?`,
        [reportedMs, aheadMs],
      )
      const requests = kept.flatMap((each) => JSON.parse(each.requests) as RunningRequest[])
      const readings = kept.flatMap(({ reading }) =>
        reading === null ? [] : [JSON.parse(reading) as ProcessReading],
      )
      return { processes: kept.length, requests, readings }
    },
    async stop(stop) {
      const { account } = stop
      await engine.run(
        `INSERT INTO running_stop (request_id, account, until) VALUES (?, ?, ${now} + ?)
          ON CONFLICT (request_id) DO UPDATE SET until = excluded.until WHERE running_stop.until > 0`,
        [nameOf(stop), account === null ? null : cleanText(account), stopMs],
      )
      await engine.run(`DELETE FROM running_stop WHERE abs(until) < ${now} - ?`, [keptMs])
    },
    async stopState(stop) {
      const sql = 'SELECT until FROM running_stop WHERE request_id = ?'
      const [kept] = await engine.query<{ readonly until: number }>(sql, [nameOf(stop)])
      if (kept === undefined) return 'none'
      return kept.until > 0 ? 'waiting' : 'done'
    },
    async endStop(stop, how) {
      const change =
        how === 'done' ? `UPDATE running_stop SET until = -${now}` : 'DELETE FROM running_stop'
      return (await engine.run(`${change} WHERE request_id = ? AND until > 0`, [nameOf(stop)])) > 0
    },
  }
}

/** Several may ask for the same request: its account, operators, and accounts that do not have it. */
function nameOf({ requestId, account }: RunningStop): string {
  return cleanText(`${requestId} ${account ?? ''}`)
}

/** One statement, because every process asks twice a second while it has something to do. */
async function readWork(engine: Engine): Promise<RunningWork> {
  const now = nowMs[engine.kind]
  const rows = await engine.query<{ readonly id: string | null; readonly account: string | null }>(
    `SELECT CAST(NULL AS TEXT) AS id, account FROM running_watch WHERE ${isWatched(now)}
      UNION ALL SELECT request_id, account FROM running_stop WHERE until > ${now}`,
    [],
  )
  const watched = rows.flatMap(({ id, account }) =>
    id === null && account !== null ? [account] : [],
  )
  const stops = rows.flatMap(({ id, account }) =>
    id === null ? [] : [{ requestId: id.split(' ', 1)[0] ?? '', account }],
  )
  return { accounts: watched.includes(everybody) ? null : watched, stops }
}
