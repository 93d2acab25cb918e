// `tollgate price list`, `set`, `schedule`, `cancel`, `withdraw` and `rollback`.

import { readInput } from '../admin/input.ts'
import type { Difference, PriceCard, Prices } from '../admin/price-card.ts'
import {
  cancelPrices,
  type ListedCard,
  listPrices,
  rollbackPrices,
  setPrices,
  withdrawPrices,
} from '../admin/prices.ts'
import { timeText } from '../admin/time.ts'
import { type Command, type Context, type Option, UsageError } from './command.ts'
import { print, printJson, say, table } from './output.ts'
import { withChange, withStore } from './settings.ts'

export const actor: Option = {
  type: 'string',
  value: 'NAME',
  help: 'who does it; by default the user running this',
}

export const allowLarge: Option = {
  type: 'boolean',
  help: 'also if a price changes more than tenfold, or becomes 0',
}

export const priceList: Command = {
  name: 'price list',
  words: ['[MODEL]'],
  summary: 'list the prices in force',
  options: {
    all: { type: 'boolean', help: 'every version, including past and scheduled ones' },
    scheduled: { type: 'boolean', help: 'only versions that have not begun' },
  },
  hints: { 'not_found model': '; `tollgate price set` sets one' },
  async run(context) {
    const [model] = context.words
    const all = context.flags.has('all')
    const scheduled = context.flags.has('scheduled')
    const asked = { model, all, scheduled }
    const { items } = await withStore(context, (admin) => listPrices(admin, asked))
    if (context.json) await printJson(items)
    else await print(table(headings, items.map(cells)))
    return undefined
  },
}

const headings = ['MODEL', 'VERSION', 'FROM', 'ORIGIN', 'STATE', 'PRICES', 'SOURCE', 'DATE']

/** The moment from which a model's first card is in force. */
const beginning = timeText(0)

function cells({ model, version, from, origin, state, prices, source, sourceDate }: ListedCard) {
  const since = from === beginning ? null : from
  return [model, version, since, origin, state, pricesText(prices), source, sourceDate]
}

const setting = {
  words: ['MODEL', 'NAME=PRICE...'],
  fields: { model: 'MODEL', prices: 'NAME=PRICE...' },
}

const settingOptions: Readonly<Record<string, Option>> = {
  source: { type: 'string', value: 'TEXT', help: 'where the prices are from' },
  actor,
  'allow-large': allowLarge,
}

export const priceSet: Command = {
  ...setting,
  name: 'price set',
  summary: "set a model's prices, per million units, from now on",
  options: settingOptions,
  run: (context) => change(context, undefined),
}

export const priceSchedule: Command = {
  ...setting,
  name: 'price schedule',
  summary: "set a model's prices from a later time",
  options: {
    from: { type: 'string', value: 'TIME', help: 'from when: 2027-01-31T00:00:00Z' },
    ...settingOptions,
  },
  run: (context) => change(context, context.flags.required('from')),
}

async function change(context: Context, from: string | undefined): Promise<undefined> {
  const [model = '', ...words] = context.words
  const input = await readInput('setPrices', {
    model,
    prices: readPrices(words),
    from,
    source: context.flags.text('source') ?? 'command line',
    allowLarge: context.flags.has('allow-large'),
  })
  const { model: _, ...detail } = input
  const done = await withChange(
    context,
    (admin) => setPrices(admin, input),
    ({ card }) => (card === null ? null : { action: 'setPrices', target: { model }, detail }),
  )
  if (done.isUnknown) say(`note: ${model} is not a model known so far`)
  if (done.missing !== null) say(`note: without ${done.missing}, requests to ${model} are refused`)
  if (done.isInFile) noteFile(model)
  sayDifferences(model, done.differences)
  if (done.card === null) throw tooLarge([])
  await printCard(context, done.card)
  return undefined
}

/** Reads words such as `input=0.15 output=0.60`. */
function readPrices(words: readonly string[]): Prices {
  const prices = new Map<string, string>()
  for (const word of words) {
    const at = word.lastIndexOf('=')
    if (at < 1) throw new UsageError(`${word}: expected NAME=PRICE, such as input=0.15`)
    const name = word.slice(0, at)
    if (prices.has(name)) throw new UsageError(`${name}: was given twice`)
    prices.set(name, word.slice(at + 1))
  }
  return Object.fromEntries(prices)
}

