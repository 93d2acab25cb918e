// `tollgate price set`, `schedule`, `withdraw` and `rollback`: each appends one version of a model's card.

import { createCatalog } from '../catalog/catalog.ts'
import { readCard } from '../meter/card.ts'
import { missingPrice } from '../meter/required.ts'
import type { PriceRow } from '../store/ledger.ts'
import type { Store } from '../store/store.ts'
import { type Command, type Context, type Option, UsageError } from './command.ts'
import { printJson, say } from './output.ts'
import {
  cardsInForce,
  cardView,
  compareCards,
  differenceText,
  type Prices,
  plainPrices,
  priceProblem,
  pricesText,
} from './price-card.ts'
import { withStore } from './settings.ts'
import { readTime } from './time.ts'

const source: Option = { type: 'string', value: 'TEXT', help: 'where the prices are from' }
export const actor: Option = {
  type: 'string',
  value: 'NAME',
  help: 'who does it; the user running this unless said',
}

export const allowLarge: Option = {
  type: 'boolean',
  help: 'also where a price grows or shrinks more than tenfold, or becomes 0',
}

export const priceSet: Command = {
  name: 'price set',
  words: ['MODEL', 'NAME=PRICE...'],
  summary: "set a model's prices, for a million units each, from now on",
  options: { source, actor, 'allow-large': allowLarge },
  run: (context) => setPrices(context, context.nowMs),
}

export const priceSchedule: Command = {
  name: 'price schedule',
  words: ['MODEL', 'NAME=PRICE...'],
  summary: "set a model's prices from a moment ahead",
  options: {
    from: { type: 'string', value: 'TIME', help: 'from when: 2027-01-31T00:00:00Z' },
    source,
    actor,
    'allow-large': allowLarge,
  },
  run(context) {
    const from = context.flags.required('from')
    const fromMs = readTime('from', from)
    if (fromMs < context.nowMs) throw new UsageError(`--from ${from}: is in the past`)
    return setPrices(context, fromMs)
  },
}

export const priceWithdraw: Command = {
  name: 'price withdraw',
  words: ['MODEL'],
  summary: 'take back what was set or imported: the shipped prices hold again',
  options: { actor },
  async run(context) {
    const [model = ''] = context.words
    const row = await withStore(context, async (store) => {
      const rows = await store.prices.all()
      const inForce = cardsInForce(ofCommands(rows), context.nowMs)(model)
      if (inForce === null || inForce.origin === 'shipped') {
        throw new Error(`nothing was set for ${JSON.stringify(model)} that could be withdrawn`)
      }
      return append(store, context, { model, prices: {}, source: 'withdrawn' })
    })
    await told(context, row)
    return undefined
  },
}

export const priceRollback: Command = {
  name: 'price rollback',
  words: ['MODEL'],
  summary: 'bring back an earlier card of a model, as a new version',
  options: {
    to: { type: 'string', value: 'VERSION', help: 'which; the one before the newest unless said' },
    actor,
  },
  async run(context) {
    const [model = ''] = context.words
    const version = context.flags.count('to', Number.MAX_SAFE_INTEGER)
    const row = await withStore(context, async (store) => {
      const rows = await store.prices.all()
      noteFile(rows, model, context.nowMs)
      const earlier = earlierCard(rows, model, version, context.nowMs)
      const { prices, sourceDate } = earlier
      const from = `version ${earlier.version}: ${earlier.source}`
      return append(store, context, { model, prices, source: from, sourceDate })
    })
    await told(context, row)
    return undefined
  },
}

/** Without a version: the card before the one that holds, or, where it was withdrawn, before that. */
function earlierCard(
  rows: readonly PriceRow[],
  model: string,
  version: number | undefined,
  nowMs: number,
): PriceRow {
  const own = rows.filter((row) => row.model === model)
  const begun = ofCommands(own).filter((row) => row.effectiveFrom <= nowMs)
  const latest = latestOf(begun.filter(({ origin }) => origin !== 'shipped')) ?? latestOf(begun)
  const cards = version === undefined ? begun : own
  const found = cards.findLast(
    (row) =>
      Object.keys(row.prices).length > 0 &&
      (version === undefined ? row.version < (latest?.version ?? 0) : row.version === version),
  )
  if (found !== undefined) return found
  const which = version === undefined ? 'earlier card' : `card of version ${version}`
  throw new Error(
    `${model} has no ${which}; \`tollgate price list ${model} --all\` lists what there is`,
  )
}

