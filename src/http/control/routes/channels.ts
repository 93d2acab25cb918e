// Routes for channels: their settings and health, and channels that are created at run time.

import { z } from '@hono/zod-openapi'
import { askBalance, balanceAction } from '../../../admin/channel-balances.ts'
import { testAction } from '../../../admin/channel-tests.ts'
import {
  listChannels,
  listDraftModels,
  listVendorModels,
  listVendors,
  showChannel,
  testChannel,
  testDraft,
} from '../../../admin/channels.ts'
import { inputs } from '../../../admin/schema.ts'
import { changeChannels, exportChannels, importChannels } from '../../../admin/stored-channels.ts'
import {
  type Changed,
  createItem,
  listVersions,
  removeItem,
  rollbackItem,
  updateItem,
} from '../../../admin/stored-items.ts'
import { channel as channelSection, channelStates } from '../../../config/schema.ts'
import { nanoSchema, pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRequest, type ControlRoute, route } from '../route.ts'
import {
  changesOf,
  detailOf,
  documentOf,
  documentSchema,
  itemParams,
  rollbackBody,
  versionsOf,
} from './stored-parts.ts'

const figures = z.object({
  requests: z.number().int(),
  successPercent: z.number().nullable(),
  p95Ms: z.number().nullable(),
  chargeNano: nanoSchema,
  vendorCostNano: nanoSchema,
})

const reasons = ['breaker', 'rate_limited', 'quota', 'credentials', 'busy', 'failing'] as const

const balance = z
  .object({
    at: timeSchema,
    amounts: z
      .array(
        z.object({
          amount: z.string().openapi({ description: "A decimal in the vendor's currency" }),
          currency: z.string().nullable().openapi({ description: 'null: the vendor says none' }),
        }),
      )
      .readonly(),
  })
  .openapi('ChannelBalance')

const inUse = z.object({ used: z.number().int(), most: z.number().int() }).openapi('ChannelLimit', {
  description:
    'Of a minute; of all processes where Valkey shares limits, else of the one that answers. null: nothing limits it',
})

const channel = z
  .object({
    id: z.string(),
    vendor: z.string(),
    baseUrl: z.string().nullable(),
    dialect: z.string().nullable(),
    models: z.record(z.string(), z.string()).readonly().nullable().openapi({
      description: "Public name to the vendor's; null: those that are shipped of the vendor",
    }),
    groups: z.array(z.string()).readonly().nullable().openapi({ description: 'null: every group' }),
    priority: z.number().int(),
    weight: z.number(),
    origin: z.enum(['file', 'environment', 'built-in', 'stored']),
    declaredIn: z
      .string()
      .nullable()
      .openapi({ description: "The configuration file's path; null: another origin" }),
    state: z.enum(['ok', 'degraded', 'open', 'draining', 'disabled']).openapi({
      description: 'As the process that answers sees it; open: it is not asked at the moment',
    }),
    document: documentSchema,
    keys: z
      .array(
        z.object({
          name: z.string(),
          hint: z.string().openapi({ description: 'Its last four characters' }),
          state: z.enum(['in use', 'cooling', 'refused', 'disabled']),
          since: timeSchema.nullable(),
        }),
      )
      .readonly(),
    tags: z.array(z.string()).readonly(),
    reason: z.enum(reasons).nullable().openapi({
      description:
        'Why it, or a model of it, is not asked at the moment; failing: it is, but failed lately',
    }),
    since: timeSchema.nullable(),
    inFlight: z
      .number()
      .int()
      .openapi({ description: 'Requests under way, in the process that answers' }),
    requestsPerMinute: inUse.nullable(),
    tokensPerMinute: inUse.nullable(),
    overridden: z
      .boolean()
      .openapi({ description: 'The store has one of this name too, and the file stands above it' }),
    problem: z
      .string()
      .nullable()
      .openapi({ description: 'Why it does not count, though the store has it' }),
    revision: z.number().int().openapi({ description: 'Of what the store has; 0: nothing' }),
    changedAt: timeSchema.nullable(),
    actor: z.string().nullable(),
    lastTest: z
      .object({
        at: timeSchema,
        ok: z.boolean(),
        model: z.string().nullable(),
        durationMs: z.number(),
      })
      .nullable()
      .openapi({ description: 'The newest of the last seven days' }),
    offersBalance: z
      .boolean()
      .openapi({ description: 'Its vendor tells what is left of its money' }),
    balance: balance.nullable().openapi({ description: 'What it told last, within seven days' }),
    currency: z.string(),
    hour: figures,
    day: figures,
    quarters: z
      .array(
        z.object({
          since: timeSchema,
          requests: z.number().int(),
          successPercent: z.number().nullable(),
        }),
      )
      .readonly()
      .openapi({ description: 'Quarters of an hour that are in `hour`, the oldest first' }),
  })
  .openapi('Channel')

const texts = z.record(z.string(), z.string()).readonly()