export const priceWithdraw: Command = {
  name: 'price withdraw',
  words: ['MODEL'],
  summary: 'remove the prices that were set or imported: the shipped prices apply again',
  options: { actor },
  async run(context) {
    const [model = ''] = context.words
    const { card, isInFile, coming } = await withChange(
      context,
      async (admin) => {
        const withdrawn = await withdrawPrices(admin, { model })
        const { items } = await listPrices(admin, { model, all: false, scheduled: true })
        return { ...withdrawn, coming: items }
      },
      () => ({ action: 'withdrawPrices', target: { model } }),
    )
    if (isInFile) noteFile(model)
    for (const { version, from } of coming) {
      say(
        `note: version ${version} still begins at ${from}; \`tollgate price cancel ${model} ${version}\` cancels it`,
      )
    }
    await printCard(context, card)
    return undefined
  },
}

export const priceCancel: Command = {
  name: 'price cancel',
  words: ['MODEL', 'VERSION'],
  summary: 'cancel a scheduled version: the prices set before it stay',
  options: { actor },
  fields: { model: 'MODEL', version: 'VERSION' },
  hints: { 'not_found version': '; `tollgate price list MODEL --scheduled` lists what there is' },
  async run(context) {
    const [model = '', version = ''] = context.words
    const isNumber = /^\d+$/.test(version)
    const input = await readInput('cancelPrices', {
      model,
      version: isNumber ? Number(version) : version,
    })
    const { card } = await withChange(
      context,
      (admin) => cancelPrices(admin, input),
      () => ({ action: 'cancelPrices', target: { model }, detail: { version: input.version } }),
    )
    if (context.json) await printJson(card)
    else say(`Version ${version} for ${model} is cancelled.`)
    return undefined
  },
}

export const priceRollback: Command = {
  name: 'price rollback',
  words: ['MODEL'],
  summary: "restore an earlier version of a model's prices, as a new version",
  options: {
    to: {
      type: 'string',
      value: 'VERSION',
      help: 'which version; by default the one before the newest',
    },
    actor,
  },
  fields: { model: 'MODEL', version: 'to' },
  hints: { 'not_found model': '; `tollgate price list MODEL --all` lists what there is' },
  async run(context) {
    const [model = ''] = context.words
    const version = context.flags.number('to')
    const input = await readInput('rollbackPrices', { model, version })
    const { card, isInFile } = await withChange(
      context,
      (admin) => rollbackPrices(admin, input),
      ({ card: { version: restored } }) => ({
        action: 'rollbackPrices',
        target: { model },
        detail: { to: version ?? null, version: restored },
      }),
    )
    if (isInFile) noteFile(model)
    await printCard(context, card)
    return undefined
  },
}

/** Tells that the configuration file takes precedence on the model's prices. */
function noteFile(model: string): void {
  say(
    `note: the configuration file prices ${model}; this takes effect when the file no longer does`,
  )
}

async function printCard({ json }: Context, card: PriceCard): Promise<void> {
  if (json) await printJson(card)
  else
    say(`Version ${card.version} for ${card.model}, from ${card.from}: ${pricesText(card.prices)}.`)
}

function pricesText(prices: Prices): string {
  const entries = Object.entries(prices)
  return entries.length === 0 ? 'withdrawn' : entries.map((entry) => entry.join(' ')).join(', ')
}

/** Prints lines such as `gpt-4o: input 0.15 -> 0.2 (+33.3%)`. */
export function sayDifferences(model: string, differences: readonly Difference[]): void {
  for (const { name, before, after, percent } of differences) {
    const change = percent === null ? '' : ` (${percent}%)`
    say(`${model}: ${name} ${before ?? '-'} -> ${after ?? '-'}${change}`)
  }
}

/** The error for differences too large to apply without --allow-large. */
export function tooLarge(models: readonly string[]): Error {
  const names = models.length === 0 ? '' : ` (${models.join(', ')})`
  return new Error(
    `not applied: a price changes more than tenfold, or becomes 0${names}; --allow-large applies it`,
  )
}
