// `tollgate price list`: the cards of prices, those in force or all there are.

import type { PriceRow } from '../store/ledger.ts'
import type { Command, Context } from './command.ts'
import { print, printJson, table, timeText } from './output.ts'
import { cardsInForce, cardView, pricesText } from './price-card.ts'
import { withStore } from './settings.ts'

export const priceList: Command = {
  name: 'price list',
  words: ['[MODEL]'],
  summary: 'list the prices in force',
  options: {
    all: { type: 'boolean', help: 'every version, also what is past and what is scheduled' },
  },
  async run(context) {
    const rows = await withStore(context, (store) => store.prices.all())
    const shown = shownRows(context, rows)
    if (context.json) await printJson(shown.map(({ row, state }) => ({ ...cardView(row), state })))
    else await print(table(headings, shown.map(cells)))
    return undefined
  },
}

/** `in force` now, `scheduled` for later, or `replaced`: by a later card, or by one that stands above it. */
interface Shown {
  readonly row: PriceRow
  readonly state: 'in force' | 'scheduled' | 'replaced'
}

function shownRows({ words, flags, nowMs }: Context, rows: readonly PriceRow[]): Shown[] {
  const [model] = words
  const inForce = cardsInForce(rows, nowMs)
  const stateOf = (row: PriceRow): Shown['state'] => {
    if (row.effectiveFrom > nowMs) return 'scheduled'
    return inForce(row.model)?.version === row.version ? 'in force' : 'replaced'
  }
  const known = rows.filter((row) => model === undefined || row.model === model)
  const all = known
    .map((row) => ({ row, state: stateOf(row) }))
    .sort((a, b) => compareText(a.row.model, b.row.model) || a.row.version - b.row.version)
  const shown = flags.has('all') ? all : all.filter(({ state }) => state === 'in force')
  if (model === undefined || shown.length > 0) return shown
  const pattern = inForce(model)
  if (pattern !== null) return [{ row: pattern, state: 'in force' }]
  throw new Error(`there is no price for ${JSON.stringify(model)}; \`tollgate price set\` sets one`)
}

function compareText(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1
}

const headings = ['MODEL', 'VERSION', 'FROM', 'ORIGIN', 'STATE', 'PRICES', 'SOURCE', 'DATE']

function cells({ row, state }: Shown) {
  return [
    row.model,
    row.version,
    // A model's first card holds from the beginning.
    row.effectiveFrom === 0 ? null : timeText(row.effectiveFrom),
    row.origin,
    state,
    pricesText(row.prices),
    row.source,
    row.sourceDate,
  ]
}
