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

const nano = z.string().openapi({ description: 'Nano-units of the currency, a whole number' })
const spending = z.object({ requests: z.number().int(), chargeNano: nano })
const lastUsed = z
  .object({ at: timeSchema, address: z.string().nullable(), client: z.string().nullable() })
  .nullable()
  .openapi({ description: 'Noted at most once a minute' })
const texts = z.array(z.string()).readonly().nullable()
const most = z.number().int().nullable()
const inUtc = 'From midnight in UTC on'

const keySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    account: z.string(),
    group: z.string(),
    hint: z.string(),
    status: z.enum(['active', 'disabled', 'expired']),
    declared: z
      .boolean()
      .openapi({ description: 'By the configuration file: changed there alone' }),
    createdAt: timeSchema.nullable(),
    expiresAt: timeSchema.nullable(),
    disabledAt: timeSchema.nullable(),
    previousUntil: timeSchema
      .nullable()
      .openapi({ description: 'Until when the secret before the last rotation works' }),
    models: texts,
    deniedModels: texts,
    addresses: texts,
    historyMode: z.enum(['off', 'metadata', 'full', 'sealed']).nullable(),
    showCost: z.boolean(),
    limits: z.object({
      requestsPerMinute: most,
      tokensPerMinute: most,
      concurrentRequests: most,
    }),
    spendLimit: z
      .object({
        amountNano: nano,
        spentNano: nano,
        period: z.enum(['day', 'week', 'month', 'never']),
        timeZone: z.string(),
        resetsAt: timeSchema.nullable(),
      })
      .nullable(),
    currency: z.string(),
    today: spending.openapi({ description: inUtc }),
    month: spending.openapi({ description: `The first of the month. ${inUtc}` }),
    lastUsed,
    revision: z.number().int(),
  })
  .openapi('Key')

const madeKey = keySchema
  .extend({ secret: z.string().openapi({ description: 'Shown this once' }) })
  .openapi('KeyWithSecret')

const impact = z
  .object({
    id: z.string(),
    requestsLastDay: z.number().int(),
    since: timeSchema,
    lastUsed,
    currency: z.string(),
    month: spending,
  })
  .openapi('KeyImpact')

const summary = z
  .object({
    active: z.number().int(),
    disabled: z.number().int(),
    expired: z.number().int(),
    currency: z.string(),
    today: spending.openapi({ description: `By these keys. ${inUtc}` }),
    month: spending.openapi({ description: `By these keys, since the first. ${inUtc}` }),
  })
  .openapi('KeySummary')

const judgement = z
  .object({
    id: z.string(),
    admitted: z.boolean(),
    reasons: z.array(z.object({ code: z.string(), message: z.string() })).readonly(),
    models: z.array(z.string()).readonly(),
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
    summary: 'List keys, with what they spent and when they were last used',
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
    summary: 'Count keys by state, and say what they spent together',
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
    summary: 'Make a key; its secret is in this reply and nowhere else',
    access: 'user',
    body: inputs.createKey.partial({ account: true }),
    reply: madeKey,
    status: 201,
    async run({ admin, body, scope }) {
      const account = scope.oneAccount(body.account)
      const made = await createKey(admin, { ...body, account })
      return { body: made, etag: made.revision }
    },
  }),
  route({
    ...one,
    method: 'get',
    path: '/api/keys/{id}',
    id: 'showKey',
    summary: 'Show a key',
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
    summary: 'Change a key; null takes a limit away',
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
    summary: 'Stop a key and forget it; its usage stays',
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
    summary: 'Give a key a new secret; the one before works for a while',
    body: inputs.rotateKey.omit({ id: true, owner: true, revision: true }),
    bodyOptional: true,
    reply: madeKey,
    async run({ admin, params: { id }, body: { overlapSeconds }, scope, ifMatch }) {
      const input = { id, owner: scope.owner, revision: ifMatch, overlapSeconds }
      const body = await rotateKey(admin, input)
      return { body, etag: body.revision }
    },
  }),
  ...[
    { verb: 'disable', summary: 'Stop a key within a second', work: disableKey },
    { verb: 'enable', summary: 'Take the disabling of a key back', work: enableKey },
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
    summary: 'Say what would miss a key if it were gone',
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
    summary: 'Say whether a key would be taken now and for which models, without calling one',
    body: inputs.testKey.omit({ id: true, owner: true }),
    bodyOptional: true,
    reply: judgement,
    async run({ admin, params: { id }, body: { address }, scope, services }) {
      const rooms = { declared: services.config().keys, models: services.models }
      return { body: await testKey(admin, { id, owner: scope.owner, address }, rooms) }
    },
  }),
]
