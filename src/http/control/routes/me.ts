// Routes for the caller's own account, sessions and identities.

import { z } from '@hono/zod-openapi'
import { deleteOwnAccount, showPerson, updatePerson } from '../../../admin/people.ts'
import { inputs } from '../../../admin/schema.ts'
import {
  checkJustSignedIn,
  endSession,
  endSessions,
  listIdentities,
  listSessions,
  unlinkIdentity,
} from '../../../admin/sign-in.ts'
import { AdminError } from '../../../admin/use-case.ts'
import { pageOf, timeSchema } from '../parts.ts'
import { type ControlRequest, type ControlRoute, route } from '../route.ts'
import { identitySchema, personSchema } from './people.ts'

type Caller = Pick<ControlRequest<object, object, object>, 'scope' | 'principal'>

/** Throws AdminError for a management key that is bound to no account. */
export function accountOf({ scope }: Caller): string {
  if (scope.self !== null) return scope.self
  throw new AdminError('not_found', 'account', 'the management key is bound to no account')
}

function sessionOf({ principal }: Caller): string | undefined {
  return principal?.kind === 'session' ? principal.sessionId : undefined
}

const session = z
  .object({
    id: z.string(),
    createdAt: timeSchema,
    usedAt: timeSchema,
    expiresAt: timeSchema,
    address: z.string().nullable().openapi({ description: 'IP address that signed in' }),
    client: z.string().nullable().openapi({ description: 'Browser that signed in' }),
    current: z.boolean().openapi({ description: 'Whether this request belongs to the session' }),
  })
  .openapi('Session')

const params = z.strictObject({ id: z.string() })
const own = { tag: 'Me', access: 'session' } as const

export const meRoutes: readonly ControlRoute[] = [
  route({
    ...own,
    method: 'get',
    path: '/api/me',
    id: 'showMe',
    summary: 'Get my account as a person',
    access: 'user',
    reply: personSchema,
    async run(asked) {
      const body = await showPerson(asked.admin, { id: accountOf(asked) })
      return { body, etag: body.revision }
    },
  }),
  route({
    ...own,
    method: 'patch',
    path: '/api/me',
    id: 'updateMe',
    summary: 'Update my name',
    body: inputs.updatePerson.pick({ name: true }),
    reply: personSchema,
    async run(asked) {
      const change = { name: asked.body.name, revision: asked.ifMatch }
      const body = await updatePerson(asked.admin, { id: accountOf(asked), ...change })
      return { body, etag: body.revision }
    },
  }),
  route({
    ...own,
    method: 'delete',
    path: '/api/me',
    id: 'deleteMe',
    summary: 'Delete my account permanently',
    description:
      'Deletes name, e-mail address, identities, sessions, keys, messages and preferences. Journal and usage stay, under ' +
      'the bare id of the account. `confirm` must be the id of the account. If money is left, the request is refused ' +
      'with 409 unless `forfeit` is true. The last admin cannot be deleted (409). Refused with 403 unless the session ' +
      'began within the last 15 minutes.',
    audited: true,
    body: inputs.deleteOwnAccount.omit({ account: true }),
    async run(asked) {
      const { principal, admin } = asked
      checkJustSignedIn(principal?.kind === 'session' ? principal.signedInAt : 0, admin.nowMs)
      await deleteOwnAccount(asked.admin, { ...asked.body, account: accountOf(asked) })
      return undefined
    },
  }),
  route({
    ...own,
    method: 'get',
    path: '/api/me/sessions',
    id: 'listMySessions',
    summary: 'List my sessions, newest first',
    reply: pageOf(session),
    async run(asked) {
      const { items, next } = await listSessions(asked.admin, { account: accountOf(asked) })
      const current = sessionOf(asked)
      return {
        body: { items: items.map((each) => ({ ...each, current: each.id === current })), next },
      }
    },
  }),
  route({
    ...own,
    method: 'delete',
    path: '/api/me/sessions',
    id: 'endMySessions',
    summary: 'End my other sessions, or all of them',
    query: z.strictObject({
      everywhere: z
        .enum(['true', 'false'])
        .default('false')
        .openapi({ description: 'true: also ends the session of this request' }),
    }),
    reply: z.object({
      ended: z.number().int().openapi({ description: 'Number of sessions that were ended' }),
    }),
    async run(asked) {
      const except = asked.query.everywhere === 'true' ? null : (sessionOf(asked) ?? null)
      return { body: await endSessions(asked.admin, { account: accountOf(asked), except }) }
    },
  }),
  route({
    ...own,
    method: 'delete',
    path: '/api/me/sessions/{id}',
    id: 'endMySession',
    summary: 'End one of my sessions',
    params,
    run: async (asked) => {
      await endSession(asked.admin, { account: accountOf(asked), id: asked.params.id })
      return undefined
    },
  }),
  route({
    ...own,
    method: 'get',
    path: '/api/me/identities',
    id: 'listMyIdentities',
    summary: 'List my identities: the accounts at identity providers with which I sign in',
    reply: pageOf(identitySchema),
    run: async (asked) => ({
      body: await listIdentities(asked.admin, { account: accountOf(asked) }),
    }),
  }),
  route({
    ...own,
    method: 'delete',
    path: '/api/me/identities/{id}',
    id: 'unlinkMyIdentity',
    summary: 'Unlink one of my identities, so that it no longer signs in',
    description:
      'Refused with 403 unless the session began within the last 15 minutes, and with 409 for the only identity.',
    params,
    run: async (asked) => {
      const input = { account: accountOf(asked), id: asked.params.id, session: sessionOf(asked) }
      await unlinkIdentity(asked.admin, input)
      return undefined
    },
  }),
]
