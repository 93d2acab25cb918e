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
import { changesBetween } from '../differences.ts'
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
    origin: z.enum(['file', 'built-in', 'stored']).openapi({
      description:
        'Source of the definition in force: the configuration file (`file`), the gateway (`built-in`) or the store ' +
        '(`stored`)',
    }),
    document: documentSchema,
    overridden: z.boolean().openapi({
      description:
        'Whether the store has one of the same name too, which is not used since the configuration file takes precedence',
    }),
    revision: z.number().int().openapi({
      description: 'Revision of the stored definition, to be sent in If-Match; 0: none is stored',
    }),
    changedAt: timeSchema.nullable(),
    actor: z.string().nullable().openapi({ description: 'Who changed the stored definition last' }),
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
  asked.noted(detailOf([changed]), changesBetween(changed.before, changed.after))
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
      summary: `List the ${kind}s of the configuration file and of the store, as declared there`,
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
      summary: `Get a ${kind} as declared in the configuration file or the store`,
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
      summary: `List the versions of a stored ${kind}, newest first`,
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
      summary: `Create a stored ${kind}`,
      description: `Takes effect in every process within a second. Refused with 409 if the store or the configuration file has a ${kind} of this name.`,
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
      summary: `Update a stored ${kind}`,
      description:
        'Fields that are left out keep their values; null restores the default of a field.',
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
      summary: `Delete a stored ${kind} that nothing refers to`,
      statuses: {
        409: 'Something refers to it, and `detail` names what; or it is set in the configuration file',
      },
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
      summary: `Restore an earlier version of a stored ${kind}, also of a deleted one`,
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
