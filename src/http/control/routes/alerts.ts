// Routes over what whoever is signed in wants to be warned of, and what they were told.

import { z } from '@hono/zod-openapi'
import { listNotices, readAlerts, readNotices, setAlerts } from '../../../admin/alerts.ts'
import { inputs } from '../../../admin/schema.ts'
import { flag, nanoSchema, pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { accountOf } from './me.ts'

const percent = z.number().int().nullable()

const alerts = z
  .object({
    lowBalanceNano: nanoSchema.nullable(),
    daySpendNano: nanoSchema.nullable(),
    timeZone: z.string(),
    keyLimitPercent: percent,
    errorRatePercent: percent,
    webhook: z.string().nullable(),
    webhookSecret: z
      .string()
      .nullable()
      .openapi({ description: 'What posts are signed with: shown once, when it is made' }),
    currency: z.string(),
    revision: z.number().int().openapi({ description: '0: never set' }),
  })
  .openapi('Alerts')

const notice = z
  .object({
    id: z.string(),
    at: timeSchema,
    readAt: timeSchema.nullable(),
    rule: z.enum(['low_balance', 'day_spend', 'key_limit', 'error_rate']),
    text: z.string().openapi({ description: 'For people, in English' }),
    currency: z.string(),
    limitNano: nanoSchema.nullable().openapi({ description: 'What was asked for' }),
    valueNano: nanoSchema.nullable().openapi({ description: 'What was the case' }),
    limitPercent: percent,
    valuePercent: percent,
    keyId: z.string().nullable(),
    keyName: z.string().nullable(),
    requests: z.number().int().nullable().openapi({ description: 'The share is of so many' }),
    delivery: z
      .object({
        state: z.enum(['waiting', 'delivered', 'failed']),
        attempts: z.number().int(),
        failure: z.string().nullable(),
      })
      .nullable()
      .openapi({ description: 'To the webhook; null: there was none' }),
  })
  .openapi('AlertNotice')

const own = { tag: 'Me', access: 'session' } as const
const { ids } = inputs.readNotices.shape

export const alertRoutes: readonly ControlRoute[] = [
  route({
    ...own,
    method: 'get',
    path: '/api/me/alerts',
    id: 'readAlerts',
    summary: 'What I want to be warned of',
    reply: alerts,
    async run(asked) {
      const body = await readAlerts(asked.admin, { account: accountOf(asked) })
      return { body, etag: body.revision }
    },
  }),
  route({
    ...own,
    method: 'put',
    path: '/api/me/alerts',
    id: 'setAlerts',
    summary: 'Say what I want to be warned of; what is left out is off',
    description:
      'Less left than `lowBalanceNano`; more spent in a day of `timeZone` than `daySpendNano`; a key that has spent ' +
      '`keyLimitPercent` of its limit; `errorRatePercent` of the last hour’s requests failed (of 20 at least). Looked at ' +
      'once a minute, and told once until it is over. With a `webhook`, posted there too, signed.',
    body: inputs.setAlerts,
    reply: alerts,
    async run(asked) {
      const box = asked.services.webhookBox
      const whose = { account: accountOf(asked), revision: asked.ifMatch, box }
      const body = await setAlerts(asked.admin, asked.body, whose)
      return { body, etag: body.revision }
    },
  }),
  route({
    ...own,
    method: 'get',
    path: '/api/me/notices',
    id: 'listMyNotices',
    summary: 'What I was warned of, newest first',
    query: z.strictObject({
      unread: flag.default(false).openapi({ default: false }),
      ...pageQuery,
    }),
    reply: pageOf(notice).extend({
      unread: z.number().int().openapi({ description: 'Of all; 100: or more' }),
    }),
    run: async (asked) => ({
      body: await listNotices(asked.admin, { ...asked.query, account: accountOf(asked) }),
    }),
  }),
  route({
    ...own,
    method: 'post',
    path: '/api/me/notices/read',
    id: 'readMyNotices',
    summary: 'Mark notices as read; without `ids` all',
    body: z.strictObject({ ids }),
    bodyOptional: true,
    reply: z.object({ read: z.number().int().openapi({ description: 'So many were unread' }) }),
    run: async (asked) => ({
      body: await readNotices(asked.admin, { ...asked.body, account: accountOf(asked) }),
    }),
  }),
]
