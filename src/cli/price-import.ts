// `tollgate price import`: shows what a file of prices would change, and applies it when told to.

import { readFile } from 'node:fs/promises'
import type { PriceRow } from '../store/ledger.ts'
import type { Store } from '../store/store.ts'
import { type Command, type Context, type Option, UsageError } from './command.ts'
import { type Cell, print, printJson, say, table } from './output.ts'
import { cardsInForce, compareCards, type Difference } from './price-card.ts'
import { type ImportedCard, type PriceImport, readPriceImport } from './price-file.ts'
import { actor, allowLarge, newRow, ofCommands } from './price-set.ts'
import { withStore } from './settings.ts'
import { currencyOf } from './wallet.ts'

/** What a script can tell from a failure: there are changes, and nobody said yes. */
const notApplied = 3

export const importOptions: Readonly<Record<string, Option>> = {
  vendor: { type: 'string', value: 'V', help: 'all that the document has of this vendor' },
  model: {
    type: 'string',
    value: 'PATTERN',
    help: 'only this model, or `gpt-4*` for all so named',
  },
  yes: { type: 'boolean', help: 'apply it' },
  'allow-large': allowLarge,
  actor,
}

export const priceImport: Command = {
  name: 'price import',
  words: [],
  summary: 'show what a file of prices would change; with --yes, change it',
  options: {
    file: { type: 'string', value: 'FILE', help: 'ours, or what `catalog update` takes' },
    ...importOptions,
  },
  async run(context) {
    const file = context.flags.required('file')
    return importFrom(context, file, await readDocument(file))
  },
}

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a folder, not a file',
}

/** Throws an error that names the file where it cannot be read. */
export async function readDocument(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const reason = unreadable['code' in error ? String(error.code) : ''] ?? error.message
    throw new Error(`Cannot read ${file}: ${reason}`, { cause: error })
  }
}

/** `text` is that of the document `file`. */
export async function importFrom(
  context: Context,
  file: string,
  text: string,
): Promise<number | undefined> {
  const { flags, nowMs } = context
  const pattern = readPattern(flags.text('model'))
  const read = readPriceImport(text, file, flags.text('vendor'), nowMs)
  const cards = read.cards.filter(({ model }) => pattern(model))
  if (cards.length === 0) throw new Error(`${file}: has no prices for what is asked`)
  return withStore(context, (store) => importCards(context, store, { ...read, cards }))
}

/** A model whose card the file would change. */
interface Change {
  readonly card: ImportedCard
  readonly before: PriceRow | null
  readonly differences: readonly Difference[]
}

async function importCards(
  context: Context,
  store: Store,
  { cards, currency }: PriceImport,
): Promise<number | undefined> {
  const ours = await currencyOf(store, context)
  if (currency !== null && currency !== ours) {
    throw new Error(
      `not imported: the file's prices are in ${currency}, the data counts in ${ours}`,
    )
  }
  const rows = await store.prices.all()
  const changes = changesOf(context, rows, cards)
  if (!context.json && changes.length > 0)
    await print(table(headings, changes.flatMap(changeCells)))
  noteFile(context, rows, changes)
  const large = changes.filter(({ differences }) => differences.some((each) => each.large))
  const refused = large.length > 0 && !context.flags.has('allow-large')
  const applied = context.flags.has('yes') && !refused && changes.length > 0
  const versions = applied
    ? await store.prices.append(changes.map(({ card }) => newRow(context, 'import', card)))
    : []
  if (context.json) await printJson({ applied, changes: changes.map(changeView), versions })
  if (refused) {
    const names = large.map(({ card }) => card.model).join(', ')
    throw new Error(
      `not applied: a price grows or shrinks more than tenfold, or becomes 0 (${names}); --allow-large applies it`,
    )
  }
  const count = `${changes.length} of ${cards.length} models`
  if (applied) say(`${count} changed.`)
  else
    say(changes.length === 0 ? 'Nothing would change.' : `${count} would change: --yes applies it.`)
  return applied || changes.length === 0 ? undefined : notApplied
}

function changesOf(
  { nowMs }: Context,
  rows: readonly PriceRow[],
  cards: readonly ImportedCard[],
): Change[] {
  const inForce = cardsInForce(ofCommands(rows), nowMs)
  return cards
    .map((card) => {
      const before = inForce(card.model)
      return { card, before, differences: compareCards(before?.prices ?? null, card.prices) }
    })
    .filter(({ differences }) => differences.length > 0)
}

function readPattern(pattern: string | undefined): (model: string) => boolean {
  if (pattern === undefined) return () => true
  if (/\*./.test(pattern)) {
    throw new UsageError(
      `--model ${pattern}: expected a name, or a beginning with one * at its end`,
    )
  }
  if (!pattern.endsWith('*')) return (model) => model === pattern
  return (model) => model.startsWith(pattern.slice(0, -1))
}

/** Says which of the changed models the configuration file has the last word on. */
function noteFile({ nowMs }: Context, rows: readonly PriceRow[], changes: readonly Change[]): void {
  const inForce = cardsInForce(rows, nowMs)
  const priced = changes.filter(({ card }) => inForce(card.model)?.origin === 'file')
  if (priced.length === 0) return
  const names = priced.map(({ card }) => card.model).join(', ')
  say(`note: the configuration file prices ${names}; the change holds once it does not`)
}

const headings = ['MODEL', 'PRICE', 'OLD', 'NEW', 'PERCENT', '']

function changeCells({ card, differences }: Change): Cell[][] {
  return differences.map(({ name, before, after, percent, large }) => [
    card.model,
    name,
    before,
    after,
    percent,
    large ? 'large' : '',
  ])
}

function changeView({ card, before, differences }: Change) {
  return {
    ...card,
    before: before && { version: before.version, prices: before.prices },
    differences,
  }
}
