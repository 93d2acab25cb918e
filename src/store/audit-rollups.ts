// The audit of quarter-hourly totals: the rows of one quarter added up again, for every account, key, model and so on,
// for all accounts together, and for every tag.

import type { Session } from './engine.ts'
import type { Findings } from './findings.ts'
import { sums } from './rollup-columns.ts'
import { quarterOf } from './rollup-table.ts'
import {
  nameOf,
  type RollupTable,
  RollupTotals,
  rollupTables,
  subjectsOf,
  type Total,
} from './rollups.ts'
import type { UsageRow } from './usage-row.ts'

interface RollupCheck {
  /** Whether the row begins another quarter than the rows added since the last `close`. */
  isPast(row: UsageRow): boolean
  add(row: UsageRow): void
  /** Compares the added rows with the stored totals of that quarter. */
  close(): Promise<void>
  /** Closes the last quarter, and reports stored quarters from `since` on for which no row was added. */
  end(since: number): Promise<void>
}

/**
 * Rows must be added in the order of their time; the totals of one quarter are in memory at once. Rows of refused
 * requests from before `refusalsSince` may have been removed.
 */
export function createRollupCheck(
  session: Session,
  refusalsSince: number,
  findings: Findings,
): RollupCheck {
  const kept = { session, refusalsSince, findings }
  let quarter: number | null = null
  let totals = new RollupTotals()
  const seen = new Set<number>()

  async function close(): Promise<void> {
    if (quarter === null) return
    seen.add(quarter)
    for (const table of rollupTables) await compare(kept, quarter, table, totals)
    quarter = null
    totals = new RollupTotals()
  }

  return {
    isPast: (row) => quarter !== null && quarterOf(row.at) !== quarter,
    add(row) {
      quarter = quarterOf(row.at)
      totals.add({ row, chargeNano: row.chargeNano, writeoffNano: row.writeoffNano })
    },
    close,
    async end(since) {
      await close()
      for (const table of rollupTables) {
        const sql = `SELECT DISTINCT quarter FROM ${table} WHERE quarter >= ? ORDER BY quarter`
        for (const each of await session.query<{ readonly quarter: number }>(sql, [since])) {
          if (seen.has(each.quarter)) continue
          await compare(kept, each.quarter, table, new RollupTotals())
        }
      }
    },
  }
}

/** Sums as text, because amounts would lose digits as numbers, and a wrong count may be too large for one. */
type Kept = Readonly<Record<string, string | number>>

const selectQuarter = (table: RollupTable): string => `SELECT quarter,
    ${subjectsOf[table].names.join(', ')},
    ${sums.map(({ name }) => `CAST(coalesce(${name}, 0) AS TEXT) AS ${name}`).join(', ')}
  FROM ${table} JOIN ${subjectsOf[table].table} AS subject ON subject.id = series WHERE quarter = ?`

interface Comparing {
  readonly session: Session
  readonly refusalsSince: number
  readonly findings: Findings
}

async function compare(
  { session, refusalsSince, findings }: Comparing,
  quarter: number,
  table: RollupTable,
  totals: RollupTotals,
): Promise<void> {
  const made = totals.of(table)
  const missing = new Map(made)
  for (const kept of await session.query<Kept>(selectQuarter(table), [quarter])) {
    const at = { quarter, dimensions: subjectsOf[table].names.map((name) => String(kept[name])) }
    const mayMiss = quarter < refusalsSince && isOfRefusals(kept)
    const total = made.get(nameOf(at)) ?? (mayMiss ? { sums: [] } : undefined)
    missing.delete(nameOf(at))
    if (total === undefined) {
      const message = `has a total of ${kept['requests']} requests, and no row`
      findings.add('quarter', subjectOf(at), message)
      continue
    }
    const wrong = differences(kept, total, mayMiss)
    if (wrong.length > 0) findings.add('quarter', subjectOf(at), wrong.join('; '))
  }
  for (const total of missing.values()) {
    findings.add('quarter', subjectOf(total), `has ${total.sums[0]} rows, and no total`)
  }
}

/** True for totals of requests for which no vendor was asked; their rows may be removed sooner if they cost nothing. */
function isOfRefusals({ channel, status_class: status }: Kept): boolean {
  return channel === '' && (status === '4xx' || status === '5xx')
}

const money: readonly string[] = ['charge_nano', 'writeoff_nano']

function isOfSuccesses({ status_class: status }: Kept): boolean {
  return status === '2xx'
}

/** Differences between a stored total and its rows, in words: `requests 3, rows make 2`. */
function differences(kept: Kept, total: Pick<Total, 'sums'>, mayMiss: boolean): readonly string[] {
  return sums.flatMap(({ name, field }, place) => {
    const made = total.sums[place] ?? 0n
    const said = BigInt(kept[name] ?? 0)
    const isRight = said === made || (mayMiss && said > made && !money.includes(name))
    // Earlier versions did not count replies that broke off after a status of success.
    const isEarlier = field === 'errors' && said < made && isOfSuccesses(kept)
    return isRight || isEarlier ? [] : [`${field} ${said}, rows make ${made}`]
  })
}

/** JSON, so that different totals never get the same name. */
function subjectOf({ quarter, dimensions }: Omit<Total, 'sums'>): string {
  return `${new Date(quarter).toISOString()} ${JSON.stringify(dimensions)}`
}
