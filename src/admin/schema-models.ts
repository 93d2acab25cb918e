// What the use cases of models and their prices take.

import { z } from 'zod'
import { modelKinds } from '../config/schema.ts'
import { count, page, since, text } from './schema-parts.ts'

const sorts = ['name', 'price', 'outputPrice', 'newest', 'latency', 'throughput'] as const

export const modelsInputs = {
  listModels: z.strictObject({
    /** Whose prices are shown; left out: the viewer's own. */
    group: text.optional(),
    /** A part of the name, or of the vendor's. */
    search: text.optional(),
    kind: z.enum(modelKinds, `expected one of ${modelKinds.join(', ')}`).optional(),
    vendor: text.optional(),
    /** What it takes. */
    modality: z
      .enum(['text', 'image', 'audio', 'video'], 'expected one of text, image, audio, video')
      .optional(),
    /** At least so many tokens. */
    context: count(1_000_000_000).optional(),
    tools: z.boolean('expected true or false').optional(),
    vision: z.boolean('expected true or false').optional(),
    reasoning: z.boolean('expected true or false').optional(),
    /** Keeps to a JSON schema. */
    jsonSchema: z.boolean('expected true or false').optional(),
    /** Where it can be asked: `/v1/messages`. */
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
    /** In place of `days`: a span of at most 90 of them. */
    since: since.optional(),
    /** Left out: now. */
    until: since.optional(),
    /** Left out: the one that was asked. */
    model: text.optional(),
    /** Left out: the one each request was in. */
    group: text.optional(),
  }),
  listGroups: z.strictObject(page),
  priceFeed: z.strictObject({ group: text.optional() }),
}
