// Routes for a signed-in person's preferences in the console.

import { z } from '@hono/zod-openapi'
import { readPreferences, setPreferences } from '../../../admin/preferences.ts'
import { inputs } from '../../../admin/schema.ts'
import { type ControlRoute, route } from '../route.ts'
import { accountOf } from './me.ts'

const { language, theme, density, timeZone, views, columns, buyer } = inputs.preferences.shape

/** As receipts and statements show it. */
export const shownBuyer = buyer.removeDefault()

const preferences = z
  .object({
    language: language.removeDefault(),
    theme: theme.removeDefault(),
    density: density.removeDefault(),
    timeZone: timeZone.removeDefault(),
    views: views.removeDefault(),
    columns: columns.removeDefault(),
    buyer: shownBuyer,
    revision: z.number().int().openapi({
      description: 'Revision of the preferences, to be sent in If-Match; 0: they were never set',
    }),
  })
  .openapi('Preferences')

const mine = { path: '/api/me/preferences', tag: 'Me', access: 'session' } as const

export const preferenceRoutes: readonly ControlRoute[] = [
  route({
    ...mine,
    method: 'get',
    id: 'readPreferences',
    summary: 'Get my preferences in the console',
    reply: preferences,
    async run(asked) {
      const body = await readPreferences(asked.admin, { account: accountOf(asked) })
      return { body, etag: body.revision }
    },
  }),
  route({
    ...mine,
    method: 'put',
    id: 'setPreferences',
    summary: 'Replace my preferences in the console',
    description:
      'A preference that is left out is reset to its default. `timeZone` is an IANA name. `columns` holds the ' +
      'settings of each table by its id, at most 16 KiB in all.',
    body: inputs.preferences,
    reply: preferences,
    async run(asked) {
      const whose = { account: accountOf(asked), revision: asked.ifMatch }
      const body = await setPreferences(asked.admin, asked.body, whose)
      return { body, etag: body.revision }
    },
  }),
]
