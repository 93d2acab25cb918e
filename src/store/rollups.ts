// Quarter-hourly totals of usage, to which settling adds: those of each account, and those over all accounts, which
// have neither account nor key, so that deployment-wide queries need not sum all accounts.

import type { Divided } from './divide.ts'
import type { Bulk, Session, Value } from './engine.ts'
import { addTo, dimensions, type RunningSums, sums } from './rollup-columns.ts'
import { quarterOf } from './rollup-table.ts'
import type { UsageRow } from './usage-row.ts'

/** Totals of each account, and over all accounts; both with the columns of `sums`. */
export type RollupTable = 'usage_quarter' | 'usage_quarter_all'

const sumNames = sums.map(({ name }) => name)

/** The table of what totals are about; these columns identify its rows. */
export interface Subjects {
  readonly table: 'usage_series' | 'usage_facet'
  readonly names: readonly string[]
}

export function addSubjects({ table, names }: Subjects): Bulk {
  const columns = names.join(', ')
  return {
    sqlite: `INSERT INTO ${table} (${columns}) VALUES (${names.map(() => '?').join(', ')})
      ON CONFLICT DO NOTHING`,
    postgres: `INSERT INTO ${table} (${columns})
      SELECT * FROM unnest(${names.map((_, at) => `$${at + 1}::text[]`).join(', ')})
      ORDER BY ${names.map((_, at) => at + 1).join(', ')} ON CONFLICT DO NOTHING`,
  }
}

/** `of`: the column that references the subject; `at`: the column of the time. */
interface TotalTable {
  readonly table: string
  readonly of: string
  readonly at: string
  readonly subjects: Subjects
}

/**
 * Adds to the existing totals; each at most once per call, with values in the order: time, sums, subject. A sum of 0 is
 * null, which takes no space.
 */
export function addTotals({ table, of, at, subjects }: TotalTable): Bulk {
  const { table: subject, names } = subjects
  const columns = [at, ...sumNames]
  const insert = `INSERT INTO ${table} (${of}, ${columns.join(', ')})`
  const addUp = `ON CONFLICT (${of}, ${at}) DO UPDATE SET ${sumNames
    .map(
      (name) =>
        `${name} = coalesce(${table}.${name} + excluded.${name}, ${table}.${name}, excluded.${name})`,
    )
    .join(', ')}`
  const types = [...columns.map(() => 'bigint'), ...names.map(() => 'text')]
  return {
    sqlite: `${insert} SELECT id, ${columns.map(() => '?').join(', ')} FROM ${subject}
      WHERE ${names.map((name) => `${name} = ?`).join(' AND ')} ${addUp}`,
    postgres: `${insert} SELECT subject.id, ${columns.map((name) => `given.${name}`).join(', ')}
      FROM unnest(${types.map((type, place) => `$${place + 1}::${type}[]`).join(', ')})
        AS given (${[...columns, ...names].join(', ')})
      JOIN ${subject} AS subject ON ${names.map((name) => `subject.${name} = given.${name}`).join(' AND ')}
      ORDER BY 1, 2 ${addUp}`,
  }
}

const subjects: Subjects = { table: 'usage_series', names: dimensions.map(({ name }) => name) }
const addSeries = addSubjects(subjects)

const tables: readonly RollupTable[] = ['usage_quarter', 'usage_quarter_all']
const addInto = {
  usage_quarter: addTotals({ table: 'usage_quarter', of: 'series', at: 'quarter', subjects }),
  usage_quarter_all: addTotals({
    table: 'usage_quarter_all',
    of: 'series',
    at: 'quarter',
    subjects,
  }),
}

export interface Total {
  readonly quarter: number
  /** In the order of the columns. */
  readonly dimensions: readonly string[]
  /** In the order of the columns; null for 0. */
  readonly sums: (bigint | null)[]
}

/** Key of a total in `RollupTotals`; unique, because cleaned text never contains a NUL. */
export function nameOf({ quarter, dimensions }: Omit<Total, 'sums'>): string {
  return `${quarter}\0${dimensions.join('\0')}`
}

/** Sums rows in memory, so that each total is written once. */
export class RollupTotals {
  readonly #own = new Map<string, Running>()
  /** What the last row was added to: the next row often belongs to the same total. */
  #last: Running | null = null

  add(divided: Divided): void {
    const { row } = divided
    const quarter = quarterOf(row.at)
    if (this.#last?.quarter !== quarter || !isAlike(this.#last.of, row)) {
      this.#last = this.#runningOf(row, quarter)
    }
    addTo(this.#last.sums, divided)
  }

  /** By `nameOf`. */
  of(table: RollupTable): ReadonlyMap<string, Total> {
    const totals = new Map<string, Total>()
    for (const { quarter, dimensions, sums: own } of this.#own.values()) {
      const [, , ...others] = dimensions
      const named = table === 'usage_quarter' ? dimensions : ['', '', ...others]
      const total = totalIn(totals, { quarter, dimensions: named })
      own.forEach((sum, place) => {
        if (sum !== null) total.sums[place] = (total.sums[place] ?? 0n) + BigInt(sum)
      })
    }
    return totals
  }

  #runningOf(row: UsageRow, quarter: number): Running {
    const at = { quarter, dimensions: dimensions.map(({ of }) => of(row)) }
    const name = nameOf(at)
    const running = this.#own.get(name) ?? { ...at, of: row, sums: sums.map(() => null) }
    this.#own.set(name, running)
    return running
  }
}

interface Running extends Omit<Total, 'sums'> {
  /** One of its rows. */
  readonly of: UsageRow
  readonly sums: RunningSums
}

/** Whether both rows belong to the same total; false is possible even if they do. */
function isAlike(one: UsageRow, other: UsageRow): boolean {
  return (
    one.key === other.key &&
    one.modelAsked === other.modelAsked &&
    one.channel === other.channel &&
    one.account === other.account &&
    one.group === other.group &&
    one.operation === other.operation &&
    one.status === other.status &&
    one.priceVersion === other.priceVersion
  )
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

/** Adds to both tables of totals, in the caller's transaction. */
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
