// Routes for settings that change at run time, notices included.

import { z } from '@hono/zod-openapi'
import { readInput } from '../../../admin/input.ts'
import { listSettings, noticesAt, setSetting, unsetSetting } from '../../../admin/settings.ts'
import { AdminError } from '../../../admin/use-case.ts'
import { runTimeNames } from '../../../config/run-time.ts'
import { pageOf, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const value = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.array(z.unknown()).readonly(),
])

const setting = z
  .object({
    name: z.enum(runTimeNames),
    value: value.openapi({ description: 'Value in force' }),
    default: value.openapi({ description: 'Value that applies where none is set' }),
    declared: z.boolean().openapi({
      description: 'Whether the configuration file sets it, so that it cannot be changed here',
    }),
    revision: z.number().int().openapi({
      description:
        'Revision of the last change here, to be sent in If-Match; 0: nothing is set here',
    }),
    changedAt: timeSchema.nullable(),
    actor: z.string().nullable(),
  })
  .openapi('Setting')

const notice = z
  .object({
    severity: z.enum(['info', 'warning', 'critical']),
    text: z.record(z.string(), z.string()).readonly().openapi({ description: 'Text by language' }),
    from: timeSchema.nullable().openapi({ description: 'Shown from this time on; null: at once' }),
    until: timeSchema.nullable().openapi({ description: 'Shown until this time; null: no end' }),
  })
  .openapi('Notice')

const params = z.strictObject({ name: z.enum(runTimeNames) })

export const settingRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/settings',
    id: 'listSettings',
    tag: 'Settings',
    summary: 'List the settings that can be changed while servers run',
    access: 'auditor',
    reply: pageOf(setting),
    run: async ({ admin, services }) => ({ body: await listSettings(admin, services.config()) }),
  }),
  route({
    method: 'get',
    path: '/api/settings/{name}',
    id: 'showSetting',
    tag: 'Settings',
    summary: 'Get a setting',
    access: 'auditor',
    params,
    reply: setting,
    async run({ admin, services, params: { name } }) {
      const { items } = await listSettings(admin, services.config())
      const view = items.find((each) => each.name === name)
      if (view !== undefined) return { body: view, etag: view.revision }
      throw new AdminError('not_found', 'name', `there is no setting ${JSON.stringify(name)}`)
    },
  }),
  route({
    method: 'put',
    path: '/api/settings/{name}',
    id: 'setSetting',
    tag: 'Settings',
    summary: 'Set a setting; takes effect in every process within a second',
    access: 'admin',
    params,
    body: z.strictObject({
      value: z.unknown().openapi({ description: 'Value in the form of the configuration file' }),
    }),
    reply: setting,
    async run({ admin, services, params, body, ifMatch }) {
      const given = { name: params.name, value: body.value, revision: ifMatch }
      const view = await setSetting(admin, services.config(), await readInput('setSetting', given))
      return { body: view, etag: view.revision }
    },
  }),
  route({
    method: 'delete',
    path: '/api/settings/{name}',
    id: 'unsetSetting',
    tag: 'Settings',
    summary: 'Unset a setting, so that its default applies',
    access: 'admin',
    params,
    reply: setting,
    async run({ admin, services, params, ifMatch }) {
      const view = await unsetSetting(admin, services.config(), { ...params, revision: ifMatch })
      return { body: view, etag: view.revision }
    },
  }),
  route({
    method: 'get',
    path: '/api/notices',
    id: 'listNotices',
    tag: 'Settings',
    summary: 'List the notices that are shown to everybody who is signed in',
    access: 'user',
    reply: pageOf(notice),
    run: async ({ admin, services }) => ({
      body: { items: noticesAt(services.running.settings(), admin.nowMs), next: null },
    }),
  }),
]
