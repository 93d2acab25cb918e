// `tollgate price apply`: puts a configuration file's prices in force, whatever other nodes' files contain.

import { applyFilePrices, type FilePriceChange } from '../admin/price-apply.ts'
import type { Prices } from '../admin/price-card.ts'
import type { PriceConflict } from '../meter/file-prices.ts'
import { type Command, UsageError } from './command.ts'
import { printJson, say } from './output.ts'
import { actor, allowLarge, sayDifferences, tooLarge } from './price.ts'
import { loadFor, withChange } from './settings.ts'

export const priceApply: Command = {
  name: 'price apply',
  words: [],
  summary: "put the configuration file's prices in force on every node, from now on",
  options: { 'allow-large': allowLarge, actor },
  async run(context) {
    const { flags, env } = context
    if (!flags.has('config') && !env.TOLLGATE_CONFIG) throw new UsageError('--config is missing')
    const config = await loadFor(context)
    const input = { allowLarge: flags.has('allow-large') }
    const done = await withChange(
      context,
      (admin) => applyFilePrices(admin, config, input),
      ({ changes, refused }) =>
        refused.length > 0 || changes.length === 0
          ? null
          : { action: 'applyFilePrices', target: {}, detail: { changes: changes.map(changeView) } },
    )
    const { changes, refused } = done
    for (const change of changes) sayChange(change)
    if (refused.length > 0) throw tooLarge(refused)
    if (context.json) await printJson(changes.map(changeView))
    else say(changes.length === 0 ? 'Nothing changes.' : `${changes.length} models changed.`)
    return undefined
  },
}

function sayChange({ model, prices, differences }: FilePriceChange): void {
  if (Object.keys(prices).length === 0) say(`${model}: withdrawn`)
  else sayDifferences(model, differences)
}

function changeView({ model, before, prices, version }: FilePriceChange) {
  return { model, before, prices, version }
}

/** A line such as `gpt-4o: the file has input 15; what counts is input 0.15 (version 12)`. */
export function conflictText({ model, file, stored, version }: PriceConflict): string {
  const counts = Object.keys(stored).length === 0 ? 'none, it was withdrawn' : listed(stored)
  return `${model}: the file has ${file === null ? 'none' : listed(file)}; what counts is ${counts} (version ${version})`
}

function listed(prices: Prices): string {
  return Object.entries(prices)
    .map((entry) => entry.join(' '))
    .join(', ')
}
