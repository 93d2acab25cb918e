// Breaks usage down: a row for each group, and a totals row that is their sum.

import type { TokenCounts } from '../config/prices.ts'
import { promptKinds, replyKinds } from '../config/prices.ts'
import type { RollupDimension, RollupOrder, RollupSum } from '../store/rollup-table.ts'
import type { Input } from './schema.ts'
import { type Owned, rangeView } from './statistics.ts'
import { Added, type Group, groupOf } from './statistics-fold.ts'
import { metrics, type Sums } from './statistics-metrics.ts'
import { filterOf, rangeOf } from './statistics-range.ts'
import type { AdminContext } from './use-case.ts'

export interface BreakdownFigures {
  readonly requests: number
  readonly success: number
  readonly failed: number
  /** Tokens of each kind, those of the prompt first; each token counts in one kind only. */
  readonly tokens: TokenCounts
  readonly spendNano: string
  /** The row's part of the whole spend; null where nothing was spent. */
  readonly share: number | null
  readonly errorRate: number | null
  readonly cacheRate: number | null
  /** For operators: the write-offs, and the vendors' cost. */
  readonly writeoffNano?: string
  readonly vendorCostNano?: string
}

interface BreakdownRow extends BreakdownFigures {
  readonly group: Group
  /** In the row of all groups not listed: their number. */
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
  const { since, until } = range
  const descending = order === 'desc'
  const asked = { since, until, filter, by, sums: names, order: { ...sizes[sort], descending } }
  const { rows, groups, total } = await context.store.rollups.top({ ...asked, limit })
  const totals = addedOf(total)
  const figures = (sums: Sums) => figuresOf(sums, totals, owner)
  const shown = rows.map(({ by: values, sums }) => {
    return { group: groupOf({ by: values }, by), ...figures(addedOf(sums)) }
  })
  // Computed as a difference from the totals: the other groups, however many, are not read.
  const left = total.map((sum, place) =>
    rows.reduce((rest, { sums }) => rest - (sums[place] ?? 0n), sum),
  )
  const others = { group: {}, otherGroups: groups - rows.length, ...figures(addedOf(left)) }
  return {
    currency: await context.currency(),
    timeZone: input.timeZone,
    by,
    ...rangeView(range),
    rows: by.length === 0 ? [] : groups > rows.length ? [...shown, others] : shown,
    totals: figures(totals),
  }
}

function addedOf(sums: readonly bigint[]): Sums {
  const added = new Added(names)
  added.add(sums)
  return added
}

type Sort = Input<'readBreakdown'>['sort']

const sizes: Readonly<Record<Sort, Omit<RollupOrder, 'descending'>>> = {
  spend: { plus: ['chargeNano'] },
  requests: { plus: ['requests'] },
  success: { plus: ['requests'], minus: 'errors' },
  failed: { plus: ['errors'] },
  tokens: { plus: tokenKinds },
  input: { plus: ['input'] },
  cachedInput: { plus: ['cachedInput'] },
  output: { plus: ['output'] },
  reasoning: { plus: ['reasoning'] },
  errorRate: { plus: ['errors'], over: 'requests' },
  cacheRate: { plus: ['cacheHits'], over: 'requests' },
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