function latestOf(rows: readonly PriceRow[]): PriceRow | undefined {
  return rows.toSorted((a, b) => a.effectiveFrom - b.effectiveFrom || a.version - b.version).at(-1)
}

async function setPrices(context: Context, fromMs: number): Promise<undefined> {
  const [model = '', ...words] = context.words
  if (model.includes('*')) {
    throw new UsageError(`${model}: names that begin alike are priced in the configuration file`)
  }
  const prices = readPrices(words)
  const row = await withStore(context, async (store) => {
    const rows = await store.prices.all()
    const before = cardsInForce(ofCommands(rows), fromMs)(model)
    noteModel(model, prices, before)
    noteFile(rows, model, fromMs)
    const differences = compareCards(before?.prices ?? null, prices)
    for (const difference of differences) say(`${model}: ${differenceText(difference)}`)
    if (differences.some(({ large }) => large) && !context.flags.has('allow-large')) {
      throw new Error(
        'not applied: a price grows or shrinks more than tenfold, or becomes 0; --allow-large applies it',
      )
    }
    const from = context.flags.text('source') ?? 'command line'
    return append(store, context, { model, prices, source: from, effectiveFrom: fromMs })
  })
  await told(context, row)
  return undefined
}

/** `['input=0.15', 'output=0.60']`; throws `UsageError` on a name or an amount that is none. */
function readPrices(words: readonly string[]): Prices {
  const prices = new Map<string, string>()
  for (const word of words) {
    const at = word.lastIndexOf('=')
    if (at < 1) throw new UsageError(`${word}: expected NAME=PRICE, such as input=0.15`)
    const name = word.slice(0, at)
    const amount = word.slice(at + 1)
    const problem = prices.has(name) ? `${name}: is given twice` : priceProblem(name, amount)
    if (problem !== null) throw new UsageError(problem)
    prices.set(name, amount)
  }
  return plainPrices(Object.fromEntries(prices))
}

/** What commands decide: a card of the configuration file stands above it and is not theirs to change. */
export function ofCommands(rows: readonly PriceRow[]): readonly PriceRow[] {
  return rows.filter(({ origin }) => origin !== 'file')
}

/** Says so where the configuration file has the last word on the model's prices. */
function noteFile(rows: readonly PriceRow[], model: string, atMs: number): void {
  if (cardsInForce(rows, atMs)(model)?.origin !== 'file') return
  say(`note: the configuration file prices ${model}; this holds once it does not`)
}

function noteModel(model: string, prices: Prices, before: PriceRow | null): void {
  const shipped = createCatalog({}).find(model)
  if (shipped === null && before === null) say(`note: ${model} is not a model known so far`)
  const missing = shipped && missingPrice(readCard(prices), shipped.kind, null)
  if (missing !== null) say(`note: without ${missing}, requests to ${model} are refused`)
}

interface NewCard {
  readonly model: string
  readonly prices: Prices
  readonly source: string
  readonly sourceDate?: string | null
  readonly effectiveFrom?: number
}

async function append(store: Store, context: Context, card: NewCard): Promise<PriceRow> {
  const row = newRow(context, 'set', card)
  const [version = 0] = await store.prices.append([row])
  return { ...row, version }
}

export function newRow(
  { flags, env, nowMs }: Context,
  origin: 'set' | 'import',
  { model, prices, source, sourceDate, effectiveFrom }: NewCard,
): Omit<PriceRow, 'version'> {
  return {
    model,
    prices,
    effectiveFrom: effectiveFrom ?? nowMs,
    origin,
    source,
    sourceDate: sourceDate ?? null,
    actor: flags.text('actor') ?? env.USER ?? env.LOGNAME ?? 'command line',
    createdAt: nowMs,
  }
}

async function told(context: Context, row: PriceRow): Promise<void> {
  const view = cardView(row)
  if (context.json) await printJson(view)
  else say(`Version ${row.version} for ${row.model}, from ${view.from}: ${pricesText(row.prices)}.`)
}
