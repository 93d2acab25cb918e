// `tollgate price apply`: the prices of a configuration file count from now on, whatever other nodes' files say.

import type { Config } from '../config/types.ts'
import {
  commandNode,
  declaredPrices,
  newestOfFile,
  type PriceConflict,
  samePrices,
} from '../meter/file-prices.ts'
import type { PriceFileNote, PriceRow, PriceTable } from '../store/ledger.ts'
import { type Command, type Context, UsageError } from './command.ts'
import { printJson, say } from './output.ts'
import { compareCards, differenceText, type Prices } from './price-card.ts'
import { actor, allowLarge, newRow } from './price-set.ts'
import { loadFor, withStore } from './settings.ts'

export const priceApply: Command = {
  name: 'price apply',
  words: [],
  summary: 'make the prices of the configuration file count, on every node, from now on',
  options: { 'allow-large': allowLarge, actor },
  async run(context) {
    if (!context.flags.has('config') && !context.env.TOLLGATE_CONFIG) {
      throw new UsageError('--config is missing')
    }
    const config = await loadFor(context)
    return withStore(context, async (store) => {
      const changes = await apply(context, config, store.prices)
      if (context.json) await printJson(changes.map(changeView))
      else say(changes.length === 0 ? 'Nothing changes.' : `${changes.length} models changed.`)
      return undefined
    })
  },
}

interface Change {
  readonly model: string
  readonly before: Prices | null
  readonly prices: Prices
  readonly version: number
}

/** Tried again where a node wrote prices down meanwhile. */
async function apply(context: Context, config: Config, table: PriceTable): Promise<Change[]> {
  for (;;) {
    const rows = await table.all()
    const notes = await table.files()
    const wanted = changesOf(rows, config)
    const large = wanted.filter((change) => sayDifferences(change))
    if (large.length > 0 && !context.flags.has('allow-large')) {
      const names = large.map(({ model }) => model).join(', ')
      throw new Error(
        `not applied: a price grows or shrinks more than tenfold, or becomes 0 (${names}); --allow-large applies it`,
      )
    }
    const added = wanted.map(({ model, prices }) => ({
      ...newRow(context, 'set', { model, prices, source: 'configuration' }),
      origin: 'file' as const,
    }))
    const note = noteOf(notes, config.priceRevision)
    const versions = await table.appendAfter(rows.at(-1)?.version ?? 0, added, note)
    if (versions === null) continue
    return wanted.map((change, index) => ({ ...change, version: versions[index] ?? 0 }))
  }
}

function changesOf(rows: readonly PriceRow[], config: Config): Omit<Change, 'version'>[] {
  const stored = newestOfFile(rows)
  const declared = declaredPrices(config.models)
  return [...new Set([...declared.keys(), ...stored.keys()])].flatMap((model) => {
    const before = stored.get(model)?.prices ?? null
    const prices = declared.get(model) ?? {}
    return samePrices(before ?? {}, prices) ? [] : [{ model, before, prices }]
  })
}

/** Whether one of them is large. A card that is withdrawn is none of these: the next origin's counts then. */
function sayDifferences({ model, before, prices }: Omit<Change, 'version'>): boolean {
  if (Object.keys(prices).length === 0) {
    say(`${model}: withdrawn`)
    return false
  }
  const known = before !== null && Object.keys(before).length > 0 ? before : null
  const differences = compareCards(known, prices)
  for (const difference of differences) say(`${model}: ${differenceText(difference)}`)
  return differences.some(({ large }) => large)
}

/** The revision never falls: files below it stay behind. */
function noteOf(notes: readonly PriceFileNote[], revision: number): PriceFileNote {
  const highest = notes.reduce((most, note) => Math.max(most, note.revision), revision)
  return { node: commandNode, revision: highest, cards: {} }
}

function changeView({ model, before, prices, version }: Change) {
  return { model, before, prices, version }
}

/** Lines such as `gpt-4o: the file has input 15, input 0.15 counts (version 12)`. */
export function conflictText({ model, file, stored, version }: PriceConflict): string {
  const counts = Object.keys(stored).length === 0 ? 'none, it was withdrawn' : listed(stored)
  return `${model}: the file has ${file === null ? 'none' : listed(file)}; what counts is ${counts} (version ${version})`
}

function listed(prices: Prices): string {
  return Object.entries(prices)
    .map((entry) => entry.join(' '))
    .join(', ')
}
