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
    value,
    default: value,
    declared: z.boolean().openapi({ description: 'The configuration file says it' }),
    revision: z.number().int(),
    changedAt: timeSchema.nullable(),
    actor: z.string().nullable(),
  })
  .openapi('Setting')

const notice = z
  .object({
    severity: z.enum(['info', 'warning', 'critical']),
    text: z.record(z.string(), z.string()).readonly(),
    from: timeSchema.nullable(),
    until: timeSchema.nullable(),
  })
  .openapi('Notice')

const params = z.strictObject({ name: z.enum(runTimeNames) })

export const settingRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/settings',
    id: 'listSettings',
    tag: 'Settings',
    summary: 'The settings that may be changed while servers run',
    access: 'auditor',
    reply: pageOf(setting),
    run: async ({ admin, services }) => ({ body: await listSettings(admin, services.config()) }),
  }),
  route({
    method: 'get',
    path: '/api/settings/{name}',
    id: 'showSetting',
    tag: 'Settings',
    summary: 'One of them',
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
    summary: 'Change a setting; it counts in every server within a second',
    access: 'admin',
    params,
    body: z.strictObject({ value: z.unknown().openapi({ description: 'As the file has it' }) }),
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
    summary: 'Take a change back: the default counts again',
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
    summary: 'What everybody who is signed in is told at the moment',
    access: 'user',
    reply: pageOf(notice),
    run: async ({ admin, services }) => ({
      body: { items: noticesAt(services.running.settings(), admin.nowMs), next: null },
    }),
  }),
]
