// Routes for rate cards: list, set from now or later, withdraw, roll back, import.

import { z } from '@hono/zod-openapi'
import { priceEffect } from '../../../admin/price-effect.ts'
import { importPrices } from '../../../admin/price-import.ts'
import { missingPrices } from '../../../admin/price-missing.ts'
import { shippedDifferences } from '../../../admin/price-shipped.ts'
import {
  cancelPrices,
  listPrices,
  rollbackPrices,
  setPrices,
  withdrawPrices,
} from '../../../admin/prices.ts'
import { inputs } from '../../../admin/schema.ts'
import { flag, nanoSchema, pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

/** Largest body in bytes: a published price document covers every vendor. */
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

const effect = z
  .object({
    currency: z.string(),
    since: timeSchema,
    until: timeSchema,
    coveredSince: timeSchema.nullable().openapi({
      description: 'Requests before this moment were not looked at: there are too many',
    }),
    requests: z.number().int().openapi({ description: 'That asked for the model by this name' }),
    thenNano: nanoSchema.openapi({ description: 'What was paid and what was written off' }),
    proposedNano: nanoSchema,
    differenceNano: nanoSchema.openapi({ description: 'Above 0: dearer' }),
    unpriced: z.object({ requests: z.number().int(), thenNano: nanoSchema }).openapi({
      description: 'In no sum: they used what the card has no price for, which would be free',
    }),
  })
  .openapi('PriceEffect')

const missing = z
  .object({
    model: z.string(),
    reason: z.string(),
    groups: z.array(z.string()).readonly().openapi({ description: 'That have it' }),
    channels: z.array(z.string()).readonly().openapi({
      description: 'That name it; one of a pattern, or of all its vendor has, names none',
    }),
    refused: z.number().int().openapi({
      description:
        'Of the last 7 days, or of their newest 50 000 requests: refused with 503 before any channel was asked',
    }),
  })
  .openapi('MissingPrice')

const shippedDifference = z
  .object({
    model: z.string(),
    version: z.number().int().openapi({ description: 'Of the card in force' }),
    origin: card.origin,
    prices,
    shipped: prices,
    source: z.string().openapi({ description: 'Of the shipped prices' }),
    sourceDate: z.string().nullable(),
    differences,
  })
  .openapi('ShippedPriceDifference')

/** How far back refused requests for unpriced models are searched. */
const askedMs = 7 * 86_400_000

const changing = { method: 'post', tag: 'Prices', access: 'admin' } as const

export const priceRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/prices',
    id: 'listPrices',
    tag: 'Prices',
    summary: 'Cards of prices, with who set them and from where',
    access: 'auditor',
    query: inputs.listPrices.extend({
      all: flag.default(false),
      scheduled: flag.default(false).openapi({ description: 'Those that have not begun, alone' }),
      ...pageQuery,
    }),
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
    async run({ admin, body, noted }) {
      const made = await setPrices(admin, body)
      const side = (which: 'before' | 'after') =>
        Object.fromEntries(made.differences.map((each) => [each.name, each[which]]))
      noted({ ...body, applied: made.card !== null, before: side('before'), after: side('after') })
      return { body: made }
    },
  }),
  route({
    method: 'get',
    path: '/api/prices/missing',
    id: 'listMissingPrices',
    tag: 'Prices',
    summary: 'Models that are served or asked for and have no price: their requests are refused',
    access: 'auditor',
    reply: pageOf(missing),
    async run({ admin, services: { running } }) {
      const { store, nowMs } = admin
      const items = await missingPrices(store.usage, await running.offer(), nowMs - askedMs)
      return { body: { items, next: null } }
    },
  }),
  route({
    method: 'get',
    path: '/api/prices/diff',
    id: 'listShippedPriceDifferences',
    tag: 'Prices',
    summary: 'Where prices in force are not those that are shipped',
    description:
      'Each is taken by itself: `POST /api/prices/withdraw` where it was set or imported. A published document is compared by `POST /api/prices/import`, which takes one `model` of it too.',
    access: 'auditor',
    query: inputs.shippedDifferences.extend(pageQuery),
    reply: pageOf(shippedDifference),
    run: async ({ admin, query }) => ({ body: await shippedDifferences(admin, query) }),
  }),
  route({
    method: 'post',
    path: '/api/prices/effect',
    id: 'readPriceEffect',
    tag: 'Prices',
    summary: "What proposed prices would have brought of the last 7 days' requests",
    access: 'auditor',
    reads: true,
    body: inputs.priceEffect,
    reply: effect,
    run: async ({ admin, body }) => ({ body: await priceEffect(admin, body) }),
  }),
  route({
    ...changing,
    path: '/api/prices/cancel',
    id: 'cancelPrices',
    summary: 'Take back a card that has not begun',
    body: inputs.cancelPrices,
    reply: cardSchema,
    run: async ({ admin, body }) => ({ body: await cancelPrices(admin, body) }),
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
