// Routes for management keys: an admin creates any, everybody else those of their own account.

import { z } from '@hono/zod-openapi'
import {
  createManagementKey,
  disableManagementKey,
  enableManagementKey,
  listManagementKeys,
  removeManagementKey,
  showManagementKey,
  updateManagementKey,
} from '../../../admin/management-keys.ts'
import { inputs } from '../../../admin/schema.ts'
import type { ControlPrincipal } from '../../../identity/principal.ts'
import { pageOf, pageQuery, timeSchema } from '../parts.ts'
import { ControlError } from '../problem.ts'
import { type ControlRoute, route } from '../route.ts'

const scopes = z.array(z.enum(['read', 'write'])).readonly()

const keySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    account: z.string().nullable().openapi({
      description:
        'Account that the key is bound to; null: it manages the whole deployment, with the rights of an admin',
    }),
    hint: z.string().openapi({ description: 'Last four characters of the secret' }),
    scopes,
    status: z.enum(['active', 'disabled', 'expired']),
    createdAt: timeSchema,
    expiresAt: timeSchema.nullable().openapi({ description: 'When it expires; null: never' }),
    disabledAt: timeSchema.nullable().openapi({
      description: 'When it was disabled; null: it is not disabled',
    }),
    lastUsedAt: timeSchema.nullable().openapi({
      description: 'When it was last used, recorded at most once a minute; null: never',
    }),
    revision: z.number().int().openapi({
      description: 'Grows with each change; to be sent in If-Match',
    }),
  })
  .openapi('ManagementKey')

const madeKey = keySchema
  .extend({
    secret: z.string().openapi({ description: 'Secret of the key, shown in this reply only' }),
  })
  .openapi('ManagementKeyWithSecret')

const params = z.strictObject({ id: z.string() })
const one = { tag: 'Management keys', access: 'user', params, showsSecret: true } as const

/** A management key may not create one with more scopes than its own. Throws ControlError `forbidden`. */
function checkScopes(principal: ControlPrincipal | null, given: readonly string[] = []): void {
  if (principal?.kind !== 'management') return
  const held: readonly string[] = principal.scopes
  const missing = given.find((each) => !held.includes(each))
  if (missing === undefined) return
  throw new ControlError('forbidden', `This management key has no scope ${missing}.`, 'scopes')
}

/** Nor one that is valid for longer than itself, which it may not be made either. Throws ControlError `forbidden`. */
function checkExpiry(principal: ControlPrincipal | null, given: number | null): void {
  if (principal?.kind !== 'management' || principal.expiresAt === null) return
  if (given !== null && given <= principal.expiresAt) return
  const message = 'This management key expires, and cannot have a key valid for longer than itself.'
  throw new ControlError('forbidden', message, 'expiresAt')
}

export const managementKeyRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/management-keys',
    id: 'listManagementKeys',
    tag: 'Management keys',
    summary: 'List management keys, oldest first',
    access: 'user',
    query: inputs.listManagementKeys.extend(pageQuery),
    reply: pageOf(keySchema),
    run: async ({ admin, query, scope }) => ({
      body: await listManagementKeys(admin, { ...query, account: scope.account(query.account) }),
    }),
  }),
  route({
    method: 'post',
    path: '/api/management-keys',
    id: 'createManagementKey',
    tag: 'Management keys',
    summary: 'Create a management key',
    description:
      'The reply contains the secret, which cannot be read again. Users create keys of their own account. For ' +
      'operators, a key without `account` manages the whole deployment. A management key cannot create one with more ' +
      'scopes than its own, or one that expires later (403).',
    access: 'user',
    showsSecret: true,
    body: inputs.createManagementKey,
    reply: madeKey,
    status: 201,
    async run({ admin, body, scope, principal }) {
      checkScopes(principal, body.scopes)
      checkExpiry(principal, body.expiresAt ?? null)
      const account = scope.account(body.account ?? undefined) ?? null
      const made = await createManagementKey(admin, { ...body, account })
      return { body: made, etag: made.revision }
    },
  }),
  route({
    ...one,
    method: 'get',
    path: '/api/management-keys/{id}',
    id: 'showManagementKey',
    summary: 'Get a management key',
    reply: keySchema,
    async run({ admin, params: { id }, scope }) {
      const body = await showManagementKey(admin, { id, owner: scope.owner })
      return { body, etag: body.revision }
    },
  }),
  route({
    ...one,
    method: 'patch',
    path: '/api/management-keys/{id}',
    id: 'updateManagementKey',
    summary: 'Update the name, scopes or expiry of a management key',
    description:
      'Fields that are left out keep their values; `expiresAt: null` removes the expiry. A management key can neither add scopes that it lacks nor an expiry later than its own (403).',
    body: inputs.updateManagementKey.omit({ id: true, owner: true, revision: true }),
    reply: keySchema,
    async run({ admin, params: { id }, body: changes, scope, principal, ifMatch }) {
      checkScopes(principal, changes.scopes)
      if (changes.expiresAt !== undefined) checkExpiry(principal, changes.expiresAt)
      const input = { ...changes, id, owner: scope.owner, revision: ifMatch }
      const body = await updateManagementKey(admin, input)
      return { body, etag: body.revision }
    },
  }),
  ...[
    { verb: 'disable', summary: 'Disable a management key at once', work: disableManagementKey },
    {
      verb: 'enable',
      summary: 'Enable a management key that was disabled',
      work: enableManagementKey,
    },
  ].map(({ verb, summary, work }) =>
    route({
      ...one,
      method: 'post',
      path: `/api/management-keys/{id}/${verb}`,
      id: `${verb}ManagementKey`,
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
    method: 'delete',
    path: '/api/management-keys/{id}',
    id: 'deleteManagementKey',
    summary: 'Delete a management key; it stops working at once',
    async run({ admin, params: { id }, scope, ifMatch }) {
      await removeManagementKey(admin, { id, owner: scope.owner, revision: ifMatch })
      return undefined
    },
  }),
]
