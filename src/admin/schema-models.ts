// Input schemas of models and their prices.

import { z } from 'zod'
import { modelKinds } from '../config/schema.ts'
import { count, page, since, text } from './schema-parts.ts'

const sorts = ['name', 'price', 'outputPrice', 'newest', 'latency', 'throughput'] as const

export const modelsInputs = {
  listModels: z.strictObject({
    /** The group whose prices are shown; left out: the viewer's first. */
    group: text.optional(),
    /** Part of the name, or of the vendor's. */
    search: text.optional(),
    kind: z.enum(modelKinds, `expected one of ${modelKinds.join(', ')}`).optional(),
    vendor: text.optional(),
    /** An input that the model takes. */
    modality: z
      .enum(['text', 'image', 'audio', 'video'], 'expected one of text, image, audio, video')
      .optional(),
    /** Least context window in tokens. */
    context: count(1_000_000_000).optional(),
    tools: z.boolean('expected true or false').optional(),
    vision: z.boolean('expected true or false').optional(),
    reasoning: z.boolean('expected true or false').optional(),
    /** Whether it can follow a JSON schema. */
    jsonSchema: z.boolean('expected true or false').optional(),
    /** A path at which it can be asked: `/v1/messages`. */
    endpoint: text.optional(),
    sort: z.enum(sorts, `expected one of ${sorts.join(', ')}`).default('name'),
    ...page,
  }),
  modelChoices: z.strictObject({ group: text.optional() }),
  showModel: z.strictObject({ model: text, group: text.optional() }),
  priceHistory: z.strictObject({ model: text, group: text.optional(), ...page }),
  whatIf: z.strictObject({
    account: text.optional(),
    key: text.optional(),
    days: count(90).default(30),
    /** Replaces `days`: a span of at most 90 days. */
    since: since.optional(),
    /** Left out: now. */
    until: since.optional(),
    /** Left out: the model of each request. */
    model: text.optional(),
    /** Left out: the group of each request. */
    group: text.optional(),
  }),
  listGroups: z.strictObject(page),
  priceFeed: z.strictObject({ group: text.optional() }),
}
