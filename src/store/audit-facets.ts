// The audit of totals by hour and by day: recomputed from those by quarter-hour, one day at a time.

import type { Session } from './engine.ts'
import type { Findings } from './findings.ts'
import { sums as columns } from './rollup-columns.ts'
import {
  FacetSums,
  type FacetTotal,
  facetName,
  facetPages,
  facetTables,
  foldedOf,
  quarterPages,
  seriesPages,
} from './rollup-facets.ts'

const dayMs = 86_400_000

const daysWithAny = `SELECT quarter / ${dayMs} AS number FROM usage_quarter WHERE quarter < ?
  ${facetTables.map(({ table, at }) => `UNION SELECT ${at} / ${dayMs} FROM ${table}`).join(' ')}
  ORDER BY 1`

export async function auditFacets(session: Session, findings: Findings): Promise<void> {
  const { until, series } = await foldedOf(session)
  const days = await session.query<{ readonly number: number }>(daysWithAny, [until])
  for (const { number } of days) {
    const day = { since: number * dayMs, until: (number + 1) * dayMs }
    const sums = new FacetSums()
    const quarters = { ...day, until: Math.min(day.until, until) }
    for await (const totals of quarterPages(session, quarters)) sums.add(totals)
    if (series > 0 && day.since <= until && until < day.until) {
      const part = { quarter: until, after: 0, through: series }
      for await (const totals of seriesPages(session, part)) sums.add(totals)
    }
    const made = sums.tables()
    for (const table of facetTables) {
      const missing = new Map(made[table.table])
      for await (const kept of facetPages(session, table, day)) {
        for (const each of kept) {
          compare(each, missing.get(facetName(each)), { kind: table.at, findings })
          missing.delete(facetName(each))
        }
      }
      for (const total of missing.values()) {
        const message = `quarters make ${total.sums[0]} requests, and it has no total`
        findings.add(table.at, subjectOf(total), message)
      }
    }
  }
}

function compare(
  kept: FacetTotal,
  made: FacetTotal | undefined,
  { kind, findings }: { readonly kind: string; readonly findings: Findings },
): void {
  const wrong = columns.flatMap(({ field }, place) => {
    const [is, should] = [kept.sums[place] ?? 0n, made?.sums[place] ?? 0n]
    return is === should ? [] : [`${field} ${is}, quarters make ${should}`]
  })
  if (wrong.length > 0) findings.add(kind, subjectOf(kept), wrong.join('; '))
}

/** JSON, so that different facets never get the same name. */
function subjectOf({ at, facet }: FacetTotal): string {
  return `${new Date(at).toISOString()} ${JSON.stringify(facet)}`
}
