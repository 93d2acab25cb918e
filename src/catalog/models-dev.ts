// Reads the api.json of the models.dev project (MIT) into the gateway's own price names.

import { formatUnits } from '../money.ts'
import { perMillion, type VendorCard, type VendorPrices } from './genai-prices.ts'

/** The project's names of providers, by the `vendor` of a channel; other vendors have the same name. */
const providerNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'azure-openai': 'azure',
    bedrock: 'amazon-bedrock',
    dashscope: 'alibaba',
    fireworks: 'fireworks-ai',
    moonshot: 'moonshotai',
    together: 'togetherai',
    vertex: 'google-vertex',
    zhipu: 'zhipuai',
  }),
)

/** The gateway's price names by the project's; its prices are dollars per million tokens. */
const priceNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    input: 'input',
    output: 'output',
    cache_read: 'cachedInput',
    cache_write: 'cacheWrite',
    reasoning: 'reasoning',
    input_audio: 'audioInput',
    output_audio: 'audioOutput',
  }),
)

/** The project's names for prices of longer prompts: `context_over_200k`. */
const tierName = /^context_over_(\d{1,6})k$/

type Fields = Readonly<Record<string, unknown>>

/** Whether a document has this form: providers by name, each with models by name. */
export function isModelsDev(data: unknown): boolean {
  const providers = Object.values(fieldsOf(data) ?? {})
  return (
    providers.length > 0 && providers.every((each) => fieldsOf(fieldsOf(each)?.models) !== null)
  )
}

/** Reads cards, except those whose prices are all 0: such an offer does not apply to the operator's channel. */
export function readModelsDev(data: unknown): VendorPrices {
  const providers = fieldsOf(data) ?? {}
  const modelsOf = (vendor: string): Fields | null => {
    const name = providerNames.get(vendor) ?? vendor
    return Object.hasOwn(providers, name) ? fieldsOf(fieldsOf(providers[name])?.models) : null
  }
  return {
    find(vendor, model) {
      const models = modelsOf(vendor)
      const cost =
        models !== null && Object.hasOwn(models, model) ? fieldsOf(models[model])?.cost : null
      return cardOf(fieldsOf(cost), vendor, `${vendor} ${model}`)
    },
    models: (vendor) => {
      const models = modelsOf(vendor)
      return models && Object.keys(models)
    },
  }
}

function cardOf(cost: Fields | null, vendor: string, what: string): VendorCard | null {
  if (cost === null) return null
  const prices = new Map<string, bigint>()
  const leftOut: string[] = []
  const take = (fields: Fields, tier: string) => {
    for (const [theirs, price] of Object.entries(fields)) {
      const name = priceNames.get(theirs)
      if (name !== undefined) prices.set(name + tier, priceOf(`${what}: ${theirs}`, price))
      else if (tier !== '' || !tierName.test(theirs)) leftOut.push(theirs)
    }
  }
  take(cost, '')
  for (const [theirs, longer] of Object.entries(cost)) {
    const [, thousands] = tierName.exec(theirs) ?? []
    const fields = fieldsOf(longer)
    if (thousands !== undefined && fields !== null) take(fields, `>${Number(thousands) * 1_000}`)
  }
  if ([...prices.values()].every((nano) => nano === 0n)) return null
  const named = [...prices].map(([name, nano]) => [name, formatUnits(nano)] as const)
  const source = `https://models.dev (${providerNames.get(vendor) ?? vendor})`
  return { prices: Object.fromEntries(named), source, leftOut }
}

function priceOf(what: string, price: unknown): bigint {
  try {
    return perMillion(price, 1_000_000n)
  } catch (error) {
    throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function fieldsOf(value: unknown): Fields | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return { ...value }
}
