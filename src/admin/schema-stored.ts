// Input schemas of channels, groups and models made at run time; their documents follow the configuration's schema.

import { z } from 'zod'
import { channel, channelStates, group, model } from '../config/schema.ts'
import { identifier, modelPattern } from '../config/schema-parts.ts'
import { count, page, text } from './schema-parts.ts'

/** The revision that was read; left out: any revision is changed. */
const revision = z.number().int().min(0).optional()
const version = count(Number.MAX_SAFE_INTEGER).describe('Version to restore')
/** A section as in the configuration file; members that are null or left out have their defaults. */
const document = z.looseObject({})
const priority = z.number().int().min(-1_000_000).max(1_000_000)
const weight = z.number().int().min(0).max(1_000_000)
const groups = z
  .array(text)
  .nullable()
  .describe('Groups that the channels serve; null: every group')
const state = z.enum(channelStates, `expected one of ${channelStates.join(', ')}`)

const testedModel =
  'Public name of the model to test with; left out: the first of the channel that can be tested'

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
      ids: z.array(text).min(1).max(1_000).optional().describe('Ids of the channels to change'),
      tag: text.optional().describe('Tag of the channels to change, in place of `ids`'),
      changes: z
        .strictObject({ state, priority, weight, groups })
        .partial()
        .describe('New values; fields that are left out are not changed'),
    })
    .refine(({ ids, tag }) => (ids === undefined) !== (tag === undefined), {
      path: ['ids'],
      error: 'expected either ids or tag',
    }),
  testChannel: z.strictObject({ id: text, model: text.optional().describe(testedModel) }),
  draftChannel: z.strictObject({ channel: document.extend({ id: z.string() }) }),
  testDraft: z.strictObject({
    channel: document.extend({ id: z.string() }),
    model: text.optional().describe(testedModel),
  }),
  previewRouting: z.strictObject({
    model: text.describe('Model that a client asks for'),
    group: text.describe('Group of the client’s key'),
  }),
  importChannels: z.strictObject({
    channels: z
      .array(document.extend({ id: z.string() }))
      .max(1_000, 'expected at most 1000 channels')
      .describe('Channels in the form of the configuration file’s `channels`'),
    apply: z
      .boolean('expected true or false')
      .default(false)
      .describe('true: stores the channels; else only a preview'),
  }),
}
