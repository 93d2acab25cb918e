// Routes for a signed-in person's alerts: which warnings to send, and the notices sent.

import { createHash } from 'node:crypto'
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
import { networkOf } from '../../../identity/network.ts'
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
    webhookSecret: z.string().nullable().openapi({
      description:
        'Secret that signs the posts to `webhook`; present only in the reply to the request that created it, else null',
    }),
    email: z.string().nullable(),
    emailVerified: z.boolean().openapi({
      description:
        'Whether `email` is verified; until then only the verification code is mailed to it',
    }),
    accountEmail: z.string().nullable().openapi({
      description:
        'Verified e-mail address with which the person signs in, usable as `email` without a code; null: none',
    }),
    mailOffered: z.boolean().openapi({
      description: 'Whether the deployment has a mail server; without one, `email` cannot be set',
    }),
    currency: z.string(),
    revision: z.number().int().openapi({
      description: 'Revision of the settings, to be sent in If-Match; 0: they were never set',
    }),
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
    text: z.string().openapi({ description: 'Message for people, in English' }),
    currency: z.string(),
    limitNano: nanoSchema.nullable().openapi({
      description: 'Threshold that was set, in nano-units; null: the rule has no amount',
    }),
    valueNano: nanoSchema.nullable().openapi({
      description: 'Amount that crossed the threshold, in nano-units; null: the rule has no amount',
    }),
    limitPercent: percent.openapi({
      description: 'Threshold that was set, in percent; null: the rule has no percentage',
    }),
    valuePercent: percent.openapi({
      description: 'Percentage that crossed the threshold; null: the rule has no percentage',
    }),
    keyId: z.string().nullable(),
    keyName: z.string().nullable(),
    requests: z.number().int().nullable().openapi({
      description:
        'Number of requests behind `valuePercent`; null: the rule does not count requests',
    }),
    orderId: z
      .string()
      .nullable()
      .openapi({ description: 'Order that the notice is about; null: none' }),
    delivery: delivery
      .nullable()
      .openapi({ description: 'Delivery to the webhook; null: no webhook was set' }),
    mail: delivery
      .nullable()
      .openapi({ description: 'Delivery by e-mail; null: no verified address was set' }),
  })
  .openapi('AlertNotice')

const hourMs = 3_600_000
/** So that nobody can have strangers mailed repeatedly, not even by making accounts. */
const tooManyCodes = 'Too many codes were mailed; try again later.'
const ofAccount = { count: 5, spanMs: hourMs, message: tooManyCodes }
const ofNetwork = { count: 30, spanMs: hourMs, message: tooManyCodes }
const ofRecipient = { count: 5, spanMs: 24 * hourMs, message: tooManyCodes }
const codesTried = {
  count: 10,
  spanMs: 60_000,
  message: 'Too many codes were tried; try again in a minute.',
}

type Call = Pick<ControlRequest<object, object, object>, 'services' | 'admin' | 'address'>

function withMail<View extends { readonly revision: number }>({ services }: Call, view: View) {
  const body = { ...view, mailOffered: services.config().smtp !== null }
  return { body, etag: view.revision }
}

/** null: no mail server is configured. */
async function codeMailer({ services, admin, address: from }: Call, account: string) {
  const mailer = await services.mail.server()
  if (mailer === null) return null
  return async (to: string, code: string) => {
    const recipient = createHash('sha256').update(to.toLowerCase()).digest('hex')
    await keepPace(services.store, `mail code sent: ${account}`, ofAccount)
    await keepPace(services.store, `mail code sent from: ${networkOf(from)}`, ofNetwork)
    await keepPace(services.store, `mail code sent to: ${recipient}`, ofRecipient)
    const language = languageOf((await admin.store.preferences.find(account))?.document)
    const address = services.config().server.publicUrl ?? 'Tollgate'
    try {
      await mailer.send({ to, ...codeMail(code, language, address) })
    } catch (error) {
      if (!(error instanceof MailNotSent)) throw error
      throw new AdminError('conflict', 'email', `the code could not be mailed: ${error.message}`)
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
    summary: 'Get my alert settings',
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
    summary: 'Replace my alert settings',
    description:
      'An alert that is left out is turned off. `lowBalanceNano`: the balance is below this amount. `daySpendNano`: a ' +
      'day in `timeZone` has cost more than this. `keyLimitPercent`: a key has spent this percentage of its spend limit. ' +
      '`errorRatePercent`: this percentage of the last hour’s requests failed, of 20 or more. Conditions are checked ' +
      'once a minute, and each gives one notice until it has ended. Notices are also posted to `webhook`, signed with ' +
      'the webhook secret, and mailed to `email` once that is verified. `newSecret` replaces the webhook secret; ' +
      '`newCode` mails another verification code.',
    body: inputs.setAlerts,
    reply: alerts,
    statuses: { 429: tooManyCodes },
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
    summary: 'Verify the e-mail address of my alerts',
    description: 'Takes the code that was mailed last, for 24 hours after it was mailed.',
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
    summary: 'List my notices, newest first',
    query: z.strictObject({
      unread: flag
        .default(false)
        .openapi({ default: false, description: 'true: only notices that are not read' }),
      ...pageQuery,
    }),
    reply: pageOf(notice).extend({
      unread: z
        .number()
        .int()
        .openapi({ description: 'Total number of unread notices; 100 stands for 100 or more' }),
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
    summary: 'Mark my notices as read; without `ids`, all of them',
    body: z.strictObject({ ids }),
    bodyOptional: true,
    reply: z.object({
      read: z
        .number()
        .int()
        .openapi({ description: 'Number of notices that this request marked as read' }),
    }),
    run: async (asked) => ({
      body: await readNotices(asked.admin, { ...asked.body, account: accountOf(asked) }),
    }),
  }),
]
