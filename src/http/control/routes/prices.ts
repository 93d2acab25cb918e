// Routes for rate cards: list, set from now or later, withdraw, roll back, import.

import { z } from '@hono/zod-openapi'
import type { Difference } from '../../../admin/price-card.ts'
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
import type { EventChanges } from '../../../store/control.ts'
import { flag, nanoSchema, pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

/** Largest body in bytes: a published price document covers every vendor. */
const longestDocument = 8 * 1_048_576

const prices = z.record(z.string(), z.string()).readonly().openapi({
  description: 'Decimal price of a million units in the currency, by the name of the price',
})

const card = {
  model: z.string(),
  version: z.number().int(),
  from: timeSchema.openapi({ description: 'When the card takes or took effect' }),
  origin: z.enum(['file', 'shipped', 'set', 'import']).openapi({
    description:
      'Source of the card: configuration file, shipped catalogue, set here, or imported here',
  }),
  prices,
  source: z.string().openapi({ description: 'Where the prices come from, as given' }),
  sourceDate: z.string().nullable().openapi({ description: 'Date of the source; null: not known' }),
  actor: z.string().nullable().openapi({ description: 'Who stored the card; null: the gateway' }),
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
        before: z.string().nullable().openapi({
          description: 'Price of a million units before; null: there was none',
        }),
        after: z.string().nullable().openapi({
          description: 'Price of a million units after; null: there is none',
        }),
        percent: z.string().nullable().openapi({
          description:
            'Change in percent, such as `+33.3`; null: there was no price before, or it was 0',
        }),
        large: z.boolean().openapi({
          description: 'Whether the price changes more than tenfold, or to or from 0',
        }),
      })
      .openapi('PriceDifference'),
  )
  .readonly()

const isInFile = z.boolean().openapi({
  description:
    'Whether the configuration file prices the model, so that the card takes effect only once it no longer does',
})

const change = z
  .object({
    card: cardSchema.nullable().openapi({
      description:
        'The new card; null: nothing was changed, since a difference is large and `allowLarge` was not given',
    }),
    differences,
    isUnknown: z.boolean().openapi({
      description: 'Whether no model of this name is known or has had a price',
    }),
    missing: z.string().nullable().openapi({
      description: 'Price without which requests to the model are refused; null: none is missing',
    }),
    isInFile,
  })
  .openapi('PriceChangeMade')

const imported = z
  .object({
    applied: z.boolean().openapi({ description: 'Whether the prices were stored' }),
    models: z.number().int().openapi({
      description: 'Number of models that the document prices',
    }),
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
    versions: z.array(z.number().int()).readonly().openapi({
      description:
        'Versions of the new cards, in the order of `changes`; empty: nothing was stored',
    }),
    refused: z.array(z.string()).readonly().openapi({
      description:
        'Models for which nothing was stored at all, since their change is large and `allowLarge` was not given',
    }),
    inFile: z.array(z.string()).readonly().openapi({
      description: 'Changed models that the configuration file prices, which takes precedence',
    }),
  })
  .openapi('PriceImport')

const effect = z
  .object({
    currency: z.string(),
    since: timeSchema,
    until: timeSchema,
    coveredSince: timeSchema.nullable().openapi({
      description:
        'Requests before this time were not priced, since there are too many; null: all were',
    }),
    requests: z
      .number()
      .int()
      .openapi({ description: 'Number of priced requests that asked for the model by this name' }),
    thenNano: nanoSchema.openapi({
      description: 'Charges and write-offs of these requests at the time, in nano-units',
    }),
    proposedNano: nanoSchema.openapi({
      description: 'Their cost at the proposed prices, in nano-units',
    }),
    differenceNano: nanoSchema.openapi({
      description: '`proposedNano` less `thenNano`; positive: dearer',
    }),
    unpriced: z.object({ requests: z.number().int(), thenNano: nanoSchema }).openapi({
      description:
        'Requests that are in no sum, since they used something that the proposed card has no price for',
    }),
  })
  .openapi('PriceEffect')

const missing = z
  .object({
    model: z.string(),
    reason: z.string().openapi({ description: 'What is missing' }),
    groups: z.array(z.string()).readonly().openapi({ description: 'Groups that have the model' }),
    channels: z.array(z.string()).readonly().openapi({
      description:
        'Channels that list the model by name; those with a pattern, or with all models of their vendor, are left out',
    }),
    refused: z
      .number()
      .int()
      .openapi({
        description:
          'Number of requests for it that were refused with 503 before any channel was asked, among those of the last ' +
          '7 days, at most the newest 50,000',
      }),
  })
  .openapi('MissingPrice')

