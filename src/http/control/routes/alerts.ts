// Routes for a signed-in person's alerts: which warnings to send, and the notices sent.

import { z } from '@hono/zod-openapi'
import {
  listNotices,
  readAlerts,
  readNotices,
  setAlerts,
  verifyEmail,
} from '../../../admin/alerts.ts'
import { codeMail, languageOf } from '../../../admin/notice-mail.ts'
import { inputs } from '../../../admin/schema.ts'
import { AdminError } from '../../../admin/use-case.ts'
import { MailNotSent } from '../../../upstream/mail.ts'
import { keepPace } from '../pace.ts'
import { flag, nanoSchema, pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRequest, type ControlRoute, route } from '../route.ts'
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
    email: z.string().nullable(),
    emailVerified: z
      .boolean()
      .openapi({ description: 'Until then a code is awaited, and nothing else is mailed to it' }),
    accountEmail: z.string().nullable().openapi({
      description: 'Of whoever is signed in, where it is known to be theirs: needs no code',
    }),
    mailOffered: z.boolean().openapi({ description: 'false: the deployment has no mail server' }),
    currency: z.string(),
    revision: z.number().int().openapi({ description: '0: never set' }),
  })
  .openapi('Alerts')

export const delivery = z.object({
  state: z.enum(['waiting', 'delivered', 'failed']),
  attempts: z.number().int(),
  failure: z.string().nullable(),
})

const notice = z
  .object({
    id: z.string(),
    at: timeSchema,
    readAt: timeSchema.nullable(),
    rule: z.enum([
      'low_balance',
      'day_spend',
      'key_limit',
      'error_rate',
      'order_late',
      'order_refunded',
      'top_up_stopped',
    ]),
    text: z.string().openapi({ description: 'For people, in English' }),
    currency: z.string(),
    limitNano: nanoSchema.nullable().openapi({ description: 'What was asked for' }),
    valueNano: nanoSchema.nullable().openapi({ description: 'What was the case' }),
    limitPercent: percent,
    valuePercent: percent,
    keyId: z.string().nullable(),
    keyName: z.string().nullable(),
    requests: z.number().int().nullable().openapi({ description: 'The share is of so many' }),
    orderId: z.string().nullable().openapi({ description: 'Of what is told of an order' }),
    delivery: delivery.nullable().openapi({ description: 'To the webhook; null: there was none' }),
    mail: delivery.nullable().openapi({ description: 'By mail; null: there was no address' }),
  })
  .openapi('AlertNotice')

const hourMs = 3_600_000
/** So that nobody can have strangers mailed repeatedly. */
const codesSent = { count: 5, spanMs: hourMs, message: 'Too many codes were mailed; wait a while.' }
const codesTried = {
  count: 10,
  spanMs: 60_000,
  message: 'Too many codes were tried; wait a moment.',
}

type Call = Pick<ControlRequest<object, object, object>, 'services' | 'admin'>

function withMail<View extends { readonly revision: number }>({ services }: Call, view: View) {
  const body = { ...view, mailOffered: services.config().smtp !== null }
  return { body, etag: view.revision }
}

/** null: no mail server is configured. */
async function codeMailer({ services, admin }: Call, account: string) {
  const mailer = await services.mail.server()
  if (mailer === null) return null
  return async (to: string, code: string) => {
    await keepPace(services.store, `mail code sent: ${account}`, codesSent)
    const language = languageOf((await admin.store.preferences.find(account))?.document)
    const address = services.config().server.publicUrl ?? 'Tollgate'
    try {
      await mailer.send({ to, ...codeMail(code, language, address) })
    } catch (error) {
      if (!(error instanceof MailNotSent)) throw error
      throw new AdminError('conflict', 'email', `gets no code: ${error.message}`)
    }
  }
}

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
      return withMail(asked, body)
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
      'once a minute, and told once until it is over. With a `webhook`, posted there too, signed; with an `email`, mailed.',
    body: inputs.setAlerts,
    reply: alerts,
    statuses: { 429: codesSent.message },
    async run(asked) {
      const box = asked.services.webhookBox
      const account = accountOf(asked)
      const mailCode = await codeMailer(asked, account)
      const whose = { account, revision: asked.ifMatch, box, mailCode }
      return withMail(asked, await setAlerts(asked.admin, asked.body, whose))
    },
  }),
  route({
    ...own,
    method: 'post',
    path: '/api/me/alerts/email/verify',
    id: 'verifyMyEmail',
    summary: 'Enter the code that was mailed to the address of my alerts',
    body: inputs.verifyEmail,
    reply: alerts,
    statuses: { 429: codesTried.message },
    async run(asked) {
      const account = accountOf(asked)
      await keepPace(asked.services.store, `mail code tried: ${account}`, codesTried)
      return withMail(asked, await verifyEmail(asked.admin, asked.body, { account }))
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