const probe = z
  .object({
    ok: z.boolean(),
    model: z.string().nullable(),
    durationMs: z.number(),
    message: z.string(),
    exchange: z
      .object({
        request: z.object({
          method: z.string(),
          address: z.string(),
          headers: texts,
          body: z.string(),
        }),
        reply: z.object({ status: z.number().int(), headers: texts, body: z.string() }).nullable(),
      })
      .nullable()
      .openapi({
        description: 'What was sent and came back, secrets removed, 16 KiB of each body',
      }),
  })
  .openapi('ChannelTest')

const vendorModels = z
  .object({
    channel: z.string(),
    vendor: z.string(),
    models: z
      .array(
        z.object({
          model: z.string(),
          name: z.string().nullable().openapi({ description: 'By which callers get it' }),
          kind: z.string(),
          context: z.number().int().nullable(),
          problem: z.string().nullable().openapi({ description: 'Why callers would not' }),
        }),
      )
      .readonly(),
  })
  .openapi('VendorModels')

const vendor = z
  .object({
    id: z.string(),
    baseUrl: z.string().nullable().openapi({ description: 'null: the channel has to say it' }),
    needsKey: z.boolean(),
    dialects: z.array(z.string()).readonly(),
  })
  .openapi('Vendor')

const channelInput = documentOf('ChannelInput', channelSection)

const states = z.strictObject({ state: z.enum(channelStates) })

const imported = z
  .object({
    applied: z.boolean(),
    channels: z
      .array(
        z.object({
          id: z.string(),
          action: z.enum(['create', 'update', 'refuse']),
          problem: z.string().nullable(),
          before: documentSchema
            .nullable()
            .openapi({ description: 'What the store has; null: nothing, or it is refused' }),
          after: documentSchema
            .nullable()
            .openapi({ description: 'What it would have; null: it is refused' }),
        }),
      )
      .readonly(),
  })
  .openapi('ChannelImport')

const one = { tag: 'Channels', access: 'admin', params: itemParams } as const

type RouteCall = Pick<ControlRequest<object, object, object>, 'admin' | 'services' | 'noted'>

function roomsOf({ services: { running } }: Pick<RouteCall, 'services'>) {
  const { channels, config } = running
  return {
    declared: running.stored.declared,
    box: running.stored.box,
    watch: channels,
    config: config(),
  }
}

/** Records what was changed, and answers with the changed channel. */
async function shown(asked: RouteCall, changed: Changed) {
  asked.noted(detailOf([changed]))
  const body = await showChannel(asked.admin, roomsOf(asked), { id: changed.id })
  return { body, etag: body.revision }
}