const shippedDifference = z
  .object({
    model: z.string(),
    version: z.number().int().openapi({ description: 'Version of the card in force' }),
    origin: card.origin,
    prices,
    shipped: prices.openapi({ description: 'Shipped prices, in the same form' }),
    source: z.string().openapi({ description: 'Where the shipped prices come from' }),
    sourceDate: z.string().nullable(),
    differences,
  })
  .openapi('ShippedPriceDifference')

/** How far back refused requests for unpriced models are searched. */
const askedMs = 7 * 86_400_000

/** The changes of an operator event. */
function changesOf(differences: readonly Difference[]): EventChanges {
  return Object.fromEntries(differences.map(({ name, before, after }) => [name, { before, after }]))
}

const changing = { method: 'post', tag: 'Prices', access: 'admin', targetField: 'model' } as const

export const priceRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/prices',
    id: 'listPrices',
    tag: 'Prices',
    summary: 'List price cards with their source',
    access: 'auditor',
    query: inputs.listPrices.extend({
      all: flag.default(false).openapi({ description: 'true: also replaced and scheduled cards' }),
      scheduled: flag
        .default(false)
        .openapi({ description: 'true: only cards that have not taken effect yet' }),
      ...pageQuery,
    }),
    reply: pageOf(listedCard),
    run: async ({ admin, query }) => ({ body: await listPrices(admin, query) }),
  }),
  route({
    ...changing,
    path: '/api/prices',
    id: 'setPrices',
    summary: 'Set the prices of a model, from now or from a later time',
    description:
      'Adds a card of all given prices. If a price changes more than tenfold, or to or from 0, nothing is stored and ' +
      '`card` is null, unless `allowLarge` is true. Refused with 409 if prices were changed meanwhile.',
    body: inputs.setPrices,
    reply: change,
    async run({ admin, body, noted }) {
      const made = await setPrices(admin, body)
      const applied = made.card !== null
      noted({ ...body, applied }, applied ? changesOf(made.differences) : null)
      return { body: made }
    },
  }),
  route({
    method: 'get',
    path: '/api/prices/missing',
    id: 'listMissingPrices',
    tag: 'Prices',
    summary: 'List models without a price, whose requests are refused',
    description:
      'Models that channels serve or clients asked for; those with the most refused requests first.',
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
    summary: 'List the models whose price in force differs from the shipped price',
    description:
      '`POST /api/prices/withdraw` adopts the shipped prices of one model whose prices were set or imported. To ' +
      'compare with a published document, use `POST /api/prices/import`, also for one `model`.',
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
    summary: 'Compute what proposed prices would have charged for the requests of the last 7 days',
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
    summary: 'Cancel a scheduled price card',
    body: inputs.cancelPrices,
    reply: cardSchema,
    async run({ admin, body, noted }) {
      const { card, differences } = await cancelPrices(admin, body)
      noted(body, changesOf(differences))
      return { body: card }
    },
  }),
  route({
    ...changing,
    path: '/api/prices/withdraw',
    id: 'withdrawPrices',
    summary: 'Withdraw the prices that were set for a model, so that the shipped prices apply',
    body: inputs.withdrawPrices,
    reply: cardSchema,
    async run({ admin, body, noted }) {
      const { card, differences } = await withdrawPrices(admin, body)
      noted(body, changesOf(differences))
      return { body: card }
    },
  }),
  route({
    ...changing,
    path: '/api/prices/rollback',
    id: 'rollbackPrices',
    summary: 'Restore an earlier version of a model’s prices',
    description:
      'Adds the earlier card as a new version. Without `version`, the card before the one in force.',
    body: inputs.rollbackPrices,
    reply: z.object({ card: cardSchema, isInFile }),
    async run({ admin, body, noted }) {
      const { differences, ...made } = await rollbackPrices(admin, body)
      noted(body, changesOf(differences))
      return { body: made }
    },
  }),
  route({
    ...changing,
    path: '/api/prices/import',
    id: 'importPrices',
    summary: 'Import prices from a document, or preview an import',
    description:
      'With `apply: true` stores all changes or none: none if one is large and `allowLarge` is not true. Without it, ' +
      'only shows the changes. `vendor` names the vendor of the document, and `model` restricts it to a name or a ' +
      'pattern ending in `*`.',
    body: inputs.importPrices,
    maxBodyBytes: longestDocument,
    reply: imported,
    async run({ admin, body, noted }) {
      const made = await importPrices(admin, body)
      const { document: _, ...asked } = body
      const changed = made.changes.map(({ model }) => model)
      // Not the document, which may be megabytes: each card that was stored keeps its prices and its source.
      noted({ ...asked, applied: made.applied, changed, versions: made.versions })
      return { body: made }
    },
  }),
]
