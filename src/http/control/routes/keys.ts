// Routes for keys that call models.

import { z } from '@hono/zod-openapi'
import { testKey } from '../../../admin/key-test.ts'
import {
  createKey,
  disableKey,
  enableKey,
  keyImpact,
  listKeys,
  removeKey,
  rotateKey,
  showKey,
  summarizeKeys,
  updateKey,
} from '../../../admin/keys.ts'
import { inputs } from '../../../admin/schema.ts'
import { pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'
import { newKeyLimit, secretsPace } from './key-pace.ts'

const nano = z.string().openapi({
  description:
    'Amount in nano-units (billionths of the currency’s unit), a decimal string of an integer',
})
const spending = z.object({
  requests: z.number().int().openapi({ description: 'Number of finished requests' }),
  chargeNano: nano.openapi({ description: 'Charges in nano-units' }),
})
const lastUsed = z
  .object({ at: timeSchema, address: z.string().nullable(), client: z.string().nullable() })
  .nullable()
  .openapi({
    description: 'Latest use of the key, recorded at most once a minute; null: it was never used',
  })
const texts = z.array(z.string()).readonly().nullable()
const most = z.number().int().nullable().openapi({ description: 'null: no limit' })
const today = 'Requests since midnight in UTC'
const month = 'Requests since the first day of the month, in UTC'

const keySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    account: z.string(),
    group: z.string().openapi({ description: 'Group of models that the key may use' }),
    hint: z.string().openapi({ description: 'Last four characters of the secret' }),
    status: z.enum(['active', 'disabled', 'expired']),
    declared: z.boolean().openapi({
      description: 'Whether the configuration file declares it, so that it is changed only there',
    }),
    createdAt: timeSchema.nullable().openapi({
      description: 'When it was created; null: the configuration file declares it',
    }),
    expiresAt: timeSchema.nullable().openapi({ description: 'When it expires; null: never' }),
    disabledAt: timeSchema.nullable().openapi({
      description: 'When it was disabled; null: it was not, or the configuration file declares it',
    }),
    previousUntil: timeSchema.nullable().openapi({
      description: 'When the secret before the last rotation stops working; null: it does not work',
    }),
    models: texts.openapi({
      description:
        'Models of the group that the key may use, by name or by a pattern ending in `*`; null: all',
    }),
    deniedModels: texts.openapi({
      description:
        'Models that the key may not use, by name or by a pattern ending in `*`; null: none',
    }),
    addresses: texts.openapi({
      description: 'IP addresses and ranges from which the key is accepted; null: any',
    }),
    historyMode: z.enum(['off', 'metadata', 'full', 'sealed']).nullable().openapi({
      description: 'What is kept of the messages of this key; null: as the account chose',
    }),
    showCost: z.boolean().openapi({
      description:
        'Whether replies to this key contain their cost unless the request says otherwise',
    }),
    limits: z.object({
      requestsPerMinute: most,
      tokensPerMinute: most,
      concurrentRequests: most,
    }),
    spendLimit: z
      .object({
        amountNano: nano.openapi({
          description: 'Most that may be spent in a period, in nano-units',
        }),
        spentNano: nano.openapi({ description: 'Charges of the present period, in nano-units' }),
        period: z.enum(['day', 'week', 'month', 'never']).openapi({
          description: '`never`: one limit for all time',
        }),
        timeZone: z.string().openapi({ description: 'Time zone whose midnight begins a period' }),
        resetsAt: timeSchema.nullable().openapi({
          description: 'When the next period begins; null: never',
        }),
      })
      .nullable()
      .openapi({ description: 'null: no spend limit' }),
    currency: z.string(),
    today: spending.openapi({ description: today }),
    month: spending.openapi({ description: month }),
    lastUsed,
    revision: z.number().int().openapi({
      description: 'Grows with each change; to be sent in If-Match',
    }),
  })
  .openapi('Key')

const madeKey = keySchema
  .extend({
    secret: z.string().openapi({ description: 'Secret of the key, shown in this reply only' }),
  })
  .openapi('KeyWithSecret')

const impact = z
  .object({
    id: z.string(),
    requestsLastDay: z.number().int().openapi({ description: 'Requests since `since`' }),
    since: timeSchema.openapi({
      description: '24 hours ago, rounded down to a quarter of an hour',
    }),
    lastUsed,
    currency: z.string(),
    month: spending.openapi({ description: month }),
  })
  .openapi('KeyImpact')

const summary = z
  .object({
    active: z.number().int(),
    disabled: z.number().int(),
    expired: z.number().int(),
    currency: z.string(),
    today: spending.openapi({ description: `Sum of these keys: ${today}` }),
    month: spending.openapi({ description: `Sum of these keys: ${month}` }),
  })
  .openapi('KeySummary')

const judgement = z
  .object({
    id: z.string(),
    admitted: z
      .boolean()
      .openapi({ description: 'Whether a request with this key would be accepted' }),
    reasons: z
      .array(z.object({ code: z.string(), message: z.string() }))
      .readonly()
      .openapi({ description: 'Every reason for which it would be refused; empty: none' }),
    models: z
      .array(z.string())
      .readonly()
      .openapi({ description: 'Models that the key may use now' }),
  })
  .openapi('KeyTest')

const params = z.strictObject({ id: z.string() })
const one = { tag: 'Keys', access: 'user', params } as const

