// The shipped prices: those that vendors publish, as data with source and date, and the sandbox's own.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sourcePath } from '../installation.ts'
import { sandbox, sandboxPrices } from './models/sandbox.ts'
import { shippedModels } from './shipped-models.ts'

export interface ShippedPrices {
  readonly model: string
  /** Decimals per million units, by the price names of the configuration. */
  readonly prices: Readonly<Record<string, string>>
  /** Where the prices were read, and the day of the data: `2026-09-23`. */
  readonly source: string
  readonly sourceDate: string | null
}

/**
 * The format of prices.json, which `scripts/prices.mjs` writes, and of prices-media.json, which is maintained by hand:
 * it has what the other lacks or has wrong, and each of its cards names its source in full.
 */
interface PriceFile {
  readonly source?: string
  readonly date: string
  readonly currency: string
  readonly vendors: Readonly<Record<string, Readonly<Record<string, PricedModel>>>>
}

interface PricedModel {
  readonly source: string
  /** The date of the file that the card is in. */
  readonly date?: string
  readonly prices: Readonly<Record<string, string>>
}

/**
 * One card for each shipped model with a price; where several vendors ship the same name, the first with a price for it
 * decides. Vendors publish in dollars: with another currency only the sandbox has prices.
 */
export function shippedPrices(currency: string): readonly ShippedPrices[] {
  const file = readPriceFile()
  const cards = new Map<string, ShippedPrices>()
  for (const [model, prices] of Object.entries(sandboxPrices)) {
    for (const name of [model, `${model}+*`]) {
      cards.set(name, { model: name, prices, source: sandbox.vendor, sourceDate: null })
    }
  }
  for (const { vendor, models } of currency === file.currency ? shippedModels : []) {
    const priced = file.vendors[vendor]
    for (const model of Object.keys(models)) {
      const card = priced?.[model]
      if (card === undefined || cards.has(model)) continue
      const { source, prices, date = file.date } = card
      cards.set(model, { model, prices, source, sourceDate: date })
    }
  }
  return [...cards.values()]
}

/** Both files merged; the one maintained by hand takes precedence. */
export function readPriceFile(): PriceFile {
  const [data, own] = ['prices.json', 'prices-media.json'].map(readFile)
  if (data === undefined || own === undefined) throw new Error('a price file is missing')
  const vendors = new Map<string, Record<string, PricedModel>>()
  for (const { source, date, vendors: listed } of [data, own]) {
    for (const [vendor, models] of Object.entries(listed)) {
      const cards = vendors.get(vendor) ?? {}
      for (const [model, card] of Object.entries(models)) {
        const whole = source === undefined ? card.source : `${card.source} (${source})`
        cards[model] = { ...card, source: whole, date }
      }
      vendors.set(vendor, cards)
    }
  }
  return { ...data, vendors: Object.fromEntries(vendors) }
}

function readFile(name: string): PriceFile {
  return JSON.parse(readFileSync(sourcePath(join('catalog', name)), 'utf8'))
}
