#!/usr/bin/env bun
// Writes src/catalog/prices.json out of the price data of @pydantic/genai-prices, which must be installed:
//   npm install --no-save @pydantic/genai-prices@0.1.8
//   npx bun scripts/prices.mjs 0.1.8 2026-09-23
// The arguments are its version and the day that was published. Models without a price are named on stderr.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProvider } from '@pydantic/genai-prices'
import { readVendorPrices } from '../src/catalog/genai-prices.ts'
import { shippedModels } from '../src/catalog/shipped-models.ts'

/** Providers of the shipped vendors, and those that the data falls back to. */
const providerIds = [
  'anthropic',
  'aws',
  'azure',
  'cerebras',
  'cohere',
  'deepseek',
  'fireworks',
  'google',
  'groq',
  'minimax',
  'mistral',
  'moonshotai',
  'openai',
  'openrouter',
  'perplexity',
  'together',
  'x-ai',
  'zhipuai',
]

const [version, date] = process.argv.slice(2)
if (version === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(date ?? '')) {
  process.stderr.write('usage: npx bun scripts/prices.mjs VERSION YYYY-MM-DD\n')
  process.exit(2)
}

const data = readVendorPrices(providerIds.map((providerId) => findProvider({ providerId })))
const without = []
const vendors = shippedModels.flatMap(({ vendor, models }) => {
  if (vendor === 'sandbox') return []
  const lines = Object.keys(models).flatMap((model) => {
    const card = data.find(vendor, model, Date.parse(date))
    if (card === null) without.push(`${vendor}: ${model}`)
    if (card === null) return []
    const { source, prices } = card
    return [`      ${JSON.stringify(model)}: ${JSON.stringify({ source, prices })}`]
  })
  return lines.length === 0 ? [] : [`    ${JSON.stringify(vendor)}: {\n${lines.join(',\n')}\n    }`]
})
const source = JSON.stringify(`@pydantic/genai-prices ${version}`)
const text = `{
  "source": ${source},
  "date": ${JSON.stringify(date)},
  "currency": "USD",
  "vendors": {
${vendors.join(',\n')}
  }
}
`
JSON.parse(text)
writeFileSync(join(import.meta.dirname, '../src/catalog/prices.json'), text)
process.stderr.write(`without a price:\n${without.map((line) => `  ${line}\n`).join('')}`)
