// Input schemas of models and their prices.

import { z } from 'zod'
import { modelKinds } from '../config/schema.ts'
import { count, page, since, someAccount, text } from './schema-parts.ts'

const sorts = ['name', 'price', 'outputPrice', 'newest', 'latency', 'throughput'] as const

export const modelsInputs = {
  listModels: z.strictObject({
    /** The group whose prices are shown; left out: the viewer's first. */
    group: text.optional(),
    search: text.optional().describe('Part of the model’s name or of the vendor’s, in any case'),
    kind: z
      .enum(modelKinds, `expected one of ${modelKinds.join(', ')}`)
      .optional()
      .describe('Only models of this kind'),
    vendor: text.optional().describe('Only models of this vendor'),
    modality: z
      .enum(['text', 'image', 'audio', 'video'], 'expected one of text, image, audio, video')
      .optional()
      .describe('Only models that take this kind of input'),
    /** Least context window in tokens. */
    context: count(1_000_000_000).optional(),
    tools: z.boolean('expected true or false').optional(),
    vision: z.boolean('expected true or false').optional(),
    reasoning: z.boolean('expected true or false').optional(),
    /** Whether it can follow a JSON schema. */
    jsonSchema: z.boolean('expected true or false').optional(),
    endpoint: text
      .optional()
      .describe('Only models that can be called at this path, such as `/v1/messages`'),
    sort: z
      .enum(sorts, `expected one of ${sorts.join(', ')}`)
      .default('name')
      .describe('Sort key; prices and latency ascending, the newest and the fastest first'),
    ...page,
  }),
  modelChoices: z.strictObject({ group: text.optional() }),
  showModel: z.strictObject({ model: text, group: text.optional() }),
  priceHistory: z.strictObject({ model: text, group: text.optional(), ...page }),
  whatIf: z.strictObject({
    account: text.optional().describe(someAccount),
    key: text.optional().describe('Only requests of this key, by its id'),
    days: count(90).default(30),
    since: since
      .optional()
      .describe('Begin of the period, in place of `days`, at most 90 days before its end'),
    until: since.optional().describe('End of the period, not included; left out: now'),
    model: text.optional().describe('Model to compute with; left out: the model of each request'),
    group: text.optional().describe('Group to compute with; left out: the group of each request'),
  }),
  listGroups: z.strictObject(page),
  priceFeed: z.strictObject({ group: text.optional() }),
}