export const keyRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/keys',
    id: 'listKeys',
    tag: 'Keys',
    summary: 'List keys with their spend and last use',
    description:
      'Keys of the caller’s account; operators get those of all accounts, or of `account`. Oldest first unless `sort` ' +
      'is given. `search` finds a part of the name or of the last four characters. Keys that the playground made are ' +
      'listed with `playground=with` or `playground=only`.',
    access: 'user',
    query: inputs.listKeys.extend(pageQuery),
    reply: pageOf(keySchema),
    run: async ({ admin, query, scope, services }) => ({
      body: await listKeys(
        admin,
        { ...query, account: scope.account(query.account) },
        services.config().keys,
      ),
    }),
  }),
  route({
    method: 'get',
    path: '/api/keys/summary',
    id: 'summarizeKeys',
    tag: 'Keys',
    summary: 'Count keys by status and sum up their spend',
    description: 'Deleted keys, and keys that the playground made, are left out.',
    access: 'user',
    query: inputs.listKeys.pick({ account: true }),
    reply: summary,
    run: async ({ admin, query, scope, services }) => ({
      body: await summarizeKeys(
        admin,
        { account: scope.account(query.account) },
        services.config().keys,
      ),
    }),
  }),
  route({
    method: 'post',
    path: '/api/keys',
    id: 'createKey',
    tag: 'Keys',
    summary: 'Create a key',
    description:
      'The reply contains the secret, which cannot be read again. Operators may name another account, which is created ' +
      'if it does not exist. The account must be allowed to use the group. A limit that is null or left out does not ' +
      'apply. Refused with 409 where the account has `identity.mostKeys` keys, unless an operator asks.',
    access: 'user',
    showsSecret: true,
    body: inputs.createKey.partial({ account: true }),
    reply: madeKey,
    status: 201,
    statuses: { 429: secretsPace.message },
    async run({ admin, body, scope, services }) {
      const account = scope.oneAccount(body.account)
      const most = await newKeyLimit(scope, services)
      const made = await createKey(admin, { ...body, account }, most)
      return { body: made, etag: made.revision }
    },
  }),
  route({
    ...one,
    method: 'get',
    path: '/api/keys/{id}',
    id: 'showKey',
    summary: 'Get a key',
    reply: keySchema,
    async run({ admin, params: { id }, scope, services }) {
      const body = await showKey(admin, { id, owner: scope.owner }, services.config().keys)
      return { body, etag: body.revision }
    },
  }),
  route({
    ...one,
    method: 'patch',
    path: '/api/keys/{id}',
    id: 'updateKey',
    summary: 'Update a key',
    description: 'Fields that are left out keep their values; null removes a limit.',
    body: inputs.updateKey.omit({ id: true, owner: true, revision: true }),
    reply: keySchema,
    async run({ admin, params: { id }, body: changes, scope, ifMatch }) {
      const input = { ...changes, id, owner: scope.owner, revision: ifMatch }
      const body = await updateKey(admin, input)
      return { body, etag: body.revision }
    },
  }),
  route({
    ...one,
    method: 'delete',
    path: '/api/keys/{id}',
    id: 'deleteKey',
    summary: 'Delete a key',
    description:
      'It stops working within a second. Its usage records stay. A key of the configuration file cannot be deleted ' +
      'here (409).',
    async run({ admin, params: { id }, scope, ifMatch }) {
      await removeKey(admin, { id, owner: scope.owner, revision: ifMatch })
      return undefined
    },
  }),
  route({
    ...one,
    method: 'post',
    path: '/api/keys/{id}/rotate',
    id: 'rotateKey',
    summary: 'Rotate a key',
    description:
      'Creates a new secret, which only this reply contains. The previous secret works for `overlapSeconds` more: 86,400 ' +
      'unless given, at most 604,800; 0 stops it within a second. Secrets before that one stop working.',
    showsSecret: true,
    body: inputs.rotateKey.omit({ id: true, owner: true, revision: true }),
    bodyOptional: true,
    reply: madeKey,
    statuses: { 429: secretsPace.message },
    async run({ admin, params: { id }, body: { overlapSeconds }, scope, services, ifMatch }) {
      await newKeyLimit(scope, services)
      const input = { id, owner: scope.owner, revision: ifMatch, overlapSeconds }
      const body = await rotateKey(admin, input)
      return { body, etag: body.revision }
    },
  }),
  ...[
    { verb: 'disable', summary: 'Disable a key within a second', work: disableKey },
    { verb: 'enable', summary: 'Enable a key that was disabled', work: enableKey },
  ].map(({ verb, summary, work }) =>
    route({
      ...one,
      method: 'post',
      path: `/api/keys/{id}/${verb}`,
      id: `${verb}Key`,
      summary,
      reply: keySchema,
      async run({ admin, params: { id }, scope, ifMatch }) {
        const body = await work(admin, { id, owner: scope.owner, revision: ifMatch })
        return { body, etag: body.revision }
      },
    }),
  ),
  route({
    ...one,
    method: 'get',
    path: '/api/keys/{id}/impact',
    id: 'showKeyImpact',
    summary: 'Get what would be affected by deleting a key',
    reply: impact,
    run: async ({ admin, params: { id }, scope, services }) => ({
      body: await keyImpact(admin, { id, owner: scope.owner }, services.config().keys),
    }),
  }),
  route({
    ...one,
    method: 'post',
    path: '/api/keys/{id}/test',
    id: 'testKey',
    reads: true,
    summary: 'Test whether a key would be accepted now, and for which models',
    description:
      'Calls no vendor and charges nothing. `address` is the client address to test; without it, the address list is ' +
      'not tested. Limits per minute are not tested.',
    body: inputs.testKey.omit({ id: true, owner: true }),
    bodyOptional: true,
    reply: judgement,
    async run({ admin, params: { id }, body: { address }, scope, services }) {
      const rooms = { declared: services.config().keys, models: services.models }
      return { body: await testKey(admin, { id, owner: scope.owner, address }, rooms) }
    },
  }),
]
