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
    name: z.string().openapi({
      description: 'Name of the price on the rate card',
      example: 'input>200000',
    }),
    unit: z.string().openapi({ description: 'Unit that is counted', example: 'token' }),
    above: z.number().int().openapi({
      description: 'The price applies to prompts longer than this many tokens; 0: to all',
    }),
    priceNano: nanoSchema.openapi({
      description: 'Price of a million units for the group, in nano-units, multiplier included',
    }),
    baseNano: nanoSchema.openapi({
      description: 'Price of a million units without the group’s multiplier, in nano-units',
    }),
    officialNano: nanoSchema.nullable().openapi({
      description: 'Published price of a million units, in nano-units; null: none is shipped',
    }),
  })
  .openapi('PriceLine')

const modality = inputs.listModels.shape.modality.unwrap()
const sample = z
  .number()
  .int()
  .openapi({ description: 'Number of requests that the figure is computed from' })

const live = z
  .object({
    begun: sample.openapi({
      description:
        'Requests with a first token: the sample of `ttft` and `speed`, given even where it is too small for them',
    }),
    tried: sample.openapi({
      description:
        'Requests that succeeded or failed with 5xx: the sample of `success`, given even where it is too small for it',
    }),
    ttft: z.object({ p50Ms: z.number(), p95Ms: z.number(), sample }).nullable().openapi({
      description: 'Time to the first token in ms: median and 95th percentile',
    }),
    speed: z.object({ tokensPerSecond: z.number(), sample }).nullable().openapi({
      description: 'Speed of streams from the first token on',
    }),
    success: z.object({ percent: z.number(), sample }).nullable().openapi({
      description: 'Percentage of requests that succeeded; refused requests (4xx) do not count',
    }),
  })
  .openapi('ModelLive', {
    description:
      'Figures of the last 24 hours for all accounts together; a figure of fewer than 30 requests is null',
  })

const model = z
  .object({
    id: z.string(),
    kind: inputs.listModels.shape.kind.unwrap(),
    vendor: z.string().openapi({ description: 'Maker of the model, whichever channel serves it' }),
    context: z.number().int().nullable().openapi({
      description: 'Context window in tokens; null: not known',
    }),
    maxOutput: z.number().int().nullable().openapi({
      description: 'Most tokens of a reply; null: not known',
    }),
    inputs: z.array(modality).readonly(),
    outputs: z.array(modality).readonly(),
    vision: z.boolean().openapi({ description: 'Whether it takes images' }),
    tools: z.boolean().nullable().openapi({
      description: 'Whether it can call tools; null: not known',
    }),
    reasoning: z.boolean().nullable().openapi({
      description: 'Whether it reasons before it replies; null: not known',
    }),
    jsonSchema: z.boolean().nullable().openapi({
      description:
        'Whether it can reply in JSON that follows a schema (`response_format`); null: not known',
    }),
    endpoints: z
      .array(z.string())
      .readonly()
      .openapi({ description: 'Paths at which it can be called' }),
    since: timeSchema.openapi({ description: 'When this deployment first had a price for it' }),
    group: z.string().openapi({ description: 'Group whose price is shown' }),
    currency: z.string(),
    price: z.object({
      version: z.number().int(),
      from: timeSchema.nullable().openapi({
        description: 'When this version took effect; null: it always was in effect',
      }),
      updatedAt: timeSchema.openapi({ description: 'When this version was stored' }),
      origin: z.enum(['file', 'shipped', 'set', 'import']),
      multiplier: z.string().openapi({ description: 'Multiplier of the group for this model' }),
      lines: z.array(line).readonly(),
    }),
    groups: z
      .array(z.string())
      .readonly()
      .openapi({ description: 'Groups that the caller may see and that have the model' }),
    keyGroups: z
      .array(z.string())
      .readonly()
      .openapi({ description: 'Those of `groups` of which the caller has keys' }),
    live: live.nullable().openapi({ description: 'null: no requests in the last 24 hours' }),
  })
  .openapi('Model')

const change = z
  .object({
    model: z.string(),
    version: z.number().int(),
    from: timeSchema.openapi({ description: 'When the change takes or took effect' }),
    announcedAt: timeSchema.openapi({
      description: 'When the change was stored; earlier than `from` where it was scheduled',
    }),
    state: z.enum(['scheduled', 'in force', 'past']),
    lines: z.array(line).readonly().openapi({
      description: 'Prices after the change; empty: the model has no price from then on',
    }),
    steps: z
      .array(
        z.object({
          name: z.string(),
          beforeNano: nanoSchema.nullable().openapi({
            description: 'Price of a million units before, in nano-units; null: there was none',
          }),
          afterNano: nanoSchema.nullable().openapi({
            description: 'Price of a million units after, in nano-units; null: there is none',
          }),
          percent: z.string().nullable().openapi({
            description: 'Change in percent; null: there was no price before, or it was 0',
            example: '+33.3',
          }),
        }),
      )
      .readonly(),
  })
  .openapi('PriceChange')

const group = inputs.showModel.shape.group.openapi({
  description:
    'Group whose prices are shown; left out: the caller’s first group, or for visitors the first public group',
})
const id = z.strictObject({
  id: z.string().openapi({
    description: 'Name of the model; a slash in it is written `%2F`',
    example: 'gpt-4o-mini',
  }),
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
    summary: 'List the models of a group with their prices',
    description:
      'Callers who are not signed in see the groups that the configuration makes public. `search` finds a part of ' +
      'the name or of the vendor. `context` is the smallest context window in tokens.',
    access: 'public',
    query: inputs.listModels.extend({
      group,
      context: wholeNumber(1, 1_000_000_000)
        .optional()
        .openapi({ description: 'Only models with at least this context window, in tokens' }),
      tools: flag.optional().openapi({ description: 'Whether the models can call tools' }),
      vision: flag.optional().openapi({ description: 'Whether the models take images' }),
      reasoning: flag
        .optional()
        .openapi({ description: 'Whether the models reason before they reply' }),
      jsonSchema: flag
        .optional()
        .openapi({ description: 'Whether the models can follow a JSON schema' }),
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
    summary: 'List the values by which the models of a group can be filtered',
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
    summary: 'Get a model with its price for a group',
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
    summary: 'List past and scheduled price changes of a model, newest first',
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
      summary: `Get the latest price changes as ${title}`,
      access: 'public',
      query: z.strictObject({ group }),
      produces: [type],
      statuses: { 304: 'Not modified since the ETag in If-None-Match' },
      async run(asked) {
        const { request, services, query } = asked
        const feed = priceFeed(await services.running.offer(), await viewerOf(asked), query)
        const place = feedPlace(request, services.config().server.publicUrl)
        return feedReply(request, type, write(feed, place))
      },
    }),
  ),
]
