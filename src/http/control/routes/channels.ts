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
import { changesBetween } from '../differences.ts'
import { pageOf, pageQuery } from '../parts.ts'
import { type ControlRequest, type ControlRoute, route } from '../route.ts'
import { balance, channel, imported, probe, vendor, vendorModels } from './channel-schemas.ts'
import {
  changesOf,
  detailOf,
  documentOf,
  documentSchema,
  itemParams,
  rollbackBody,
  versionsOf,
} from './stored-parts.ts'

const channelInput = documentOf('ChannelInput', channelSection)

const states = z.strictObject({
  state: z.enum(channelStates).openapi({ description: 'New state of the channel' }),
})

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
  asked.noted(detailOf([changed]), changesBetween(changed.before, changed.after))
  const body = await showChannel(asked.admin, roomsOf(asked), { id: changed.id })
  return { body, etag: body.revision }
}

export const channelRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/channels',
    id: 'listChannels',
    tag: 'Channels',
    summary: 'List channels with their state and recent figures',
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
    summary: 'Create a stored channel',
    description:
      'Takes effect in every process within a second. Refused with 409 if the store or the configuration file has a ' +
      'channel of this id.',
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
    summary: 'List the vendors that a channel may use',
    access: 'auditor',
    reply: pageOf(vendor),
    run: async () => ({ body: listVendors() }),
  }),
  route({
    method: 'get',
    path: '/api/channels/export',
    id: 'exportChannels',
    tag: 'Channels',
    summary: 'Export the stored channels as a section of a configuration file',
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
    summary: 'Import channels into the store, or preview an import',
    description:
      'Creates stored channels, or replaces those of the same id: all, or none if one is refused. Without `apply: ' +
      'true`, changes nothing and shows what would change. `***` keeps a stored secret.',
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
    summary: 'Change many stored channels alike',
    description:
      'Changes the channels in `ids`, or those that have `tag`: all, or none if one is refused.',
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
    summary: 'Get a channel',
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
    summary: 'Update a stored channel',
    description:
      'Fields that are left out keep their values; null restores the default of a field. An item of `keys` without ' +
      '`key`, or with `***`, keeps the stored key of that name. Secrets must be given again where vendor or address ' +
      'change.',
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
    summary: 'Delete a stored channel; running requests finish normally',
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
    summary: 'Enable, drain or disable a stored channel',
    description:
      'A draining or disabled channel gets no new requests; running requests finish normally. `draining` states that ' +
      'it is temporary.',
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
    summary: 'List the versions of a stored channel, newest first',
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
    summary: 'Restore an earlier version of a stored channel, also of a deleted one',
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
    summary: 'Test a channel with one small call, which its vendor may charge for',
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
    summary: 'Get the remaining balance of a channel from its vendor',
    description:
      'The vendor is asked at most once a minute; in between the latest answer is returned. Refused with 409 where ' +
      'the vendor reports no balance or does not answer.',
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
    summary: 'Test a channel that is not stored',
    description:
      'Makes the same call as `POST /api/channels/{id}/test` with the channel of the body, and stores nothing. `***` ' +
      'stands for a secret of the stored channel of the same id.',
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
    summary: 'List the models of a channel’s vendor, from the vendor’s own list',
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
    summary: 'List the models of the vendor of a channel that is not stored',
    access: 'admin',
    body: z.strictObject({ channel: channelInput }),
    reply: vendorModels,
    async run(asked) {
      asked.noted({ id: asked.body.channel.id })
      return { body: await listDraftModels(asked.admin, roomsOf(asked), asked.body) }
    },
  }),
]