export const channelRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/channels',
    id: 'listChannels',
    tag: 'Channels',
    summary: 'The channels there are, how each is, and what it did in the last hour and day',
    access: 'auditor',
    query: inputs.listChannels.extend(pageQuery),
    reply: pageOf(channel),
    async run(asked) {
      return { body: await listChannels(asked.admin, roomsOf(asked), asked.query) }
    },
  }),
  route({
    method: 'post',
    path: '/api/channels',
    id: 'createChannel',
    tag: 'Channels',
    summary: 'Make a channel; it serves in every process within a second',
    access: 'admin',
    body: channelInput,
    reply: channel,
    status: 201,
    async run(asked) {
      const { id, ...document } = asked.body
      const input = { ...document, id }
      return shown(asked, await createItem(asked.admin, roomsOf(asked), 'channel', input))
    },
  }),
  route({
    method: 'get',
    path: '/api/vendors',
    id: 'listVendors',
    tag: 'Channels',
    summary: 'The vendors that a channel may be of',
    access: 'auditor',
    reply: pageOf(vendor),
    run: async () => ({ body: listVendors() }),
  }),
  route({
    method: 'get',
    path: '/api/channels/export',
    id: 'exportChannels',
    tag: 'Channels',
    summary: 'The channels of the store, as the channels of a configuration file',
    access: 'auditor',
    reply: z.object({ channels: z.array(documentSchema).readonly() }),
    async run(asked) {
      return { body: await exportChannels(asked.admin, roomsOf(asked)) }
    },
  }),
  route({
    method: 'post',
    path: '/api/channels/import',
    id: 'importChannels',
    tag: 'Channels',
    summary:
      'Make and change channels as a list says, all or none; without apply, say what would be',
    access: 'admin',
    body: inputs.importChannels,
    reply: imported,
    async run(asked) {
      const { result, changed } = await importChannels(asked.admin, roomsOf(asked), asked.body)
      asked.noted(changed.length > 0 ? detailOf(changed) : { applied: false })
      return { body: result }
    },
  }),
  route({
    method: 'post',
    path: '/api/channels/bulk',
    id: 'changeChannels',
    tag: 'Channels',
    summary: 'Change many channels alike, all or none: those named, or those with a tag',
    access: 'admin',
    body: inputs.changeChannels,
    reply: z.object({ items: z.array(channel).readonly() }),
    async run(asked) {
      const rooms = roomsOf(asked)
      const changed = await changeChannels(asked.admin, rooms, asked.body)
      asked.noted(detailOf(changed))
      const { items } = await listChannels(asked.admin, rooms, {})
      const ids = new Set(changed.map(({ id }) => id))
      return { body: { items: items.filter(({ id }) => ids.has(id)) } }
    },
  }),
  route({
    ...one,
    method: 'get',
    path: '/api/channels/{id}',
    id: 'showChannel',
    access: 'auditor',
    summary: 'Show a channel',
    reply: channel,
    async run(asked) {
      const body = await showChannel(asked.admin, roomsOf(asked), asked.params)
      return { body, etag: body.revision }
    },
  }),
  route({
    ...one,
    method: 'patch',
    path: '/api/channels/{id}',
    id: 'updateChannel',
    summary: 'Change a channel of the store',
    description:
      'What is left out stays, null is the default. A key without `key`, or with `***`, keeps the one of its name.',
    body: changesOf('ChannelChanges', channelSection),
    reply: channel,
    async run(asked) {
      const input = { id: asked.params.id, changes: { ...asked.body }, revision: asked.ifMatch }
      return shown(asked, await updateItem(asked.admin, roomsOf(asked), 'channel', input))
    },
  }),
  route({
    ...one,
    method: 'delete',
    path: '/api/channels/{id}',
    id: 'deleteChannel',
    summary: 'Remove a channel of the store; requests under way end as they would',
    async run(asked) {
      const input = { id: asked.params.id, revision: asked.ifMatch }
      asked.noted(detailOf([await removeItem(asked.admin, roomsOf(asked), 'channel', input)]))
      return undefined
    },
  }),
  route({
    ...one,
    method: 'post',
    path: '/api/channels/{id}/state',
    id: 'setChannelState',
    summary: 'Enable, drain or disable a channel of the store',
    body: states,
    reply: channel,
    async run(asked) {
      const input = { id: asked.params.id, changes: asked.body, revision: asked.ifMatch }
      return shown(asked, await updateItem(asked.admin, roomsOf(asked), 'channel', input))
    },
  }),
  route({
    ...one,
    method: 'get',
    path: '/api/channels/{id}/versions',
    id: 'listChannelVersions',
    access: 'auditor',
    summary: 'Every version of a channel of the store, the newest first',
    query: z.strictObject(pageQuery),
    reply: versionsOf,
    async run({ admin, params: { id }, query }) {
      return { body: await listVersions(admin, 'channel', { id, ...query }) }
    },
  }),
  route({
    ...one,
    method: 'post',
    path: '/api/channels/{id}/rollback',
    id: 'rollbackChannel',
    summary: 'Bring an earlier version of a channel back, also of one that was removed',
    body: rollbackBody,
    reply: channel,
    async run(asked) {
      const input = { id: asked.params.id, ...asked.body, revision: asked.ifMatch }
      return shown(asked, await rollbackItem(asked.admin, roomsOf(asked), 'channel', input))
    },
  }),
  route({
    ...one,
    method: 'post',
    path: '/api/channels/{id}/test',
    id: testAction,
    summary: 'Make one small call to a channel, which its vendor may charge for',
    body: inputs.testChannel.pick({ model: true }),
    bodyOptional: true,
    reply: probe,
    async run({ services, params, body: { model }, noted }) {
      const body = await testChannel(services.running.config(), { ...params, model })
      const { ok, model: asked, durationMs } = body
      noted({ ok, model: asked, durationMs })
      return { body }
    },
  }),
  route({
    ...one,
    method: 'post',
    path: '/api/channels/{id}/balance',
    id: balanceAction,
    summary: "What is left of a channel's money, as its vendor says; asked at most once a minute",
    reply: balance,
    async run(asked) {
      const { balance: body, isNew } = await askBalance(asked.admin, roomsOf(asked), asked.params)
      asked.noted(isNew ? { amounts: body.amounts } : {})
      return { body }
    },
  }),
  route({
    method: 'post',
    path: '/api/channels/test',
    id: 'testChannelDraft',
    tag: 'Channels',
    summary: 'Make the same call to a channel as it is given here, and store nothing',
    access: 'admin',
    body: inputs.testDraft.extend({ channel: channelInput }),
    reply: probe,
    async run(asked) {
      const { channel: draft, model } = asked.body
      asked.noted({ id: draft.id, model })
      return { body: await testDraft(asked.admin, roomsOf(asked), { channel: draft, model }) }
    },
  }),
  route({
    ...one,
    method: 'post',
    path: '/api/channels/{id}/vendor-models',
    id: 'listVendorModels',
    summary: "The models of a channel's vendor, by the vendor's own list",
    reply: vendorModels,
    run: async ({ services, params }) => ({
      body: await listVendorModels(services.running.config(), params),
    }),
  }),
  route({
    method: 'post',
    path: '/api/channels/vendor-models',
    id: 'listDraftModels',
    tag: 'Channels',
    summary: 'The same for a channel as it is given here',
    access: 'admin',
    body: z.strictObject({ channel: channelInput }),
    reply: vendorModels,
    async run(asked) {
      asked.noted({ id: asked.body.channel.id })
      return { body: await listDraftModels(asked.admin, roomsOf(asked), asked.body) }
    },
  }),
]
