// Routes for models and their prices, most of them public: a visitor sees the groups that the file makes public.

import { z } from '@hono/zod-openapi'
import { listModels, modelChoices, showModel } from '../../../admin/models.ts'
import { jsonFeed, priceFeed, rssFeed } from '../../../admin/price-feed.ts'
import { priceHistory } from '../../../admin/price-history.ts'
import { inputs } from '../../../admin/schema.ts'
import { feedPlace, feedReply } from '../feed-reply.ts'
import { flag, nanoSchema, pageOf, pageQuery, timeSchema, wholeNumber } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { viewerOf } from '../viewer.ts'

const line = z
  .object({
    name: z.string().openapi({ example: 'input>200000' }),
    unit: z.string().openapi({ example: 'token' }),
    above: z.number().int().openapi({ description: 'Of prompts longer than so many tokens' }),
    priceNano: nanoSchema.openapi({ description: 'For a million, with the multiplier' }),
    baseNano: nanoSchema.openapi({ description: 'For a million, without the multiplier' }),
    officialNano: nanoSchema.nullable().openapi({ description: 'What the vendor publishes' }),
  })
  .openapi('PriceLine')

const modality = inputs.listModels.shape.modality.unwrap()
const sample = z.number().int().openapi({ description: 'Of so many requests' })

const live = z
  .object({
    begun: sample.openapi({ description: 'Requests that `ttft` and `speed` are of, however few' }),
    tried: sample.openapi({ description: 'Requests that `success` is of, however few' }),
    ttft: z.object({ p50Ms: z.number(), p95Ms: z.number(), sample }).nullable(),
    speed: z.object({ tokensPerSecond: z.number(), sample }).nullable(),
    success: z.object({ percent: z.number(), sample }).nullable(),
  })
  .openapi('ModelLive', {
    description: 'Of the last 24 hours, all accounts together; null below 30 requests',
  })

const model = z
  .object({
    id: z.string(),
    kind: inputs.listModels.shape.kind.unwrap(),
    vendor: z.string(),
    context: z.number().int().nullable(),
    maxOutput: z.number().int().nullable(),
    inputs: z.array(modality).readonly(),
    outputs: z.array(modality).readonly(),
    vision: z.boolean(),
    tools: z.boolean().nullable().openapi({ description: 'null: not known' }),
    reasoning: z.boolean().nullable().openapi({ description: 'null: not known' }),
    jsonSchema: z.boolean().nullable().openapi({
      description: 'Answers in JSON that keeps to a schema (`response_format`); null: not known',
    }),
    endpoints: z.array(z.string()).readonly(),
    since: timeSchema,
    group: z.string(),
    currency: z.string(),
    price: z.object({
      version: z.number().int(),
      from: timeSchema.nullable(),
      updatedAt: timeSchema,
      origin: z.enum(['file', 'shipped', 'set', 'import']),
      multiplier: z.string(),
      lines: z.array(line).readonly(),
    }),
    groups: z.array(z.string()).readonly(),
    keyGroups: z.array(z.string()).readonly(),
    live: live.nullable(),
  })
  .openapi('Model')

const change = z
  .object({
    model: z.string(),
    version: z.number().int(),
    from: timeSchema,
    announcedAt: timeSchema,
    state: z.enum(['scheduled', 'in force', 'past']),
    lines: z.array(line).readonly(),
    steps: z
      .array(
        z.object({
          name: z.string(),
          beforeNano: nanoSchema.nullable(),
          afterNano: nanoSchema.nullable(),
          percent: z.string().nullable().openapi({ example: '+33.3' }),
        }),
      )
      .readonly(),
  })
  .openapi('PriceChange')

const group = inputs.showModel.shape.group.openapi({
  description: 'Whose prices; left out: those of your own first group, or of the first public one',
})
const id = z.strictObject({
  id: z.string().openapi({ description: 'A slash in it is written %2F', example: 'gpt-4o-mini' }),
})

const feeds = [
  { name: 'json', type: 'application/feed+json', write: jsonFeed, title: 'JSON Feed 1.1' },
  { name: 'rss', type: 'application/rss+xml', write: rssFeed, title: 'RSS 2.0' },
] as const

export const modelRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/models',
    id: 'listModels',
    tag: 'Models',
    summary: 'The models of a group, with what they cost it',
    description: 'Without signing in, of the groups that are public.',
    access: 'public',
    query: inputs.listModels.extend({
      group,
      context: wholeNumber(1, 1_000_000_000).optional(),
      tools: flag.optional(),
      vision: flag.optional(),
      reasoning: flag.optional(),
      jsonSchema: flag.optional(),
      ...pageQuery,
    }),
    reply: pageOf(model),
    async run(asked) {
      const viewer = await viewerOf(asked)
      return { body: listModels(await asked.services.running.offer(), viewer, asked.query) }
    },
  }),
  route({
    method: 'get',
    path: '/api/model-choices',
    id: 'listModelChoices',
    tag: 'Models',
    summary: 'What the models of a group can be narrowed down to',
    access: 'public',
    query: z.strictObject({ group }),
    reply: z.object({
      kinds: z.array(model.shape.kind).readonly(),
      vendors: z.array(z.string()).readonly(),
      endpoints: z.array(z.string()).readonly(),
    }),
    async run(asked) {
      const viewer = await viewerOf(asked)
      return { body: modelChoices(await asked.services.running.offer(), viewer, asked.query) }
    },
  }),
  route({
    method: 'get',
    path: '/api/models/{id}',
    id: 'showModel',
    tag: 'Models',
    summary: 'A model, with what it costs a group',
    access: 'public',
    params: id,
    query: z.strictObject({ group }),
    reply: model,
    async run(asked) {
      const input = { ...asked.query, model: asked.params.id }
      const viewer = await viewerOf(asked)
      return { body: showModel(await asked.services.running.offer(), viewer, input) }
    },
  }),
  route({
    method: 'get',
    path: '/api/models/{id}/prices',
    id: 'listModelPrices',
    tag: 'Models',
    summary: 'How the prices of a model have changed, and will',
    access: 'public',
    params: id,
    query: z.strictObject({ group, ...pageQuery }),
    reply: pageOf(change),
    async run(asked) {
      const input = { ...asked.query, model: asked.params.id }
      const viewer = await viewerOf(asked)
      return { body: priceHistory(await asked.services.running.offer(), viewer, input) }
    },
  }),
  ...feeds.map(({ name, type, write, title }) =>
    route({
      method: 'get',
      path: `/api/prices/feed.${name}`,
      id: `priceFeed${name.toUpperCase()}`,
      tag: 'Models',
      summary: `The latest changes of prices, as ${title}`,
      access: 'public',
      query: z.strictObject({ group }),
      produces: [type],
      statuses: { 304: 'Nothing has changed' },
      async run(asked) {
        const { request, services, query } = asked
        const feed = priceFeed(await services.running.offer(), await viewerOf(asked), query)
        const place = feedPlace(request, services.config().server.publicUrl)
        return feedReply(request, type, write(feed, place))
      },
    }),
  ),
]
