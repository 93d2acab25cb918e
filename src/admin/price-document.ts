// Reads price documents: Tollgate's own format, and the data of the genai-prices and models.dev projects.

import { readVendorPrices, type VendorPrices } from '../catalog/genai-prices.ts'
import { isModelsDev, readModelsDev } from '../catalog/models-dev.ts'
import { shippedModels } from '../catalog/shipped-models.ts'
import { type Prices, plainPrices, priceProblem } from './price-card.ts'
import { AdminError } from './use-case.ts'

export interface ImportedCard {
  readonly model: string
  readonly prices: Prices
  readonly source: string
  readonly sourceDate: string | null
}

interface PriceDocument {
  readonly cards: readonly ImportedCard[]
  /** Currency of the amounts; null: the deployment's own, whichever it is. */
  readonly currency: string | null
}

/**
 * `vendor`: reads every model that the data has of this vendor, instead of the shipped models. Throws AdminError where
 * the text is of no known format.
 */
export function readPriceDocument(
  text: string,
  vendor: string | undefined,
  nowMs: number,
): PriceDocument {
  const data = readJson(text)
  if (!Array.isArray(data) && !isModelsDev(data)) {
    if (vendor !== undefined) {
      throw new AdminError(
        'not_found',
        'vendor',
        'is missing: the document does not name its vendor',
      )
    }
    return { cards: ownCards(data), currency: null }
  }
  const prices = Array.isArray(data) ? readVendorPrices(data) : readModelsDev(data)
  const cards =
    vendor === undefined ? shippedCards(prices, nowMs) : vendorCards(prices, vendor, nowMs)
  return { cards, currency: 'USD' }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw invalid('is not JSON')
    throw error
  }
}

function invalid(message: string): AdminError {
  return new AdminError('invalid', 'document', message)
}

function shippedCards(data: VendorPrices, nowMs: number): ImportedCard[] {
  const cards = new Map<string, ImportedCard>()
  for (const { vendor, models } of shippedModels) {
    for (const model of Object.keys(models)) {
      const card = cards.has(model) ? null : vendorCard(data, vendor, model, nowMs)
      if (card !== null) cards.set(model, card)
    }
  }
  return [...cards.values()]
}

function vendorCards(data: VendorPrices, vendor: string, nowMs: number): ImportedCard[] {
  const known = data.models(vendor)
  if (known === null) {
    throw new AdminError('not_found', 'vendor', `the document has no prices of ${vendor}`)
  }
  const shipped = shippedModels.find((list) => list.vendor === vendor)?.models ?? {}
  const names = new Set([...known, ...Object.keys(shipped)])
  return [...names].flatMap((model) => vendorCard(data, vendor, model, nowMs) ?? [])
}

function vendorCard(
  data: VendorPrices,
  vendor: string,
  model: string,
  nowMs: number,
): ImportedCard | null {
  const card = data.find(vendor, model, nowMs)
  return card && { model, prices: card.prices, source: card.source, sourceDate: null }
}

/** Reads `{MODEL: {prices, source, date}}`; reports all faults at once. */
function ownCards(data: unknown): ImportedCard[] {
  const problems: string[] = []
  const cards = Object.entries(sectionOf(data) ?? {}).flatMap(([model, entry]) => {
    const { prices, source, date, ...rest } = sectionOf(entry) ?? {}
    const own = Object.entries(sectionOf(prices) ?? {})
    const found = [
      ...own.map(([name, amount]) => priceProblem(name, amount)),
      ...Object.keys(rest).map((name) => `${name}: unknown key`),
      own.length === 0 ? 'prices: expected at least one' : null,
      typeof (source ?? '') === 'string' ? null : 'source: expected text',
      date == null || isDay(date) ? null : 'date: expected a day such as 2027-01-31',
      /[*\s]/.test(model) || model === '' ? 'expected the whole name of a model' : null,
    ]
    problems.push(...found.flatMap((problem) => (problem === null ? [] : [`${model}: ${problem}`])))
    const named = plainPrices(
      Object.fromEntries(own.map(([name, amount]) => [name, String(amount)])),
    )
    return [
      {
        model,
        prices: named,
        source: typeof source === 'string' && source !== '' ? source : 'import',
        sourceDate: typeof date === 'string' ? date : null,
      },
    ]
  })
  if (sectionOf(data) === null)
    problems.push('expected an object of models, or a list of providers')
  if (problems.length > 0) throw invalid(problems.join('; '))
  return cards
}

function isDay(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d{2}-\d{2}$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  )
}

function sectionOf(value: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return { ...value }
}
