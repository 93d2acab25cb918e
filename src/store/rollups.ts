// Quarter-hourly totals of usage, as settling adds to them: those of each account, and those of all accounts together,
// which have neither account nor key, so that a reading over everybody need not add up everybody's.

import type { Divided } from './divide.ts'
import type { Bulk, Session, Value } from './engine.ts'
import { addTo, dimensions, sums } from './rollup-columns.ts'
import { quarterOf } from './rollup-table.ts'
import type { UsageRow } from './usage-row.ts'

/** The totals of accounts, and of all of them together; both with the columns of `sums`. */
export type RollupTable = 'usage_quarter' | 'usage_quarter_all'

const names = dimensions.map(({ name }) => name)
const sumNames = sums.map(({ name }) => name)

const addSeries: Bulk = {
  sqlite: `INSERT INTO usage_series (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
    ON CONFLICT DO NOTHING`,
  postgres: `INSERT INTO usage_series (${names.join(', ')})
    SELECT * FROM unnest(${names.map((_, at) => `$${at + 1}::text[]`).join(', ')})
    ORDER BY ${names.map((_, at) => at + 1).join(', ')} ON CONFLICT DO NOTHING`,
}

/** Adds to the totals that are there; each at most once in a call. A sum that is nothing is null, which takes no room. */
function addTotals(table: RollupTable): Bulk {
  const columns = ['quarter', ...sumNames]
  const insert = `INSERT INTO ${table} (series, ${columns.join(', ')})`
  const addUp = `ON CONFLICT (series, quarter) DO UPDATE SET ${sumNames
    .map(
      (name) =>
        `${name} = coalesce(${table}.${name} + excluded.${name}, ${table}.${name}, excluded.${name})`,
    )
    .join(', ')}`
  const types = [...columns.map(() => 'bigint'), ...names.map(() => 'text')]
  return {
    sqlite: `${insert} SELECT id, ${columns.map(() => '?').join(', ')} FROM usage_series
      WHERE ${names.map((name) => `${name} = ?`).join(' AND ')} ${addUp}`,
    postgres: `${insert} SELECT series.id, ${columns.map((name) => `given.${name}`).join(', ')}
      FROM unnest(${types.map((type, at) => `$${at + 1}::${type}[]`).join(', ')})
        AS given (${[...columns, ...names].join(', ')})
      JOIN usage_series AS series ON ${names.map((name) => `series.${name} = given.${name}`).join(' AND ')}
      ORDER BY 1, 2 ${addUp}`,
  }
}

const tables: readonly RollupTable[] = ['usage_quarter', 'usage_quarter_all']
const addInto = {
  usage_quarter: addTotals('usage_quarter'),
  usage_quarter_all: addTotals('usage_quarter_all'),
}

export interface Total {
  readonly quarter: number
  /** In the order of the columns. */
  readonly dimensions: readonly string[]
  /** In the order of the columns; null for 0. */
  readonly sums: (bigint | null)[]
}

/** In `Totals`; no cleaned text has a NUL in it. */
export function nameOf({ quarter, dimensions }: Omit<Total, 'sums'>): string {
  return `${quarter}\0${dimensions.join('\0')}`
}

/** Adds up rows, so that each total is touched once. */
export class RollupTotals {
  readonly #own = new Map<string, Total>()

  add(divided: Divided): void {
    const at = { quarter: quarterOf(divided.row.at), dimensions: valuesOf(divided.row) }
    addTo(totalIn(this.#own, at).sums, divided)
  }

  /** By name. */
  of(table: RollupTable): ReadonlyMap<string, Total> {
    return table === 'usage_quarter' ? this.#own : this.#all()
  }

  #all(): Map<string, Total> {
    const all = new Map<string, Total>()
    for (const { quarter, dimensions, sums: own } of this.#own.values()) {
      const [, , ...others] = dimensions
      const total = totalIn(all, { quarter, dimensions: ['', '', ...others] })
      own.forEach((sum, place) => {
        if (sum !== null) total.sums[place] = (total.sums[place] ?? 0n) + sum
      })
    }
    return all
  }
}

function valuesOf(row: UsageRow): string[] {
  return dimensions.map(({ of }) => of(row))
}

function totalIn(totals: Map<string, Total>, at: Omit<Total, 'sums'>): Total {
  const name = nameOf(at)
  let total = totals.get(name)
  if (total === undefined) {
    total = { ...at, sums: sums.map(() => null) }
    totals.set(name, total)
  }
  return total
}

/** Adds to both tables, in the caller's transaction. */
export async function addRollups(session: Session, totals: RollupTotals): Promise<void> {
  for (const table of tables) {
    const each = [...totals.of(table).values()]
    await session.bulk(
      addSeries,
      each.map(({ dimensions }) => [...dimensions]),
    )
    const values = each.map((total): Value[] => [total.quarter, ...total.sums, ...total.dimensions])
    await session.bulk(addInto[table], values)
  }
}
