// Routes for groups and models of the configuration file and the store; those of the store are created and changed
// here.

import { z } from '@hono/zod-openapi'
import { listItems, showItem } from '../../../admin/item-view.ts'
import { inputs } from '../../../admin/schema.ts'
import {
  type Changed,
  createItem,
  listVersions,
  removeItem,
  rollbackItem,
  updateItem,
} from '../../../admin/stored-items.ts'
import { pageOf, pageQuery, timeSchema } from '../parts.ts'
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

const item = z
  .object({
    id: z.string(),
    origin: z.enum(['file', 'built-in', 'stored']).openapi({ description: 'Whose word counts' }),
    document: documentSchema,
    overridden: z
      .boolean()
      .openapi({ description: 'The store has one of this name too, and the file stands above it' }),
    revision: z.number().int().openapi({ description: 'Of what the store has; 0: nothing' }),
    changedAt: timeSchema.nullable(),
    actor: z.string().nullable(),
  })
  .openapi('ConfigurationItem')

type RouteCall = Pick<ControlRequest<object, object, object>, 'admin' | 'services' | 'noted'>

const kinds = [
  { kind: 'group', name: 'Group', path: 'groups', section: inputs.storedGroup },
  { kind: 'model', name: 'Model', path: 'models', section: inputs.storedModel },
] as const

type ItemKind = (typeof kinds)[number]

const one = { tag: 'Configuration', access: 'admin', params: itemParams } as const

/** Records what was changed, and answers with the changed item. */
async function shown(asked: RouteCall, kind: ItemKind['kind'], changed: Changed) {
  asked.noted(detailOf([changed]))
  const rooms = asked.services.running.stored
  const body = await showItem(asked.admin, rooms, kind, changed.id)
  return { body, etag: body.revision }
}

/** Read routes of one kind of item, for operators. */
function readingRoutes({ kind, name, path }: ItemKind): readonly ControlRoute[] {
  return [
    route({
      method: 'get',
      path: `/api/configuration/${path}`,
      id: `listConfigured${name}s`,
      tag: 'Configuration',
      summary: `The ${kind}s that the file and the store say, as they say them`,
      access: 'auditor',
      query: z.strictObject(pageQuery),
      reply: pageOf(item),
      run: async ({ admin, services: { running }, query }) => ({
        body: await listItems(admin, running.stored, kind, query),
      }),
    }),
    route({
      ...one,
      method: 'get',
      path: `/api/configuration/${path}/{id}`,
      id: `showConfigured${name}`,
      access: 'auditor',
      summary: `A ${kind} as the file or the store says it`,
      reply: item,
      async run({ admin, services: { running }, params: { id } }) {
        const body = await showItem(admin, running.stored, kind, id)
        return { body, etag: body.revision }
      },
    }),
    route({
      ...one,
      method: 'get',
      path: `/api/${path}/{id}/versions`,
      id: `list${name}Versions`,
      access: 'auditor',
      summary: `Every version of a ${kind} of the store, the newest first`,
      query: z.strictObject(pageQuery),
      reply: versionsOf,
      run: async ({ admin, params: { id }, query }) => ({
        body: await listVersions(admin, kind, { id, ...query }),
      }),
    }),
  ]
}

/** Routes by which admins change one kind of item. */
function changingRoutes({ kind, name, path, section }: ItemKind): readonly ControlRoute[] {
  const address = `/api/${path}/{id}`
  return [
    route({
      method: 'post',
      path: `/api/${path}`,
      id: `create${name}`,
      tag: 'Configuration',
      summary: `Make a ${kind}; it counts in every process within a second`,
      access: 'admin',
      body: documentOf(`${name}Input`, section),
      reply: item,
      status: 201,
      async run(asked) {
        const { id, ...document } = asked.body
        const rooms = asked.services.running.stored
        return shown(asked, kind, await createItem(asked.admin, rooms, kind, { ...document, id }))
      },
    }),
    route({
      ...one,
      method: 'patch',
      path: address,
      id: `update${name}`,
      summary: `Change a ${kind} of the store`,
      description: 'What is left out stays, null is the default.',
      body: changesOf(`${name}Changes`, section),
      reply: item,
      async run(asked) {
        const input = { id: asked.params.id, changes: { ...asked.body }, revision: asked.ifMatch }
        const rooms = asked.services.running.stored
        return shown(asked, kind, await updateItem(asked.admin, rooms, kind, input))
      },
    }),
    route({
      ...one,
      method: 'delete',
      path: address,
      id: `delete${name}`,
      summary: `Remove a ${kind} of the store that nothing refers to`,
      statuses: { 409: 'Something refers to it; `detail` names what' },
      async run({ admin, services: { running }, params: { id }, ifMatch, noted }) {
        const input = { id, revision: ifMatch }
        noted(detailOf([await removeItem(admin, running.stored, kind, input)]))
        return undefined
      },
    }),
    route({
      ...one,
      method: 'post',
      path: `${address}/rollback`,
      id: `rollback${name}`,
      summary: `Bring an earlier version of a ${kind} back, also of one that was removed`,
      body: rollbackBody,
      reply: item,
      async run(asked) {
        const input = { id: asked.params.id, ...asked.body, revision: asked.ifMatch }
        const rooms = asked.services.running.stored
        return shown(asked, kind, await rollbackItem(asked.admin, rooms, kind, input))
      },
    }),
  ]
}

export const configurationRoutes: readonly ControlRoute[] = kinds.flatMap((kind) => [
  ...readingRoutes(kind),
  ...changingRoutes(kind),
])
