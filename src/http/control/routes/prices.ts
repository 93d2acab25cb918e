// Routes over cards of prices: listed, set from now or later, withdrawn, rolled back, imported.

import { z } from '@hono/zod-openapi'
import { importPrices } from '../../../admin/price-import.ts'
import { listPrices, rollbackPrices, setPrices, withdrawPrices } from '../../../admin/prices.ts'
import { inputs } from '../../../admin/schema.ts'
import { flag, pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

/** Of a published document of prices, which has those of every vendor. */
const longestDocument = 8 * 1_048_576

const prices = z
  .record(z.string(), z.string())
  .readonly()
  .openapi({ description: 'By name, decimals for a million of the unit' })

const card = {
  model: z.string(),
  version: z.number().int(),
  from: timeSchema,
  origin: z.enum(['file', 'shipped', 'set', 'import']),
  prices,
  source: z.string(),
  sourceDate: z.string().nullable(),
  actor: z.string().nullable(),
  createdAt: timeSchema,
}
const cardSchema = z.object(card).openapi('PriceCard')
const listedCard = z
  .object({ ...card, state: z.enum(['in force', 'scheduled', 'replaced']) })
  .openapi('ListedPriceCard')

const differences = z
  .array(
    z
      .object({
        name: z.string(),
        before: z.string().nullable(),
        after: z.string().nullable(),
        percent: z.string().nullable(),
        large: z.boolean(),
      })
      .openapi('PriceDifference'),
  )
  .readonly()

const isInFile = z.boolean().openapi({ description: 'It holds once the file prices it no more' })

const change = z
  .object({
    card: cardSchema.nullable().openapi({
      description: 'null: nothing was done, as a difference is large and allowLarge was not said',
    }),
    differences,
    isUnknown: z.boolean(),
    missing: z.string().nullable().openapi({ description: 'Without it requests are refused' }),
    isInFile,
  })
  .openapi('PriceChangeMade')

const imported = z
  .object({
    applied: z.boolean(),
    models: z.number().int(),
    changes: z
      .array(
        z.object({
          model: z.string(),
          prices,
          source: z.string(),
          sourceDate: z.string().nullable(),
          before: z.object({ version: z.number().int(), prices }).nullable(),
          differences,
        }),
      )
      .readonly(),
    versions: z.array(z.number().int()).readonly(),
    refused: z.array(z.string()).readonly(),
    inFile: z.array(z.string()).readonly(),
  })
  .openapi('PriceImport')

const changing = { method: 'post', tag: 'Prices', access: 'admin' } as const

export const priceRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/prices',
    id: 'listPrices',
    tag: 'Prices',
    summary: 'Cards of prices, with who set them and from where',
    access: 'auditor',
    query: inputs.listPrices.extend({ all: flag.default(false), ...pageQuery }),
    reply: pageOf(listedCard),
    run: async ({ admin, query }) => ({ body: await listPrices(admin, query) }),
  }),
  route({
    ...changing,
    path: '/api/prices',
    id: 'setPrices',
    summary: "Set a model's prices, from now or from a moment ahead",
    body: inputs.setPrices,
    reply: change,
    run: async ({ admin, body }) => ({ body: await setPrices(admin, body) }),
  }),
  route({
    ...changing,
    path: '/api/prices/withdraw',
    id: 'withdrawPrices',
    summary: 'Go back to the shipped prices of a model',
    body: inputs.withdrawPrices,
    reply: cardSchema,
    run: async ({ admin, body }) => ({ body: await withdrawPrices(admin, body) }),
  }),
  route({
    ...changing,
    path: '/api/prices/rollback',
    id: 'rollbackPrices',
    summary: "Bring an earlier version of a model's prices back",
    body: inputs.rollbackPrices,
    reply: z.object({ card: cardSchema, isInFile }),
    run: async ({ admin, body }) => ({ body: await rollbackPrices(admin, body) }),
  }),
  route({
    ...changing,
    path: '/api/prices/import',
    id: 'importPrices',
    summary: 'Say what a document of prices would change; change it where `apply` is true',
    body: inputs.importPrices,
    maxBodyBytes: longestDocument,
    reply: imported,
    run: async ({ admin, body }) => ({ body: await importPrices(admin, body) }),
  }),
]
