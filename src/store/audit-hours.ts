// The audit of hourly totals: the rows of one hour added up again, for every account, key, model, channel, group and status.

import type { Session } from './engine.ts'
import type { Findings } from './findings.ts'
import {
  differences,
  dimensionsOf,
  type HourTotal,
  HourTotals,
  hourOf,
  type KeptHour,
  nameOf,
  selectHours,
} from './hours.ts'
import type { UsageRow } from './usage-row.ts'

interface HourCheck {
  /** Whether the row begins another hour than the rows added since the last `close`. */
  isPast(row: UsageRow): boolean
  add(row: UsageRow): void
  /** Holds what was added against what is kept for that hour. */
  close(): Promise<void>
  /** Closes the last hour, and names kept hours that no row was in. */
  end(): Promise<void>
}

/** Rows are added in the order of their time; one hour's groups are in memory at once. */
export function createHourCheck(session: Session, findings: Findings): HourCheck {
  let hour: number | null = null
  let totals = new HourTotals()
  const seen = new Set<number>()

  async function close(): Promise<void> {
    if (hour === null) return
    seen.add(hour)
    await compare(session, hour, totals, findings)
    hour = null
    totals = new HourTotals()
  }

  return {
    isPast: (row) => hour !== null && hourOf(row.at) !== hour,
    add(row) {
      hour = hourOf(row.at)
      totals.add({ row, chargeNano: row.chargeNano, writeoffNano: row.writeoffNano })
    },
    close,
    async end() {
      await close()
      const sql = 'SELECT DISTINCT hour FROM usage_hour ORDER BY hour'
      for (const kept of await session.query<{ readonly hour: number }>(sql, [])) {
        if (!seen.has(kept.hour)) await compare(session, kept.hour, new HourTotals(), findings)
      }
    },
  }
}

async function compare(
  session: Session,
  hour: number,
  { byName }: HourTotals,
  findings: Findings,
): Promise<void> {
  const missing = new Map(byName)
  for (const kept of await session.query<KeptHour>(`${selectHours} WHERE hour = ?`, [hour])) {
    const values = dimensionsOf(kept)
    const total = byName.get(nameOf(values))
    missing.delete(nameOf(values))
    if (total === undefined) {
      const message = `has a total of ${kept.requests} requests, and no row`
      findings.add('hour', subjectOf(values), message)
      continue
    }
    const wrong = differences(kept, total)
    if (wrong.length > 0) findings.add('hour', subjectOf(values), wrong.join('; '))
  }
  for (const { dimensions, sums } of missing.values()) {
    const [requests] = sums
    findings.add('hour', subjectOf(dimensions), `has ${requests} rows, and no total`)
  }
}

/** JSON, so that no name can be taken for two. */
function subjectOf([account, hour, ...others]: HourTotal['dimensions']): string {
  return `${new Date(Number(hour)).toISOString()} ${JSON.stringify([account, ...others])}`
}
