// Quarter-hourly totals of usage, to which settling adds: those of each account, those over all accounts, which have
// neither account nor key, so that deployment-wide queries need not sum all accounts, and those of tagged requests.

import type { Divided } from './divide.ts'
import type { Bulk, Session, Value } from './engine.ts'
import { addTo, dimensions, type RunningSums, sums, tagDimension } from './rollup-columns.ts'
import { quarterOf } from './rollup-table.ts'
import type { UsageRow } from './usage-row.ts'

/** Totals of each account, over all accounts, and of each account's tagged requests; all with the columns of `sums`. */
export const rollupTables = ['usage_quarter', 'usage_quarter_all', 'usage_tagged_quarter'] as const
export type RollupTable = (typeof rollupTables)[number]

const sumNames = sums.map(({ name }) => name)

/** The table of what totals are about; these columns identify its rows. */
export interface Subjects {
  readonly table: 'usage_series' | 'usage_tagged_series' | 'usage_facet'
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

const names = dimensions.map(({ name }) => name)
const plain: Subjects = { table: 'usage_series', names }
const tagged: Subjects = { table: 'usage_tagged_series', names: [...names, tagDimension.name] }

/** The subjects of each table's totals: their columns are in the order of `Total.dimensions`. */
export const subjectsOf: Readonly<Record<RollupTable, Subjects>> = {
  usage_quarter: plain,
  usage_quarter_all: plain,
  usage_tagged_quarter: tagged,
}

const statements = rollupTables.map((table) => {
  const subjects = subjectsOf[table]
  return {
    table,
    addSeries: addSubjects(subjects),
    addInto: addTotals({ table, of: 'series', at: 'quarter', subjects }),
  }
})

export interface Total {
  readonly quarter: number
  /** In the order of the columns of `subjectsOf`. */
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
      const named = namedIn(table, dimensions)
      if (named === null) continue
      const total = totalIn(totals, { quarter, dimensions: named })
      own.forEach((sum, place) => {
        if (sum !== null) total.sums[place] = (total.sums[place] ?? 0n) + BigInt(sum)
      })
    }
    return totals
  }

  #runningOf(row: UsageRow, quarter: number): Running {
    const at = { quarter, dimensions: [...dimensions, tagDimension].map(({ of }) => of(row)) }
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

/** The dimensions by which a table distinguishes totals, of all dimensions; null where it has no such total. */
function namedIn(table: RollupTable, all: readonly string[]): readonly string[] | null {
  const own = all.slice(0, dimensions.length)
  if (table === 'usage_quarter') return own
  if (table === 'usage_quarter_all') return ['', '', ...own.slice(2)]
  return all.at(-1) === '' ? null : all
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
    one.tag === other.tag &&
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

/** Adds to all tables of totals, in the caller's transaction. */
export async function addRollups(session: Session, totals: RollupTotals): Promise<void> {
  for (const { table, addSeries, addInto } of statements) {
    const each = [...totals.of(table).values()]
    if (each.length === 0) continue
    await session.bulk(
      addSeries,
      each.map(({ dimensions }) => [...dimensions]),
    )
    const values = each.map((total): Value[] => [total.quarter, ...total.sums, ...total.dimensions])
    await session.bulk(addInto, values)
  }
}
