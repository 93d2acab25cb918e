// What usage is made of: one row for each group, and a totals row that they add up to.

import type { TokenCounts } from '../config/prices.ts'
import { promptKinds, replyKinds } from '../config/prices.ts'
import type { RollupDimension, RollupSum } from '../store/rollup-table.ts'
import type { Input } from './schema.ts'
import { type Owned, rangeView } from './statistics.ts'
import { Fold, type Folded, type Group, groupOf, readRows } from './statistics-fold.ts'
import { metrics, type Sums } from './statistics-metrics.ts'
import { filterOf, rangeOf } from './statistics-range.ts'
import type { AdminContext } from './use-case.ts'

export interface BreakdownFigures {
  readonly requests: number
  readonly success: number
  readonly failed: number
  /** By kind, those of the prompt first; a kind counts no token of another. */
  readonly tokens: TokenCounts
  readonly spendNano: string
  /** Of the spend of all rows; null where nothing was spent. */
  readonly share: number | null
  readonly errorRate: number | null
  readonly cacheRate: number | null
  /** For operators: what was not paid, and what vendors asked. */
  readonly writeoffNano?: string
  readonly vendorCostNano?: string
}

interface BreakdownRow extends BreakdownFigures {
  readonly group: Group
  /** All groups that are not shown by themselves: so many. */
  readonly otherGroups?: number
}

export interface Breakdown {
  readonly currency: string
  readonly timeZone: string
  readonly by: readonly RollupDimension[]
  readonly since: string
  readonly until: string
  readonly rows: readonly BreakdownRow[]
  readonly totals: BreakdownFigures
}

const tokenKinds = [...promptKinds, ...replyKinds]

const names: readonly RollupSum[] = [
  'requests',
  'errors',
  'cacheHits',
  'chargeNano',
  'writeoffNano',
  'vendorCostNano',
  ...tokenKinds,
]

/** Throws AdminError naming the field. */
export async function readBreakdown(
  context: AdminContext,
  input: Input<'readBreakdown'> & Owned,
): Promise<Breakdown> {
  const { by = [], sort, order, limit, owner } = input
  const filter = filterOf(input)
  const range = rangeOf(input, context.nowMs)
  const rows = await readRows(context, { range, filter, by, cuts: [range.since], names })
  const found = new Fold(rows, names)
  const size = sizes[sort]
  const sign = order === 'asc' ? 1 : -1
  const groups = found.sorted((one, other) => sign * (size(one.whole) - size(other.whole)), limit)
  const figures = (folded: Folded) => figuresOf(folded.whole, found.total.whole, owner)
  return {
    currency: await context.currency(),
    timeZone: input.timeZone,
    by,
    ...rangeView(range),
    rows: by.length === 0 ? [] : groups.map((each) => ({ ...rowOf(each, by), ...figures(each) })),
    totals: figures(found.total),
  }
}

function rowOf(folded: Folded, by: readonly RollupDimension[]) {
  const { others } = folded
  return { group: groupOf(folded, by), ...(others !== undefined && { otherGroups: others }) }
}

type Sort = Input<'readBreakdown'>['sort']

const sum = (name: RollupSum) => (sums: Sums) => Number(sums.get(name))
const metric =
  (name: 'spend' | 'tokens' | 'errorRate' | 'cacheRate') =>
  (sums: Sums): number =>
    Number(metrics[name].of(sums) ?? 0)

const sizes: Readonly<Record<Sort, (sums: Sums) => number>> = {
  spend: metric('spend'),
  requests: sum('requests'),
  success: (sums) => Number(sums.get('requests') - sums.get('errors')),
  failed: sum('errors'),
  tokens: metric('tokens'),
  input: sum('input'),
  cachedInput: sum('cachedInput'),
  output: sum('output'),
  reasoning: sum('reasoning'),
  errorRate: metric('errorRate'),
  cacheRate: metric('cacheRate'),
}

function figuresOf(sums: Sums, whole: Sums, owner: string | undefined): BreakdownFigures {
  const count = (name: RollupSum) => Number(sums.get(name))
  const spent = whole.get('chargeNano')
  const tokens = Object.fromEntries(tokenKinds.map((kind) => [kind, count(kind)])) as TokenCounts
  return {
    requests: count('requests'),
    success: count('requests') - count('errors'),
    failed: count('errors'),
    tokens,
    spendNano: String(sums.get('chargeNano')),
    share: spent === 0n ? null : Number(sums.get('chargeNano')) / Number(spent),
    errorRate: metrics.errorRate.of(sums),
    cacheRate: metrics.cacheRate.of(sums),
    ...(owner === undefined && {
      writeoffNano: String(sums.get('writeoffNano')),
      vendorCostNano: String(sums.get('vendorCostNano')),
    }),
  }
}
