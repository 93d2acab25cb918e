// Reads the price data of the genai-prices project (MIT) into the gateway's own price names.

import { ceilDiv, formatUnits, nanoPerUnit } from '../money.ts'

/** The project's names of providers, by the `vendor` of a channel; other vendors have the same name. */
const providerNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'azure-openai': 'azure',
    bedrock: 'aws',
    moonshot: 'moonshotai',
    vertex: 'google',
    xai: 'x-ai',
    zhipu: 'zhipuai',
  }),
)

/** The gateway's price names, with the units that the project's price is for: a thousand requests, 3600 seconds. */
const priceNames: ReadonlyMap<string, readonly [name: string, units: bigint]> = new Map(
  Object.entries({
    input_mtok: ['input', 1_000_000n],
    cache_read_mtok: ['cachedInput', 1_000_000n],
    cache_write_mtok: ['cacheWrite', 1_000_000n],
    cache_write_1h_mtok: ['cacheWrite1h', 1_000_000n],
    output_mtok: ['output', 1_000_000n],
    output_reasoning_mtok: ['reasoning', 1_000_000n],
    input_audio_mtok: ['audioInput', 1_000_000n],
    output_audio_mtok: ['audioOutput', 1_000_000n],
    input_image_mtok: ['imageInput', 1_000_000n],
    output_image_mtok: ['imageOutput', 1_000_000n],
    requests_kcount: ['request', 1_000n],
    audio_hours: ['second', 3_600n],
  }),
)

export interface VendorCard {
  /** Prices per million units, under the names of the configuration. */
  readonly prices: Readonly<Record<string, string>>
  /** The page that the price was read from, where the data names one. */
  readonly source: string
  /** Prices in the data that have no name here. */
  readonly leftOut: readonly string[]
}

export interface VendorPrices {
  /**
   * The card in force at a moment, by the data's own matching rules; null where there is none. Where prices depend on
   * the time of day it is the highest.
   */
  find(vendor: string, model: string, atMs: number): VendorCard | null
  /** The names of a vendor's models in the data; null where it does not know the vendor. */
  models(vendor: string): readonly string[] | null
}

type Fields = Readonly<Record<string, unknown>>

/** `data`: the project's list of providers, as in its JSON files. Throws where it has another form. */
export function readVendorPrices(data: unknown): VendorPrices {
  const providers = new Map(
    listOf(data, 'the file').map((entry, index) => {
      const provider = fieldsOf(entry, `provider ${index}`)
      return [textOf(provider.id, `provider ${index}: id`), provider]
    }),
  )
  const providerOf = (vendor: string) => providers.get(providerNames.get(vendor) ?? vendor) ?? null
  return {
    find(vendor, model, atMs) {
      const provider = providerOf(vendor)
      if (provider === null) return null
      const fallbacks = listOf(provider.fallback_model_providers ?? [], 'fallback_model_providers')
      for (const each of [provider, ...fallbacks.map((id) => providers.get(String(id)))]) {
        const found = modelsOf(each).find((entry) => matches(entry.match, model))
        if (found !== undefined) return cardOf(found, provider, atMs)
      }
      return null
    },
    models(vendor) {
      const provider = providerOf(vendor)
      return provider && modelsOf(provider).map(({ id }) => textOf(id, 'model: id'))
    },
  }
}

function modelsOf(provider: Fields | undefined): readonly Fields[] {
  return listOf(provider?.models ?? [], 'models').map((entry) => fieldsOf(entry, 'model'))
}

function matches(rule: unknown, model: string): boolean {
  const [kind = '', value] = Object.entries(fieldsOf(rule, 'match'))[0] ?? []
  if (kind === 'or') return listOf(value, 'or').some((inner) => matches(inner, model))
  if (kind === 'and') return listOf(value, 'and').every((inner) => matches(inner, model))
  const wanted = textOf(value, `match: ${kind}`)
  if (kind === 'regex') return new RegExp(wanted).test(model)
  const [name, part] = [model.toLowerCase(), wanted.toLowerCase()]
  if (kind === 'equals') return name === part
  if (kind === 'starts_with') return name.startsWith(part)
  if (kind === 'ends_with') return name.endsWith(part)
  if (kind === 'contains') return name.includes(part)
  throw new Error(`unknown matching rule: ${kind}`)
}

