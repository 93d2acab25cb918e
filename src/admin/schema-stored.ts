// Input schemas of channels, groups and models made at run time; their documents follow the configuration's schema.

import { z } from 'zod'
import { channel, channelStates, group, model } from '../config/schema.ts'
import { identifier, modelPattern } from '../config/schema-parts.ts'
import { count, page, text } from './schema-parts.ts'

/** The revision that was read; left out: any revision is changed. */
const revision = z.number().int().min(0).optional()
const version = count(Number.MAX_SAFE_INTEGER)
/** A section as in the configuration file; members that are null or left out have their defaults. */
const document = z.looseObject({})
const priority = z.number().int().min(-1_000_000).max(1_000_000)
const weight = z.number().int().min(0).max(1_000_000)
const groups = z.array(text).nullable()
const state = z.enum(channelStates, `expected one of ${channelStates.join(', ')}`)

export const storedInputs = {
  storedChannel: channel,
  storedGroup: group.extend({ id: identifier }),
  storedModel: model.omit({ prices: true }).extend({ id: modelPattern }),
  changeItem: z.strictObject({ id: text, changes: document, revision }),
  removeItem: z.strictObject({ id: text, revision }),
  rollbackItem: z.strictObject({ id: text, version, revision }),
  listVersions: z.strictObject({ id: text, ...page }),
  changeChannels: z
    .strictObject({
      ids: z.array(text).min(1).max(1_000).optional(),
      tag: text.optional(),
      changes: z.strictObject({ state, priority, weight, groups }).partial(),
    })
    .refine(({ ids, tag }) => (ids === undefined) !== (tag === undefined), {
      path: ['ids'],
      error: 'expected either ids or tag',
    }),
  testChannel: z.strictObject({ id: text, model: text.optional() }),
  draftChannel: z.strictObject({ channel: document.extend({ id: z.string() }) }),
  testDraft: z.strictObject({
    channel: document.extend({ id: z.string() }),
    model: text.optional(),
  }),
  previewRouting: z.strictObject({ model: text, group: text }),
  importChannels: z.strictObject({
    channels: z
      .array(document.extend({ id: z.string() }))
      .max(1_000, 'expected at most 1000 channels'),
    apply: z.boolean('expected true or false').default(false),
  }),
}
