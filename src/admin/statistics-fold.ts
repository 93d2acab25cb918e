// Sums rows of the totals by group and interval; parts and whole come from one read, so that they agree.

import type { RollupDimension, RollupFilter, RollupRow, RollupSum } from '../store/rollup-table.ts'
import type { Sums } from './statistics-metrics.ts'
import type { Range } from './statistics-range.ts'
import { type AdminContext, AdminError } from './use-case.ts'

/** The group's values by dimension; `{}` for everything. */
export type Group = { readonly [Dimension in RollupDimension]?: string }

interface Reading {
  readonly range: Range
  readonly filter: RollupFilter
  readonly by: readonly RollupDimension[]
  /** The beginnings of the intervals; the first is that of the range. */
  readonly cuts: readonly number[]
  readonly names: readonly RollupSum[]
}

/** Most rows of one answer: they fit into memory without trouble. */
const mostParts = 100_000

/** Throws AdminError where the answer would need too many rows. */
export async function readRows(
  { store }: Pick<AdminContext, 'store'>,
  { range, filter, by, cuts, names }: Reading,
): Promise<readonly RollupRow[]> {
  const { until } = range
  const limit = mostParts + 1
  const rows = await store.rollups.read({ cuts, until, filter, by, sums: names, limit })
  if (rows.length < limit) return rows
  const message = 'makes too many groups for this range: ask for fewer, or narrow them down'
  throw new AdminError('invalid', 'by', message)
}

/** Sums of one interval, or of all. */
export class Added implements Sums {
  readonly #names: readonly RollupSum[]
  readonly #sums: bigint[]

  constructor(names: readonly RollupSum[]) {
    this.#names = names
    this.#sums = names.map(() => 0n)
  }

  get(name: RollupSum): bigint {
    return this.#sums[this.#names.indexOf(name)] ?? 0n
  }

  add(sums: readonly bigint[]): void {
    sums.forEach((sum, place) => {
      this.#sums[place] = (this.#sums[place] ?? 0n) + sum
    })
  }

  addAll(other: Added): void {
    this.add(other.#sums)
  }
}

/** The sums of one group, or of several together. */
export interface Folded {
  readonly by: readonly string[]
  /** The number of groups, where several are summed as one. */
  readonly others?: number
  readonly whole: Added
  /** Sums for each interval's place; intervals without requests are left out. */
  readonly intervals: Map<number, Added>
}

export class Fold {
  readonly #names: readonly RollupSum[]
  readonly #groups = new Map<string, Folded>()
  readonly total: Folded

  constructor(rows: readonly RollupRow[], names: readonly RollupSum[]) {
    this.#names = names
    this.total = this.#empty([])
    for (const { span, by, sums } of rows) {
      for (const folded of [this.#group(by), this.total]) {
        folded.whole.add(sums)
        this.#interval(folded, span).add(sums)
      }
    }
  }

  /** The first `limit` groups in this order, then all others summed as one. */
  sorted(compare: (one: Folded, other: Folded) => number, limit: number): readonly Folded[] {
    const sorted = [...this.#groups.values()].sort(
      (one, other) => compare(one, other) || (nameOf(one.by) < nameOf(other.by) ? -1 : 1),
    )
    const left = sorted.slice(limit)
    if (left.length === 0) return sorted
    const others = this.#empty([])
    for (const { whole, intervals } of left) {
      others.whole.addAll(whole)
      for (const [place, each] of intervals) this.#interval(others, place).addAll(each)
    }
    return [...sorted.slice(0, limit), { ...others, others: left.length }]
  }

  #group(by: readonly string[]): Folded {
    const name = nameOf(by)
    const group = this.#groups.get(name) ?? this.#empty(by)
    this.#groups.set(name, group)
    return group
  }

  #interval({ intervals }: Folded, place: number): Added {
    const found = intervals.get(place) ?? new Added(this.#names)
    intervals.set(place, found)
    return found
  }

  #empty(by: readonly string[]): Folded {
    return { by, whole: new Added(this.#names), intervals: new Map() }
  }
}

function nameOf(by: readonly string[]): string {
  return by.join('\0')
}

/** `{}` for the sum of the other groups. */
export function groupOf({ by: values }: Pick<Folded, 'by'>, by: readonly RollupDimension[]): Group {
  return Object.fromEntries(values.map((value, place) => [by[place] ?? '', value]))
}