function cardOf(model: Fields, provider: Fields, atMs: number): VendorCard | null {
  const dearest = new Map<string, bigint>()
  const leftOut = new Set<string>()
  for (const prices of inForce(model.prices, atMs)) {
    for (const [theirs, value] of Object.entries(prices)) {
      const known = priceNames.get(theirs)
      if (known === undefined) {
        leftOut.add(theirs)
        continue
      }
      for (const [name, nano] of named(known, value)) {
        if (nano > (dearest.get(name) ?? -1n)) dearest.set(name, nano)
      }
    }
  }
  if (dearest.size === 0) return null
  const prices = [...dearest].map(([name, nano]) => [name, formatUnits(nano)] as const)
  return {
    prices: Object.fromEntries(prices),
    source: sourceOf(model, provider),
    leftOut: [...leftOut],
  }
}

/** The latest dated prices that have begun, and all those that apply at some time of the day. */
function inForce(prices: unknown, atMs: number): readonly Fields[] {
  if (!Array.isArray(prices)) return [fieldsOf(prices, 'prices')]
  let begun: Fields = {}
  const daily: Fields[] = []
  for (const entry of prices) {
    const { constraint, prices: own } = fieldsOf(entry, 'prices')
    const { start_date: from, start_time: time } = fieldsOf(constraint ?? {}, 'constraint')
    const card = fieldsOf(own, 'prices')
    if (time !== undefined) daily.push(card)
    else if (from === undefined || Date.parse(textOf(from, 'start_date')) <= atMs) begun = card
  }
  return [begun, ...daily]
}

/** One price with its tiers: `input`, `input>200000`. */
function* named(
  [name, units]: readonly [string, bigint],
  value: unknown,
): Generator<readonly [name: string, nano: bigint]> {
  if (typeof value === 'number' || typeof value === 'string') {
    yield [name, perMillion(value, units)]
    return
  }
  const { base, tiers } = fieldsOf(value, name)
  yield [name, perMillion(base, units)]
  for (const tier of listOf(tiers, `${name}: tiers`)) {
    const { start, price } = fieldsOf(tier, `${name}: tier`)
    yield [`${name}>${Number(start)}`, perMillion(price, units)]
  }
}

/** Nano-units per million units; more than nine decimal places are rounded up. */
export function perMillion(price: unknown, units: bigint): bigint {
  const text = typeof price === 'number' ? plainDecimal(price) : String(price)
  const match = /^(\d{1,9})(?:\.(\d+))?$/.exec(text)
  if (match === null) throw new Error(`not a price: ${text}`)
  const fraction = match[2] ?? ''
  const scale = 10n ** BigInt(fraction.length)
  const amount = BigInt(`${match[1]}${fraction}`)
  return ceilDiv(amount * nanoPerUnit * 1_000_000n, scale * units)
}

/** A number as a plain decimal, as the data's authors wrote it: never `1e-7`. */
function plainDecimal(value: number): string {
  const text = String(value)
  return text.includes('e') ? value.toFixed(12) : text
}

function sourceOf(model: Fields, provider: Fields): string {
  const [named] = /https?:\/\/[^\s,)]+/.exec(String(model.price_comments ?? '')) ?? []
  if (named !== undefined) return named.replace(/[.;]+$/, '')
  const [page] = listOf(provider.pricing_urls ?? [], 'pricing_urls')
  return String(page ?? provider.name ?? provider.id)
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`expected a list: ${what}`)
  return value
}

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`expected a section: ${what}`)
  }
  return { ...value }
}

function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new Error(`expected text: ${what}`)
  return value
}
