// Routes for the caller's own account, sessions and identities.

import { z } from '@hono/zod-openapi'
import { deleteOwnAccount, showPerson, updatePerson } from '../../../admin/people.ts'
import { inputs } from '../../../admin/schema.ts'
import {
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
  throw new AdminError('not_found', 'account', 'this key is bound to no account')
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
    address: z.string().nullable(),
    client: z.string().nullable(),
    current: z.boolean().openapi({ description: 'The one that asks' }),
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
    summary: 'Who I am',
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
    summary: 'Change my name',
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
    summary: 'Delete my account, for ever',
    description:
      'Name, e-mail address, identities, sessions, keys, messages and preferences are forgotten; journal and usage stay ' +
      'under the bare id. `confirm` is the id of the account. Where money is left, 409 unless `forfeit` is true.',
    body: inputs.deleteOwnAccount.omit({ account: true }),
    async run(asked) {
      await deleteOwnAccount(asked.admin, { ...asked.body, account: accountOf(asked) })
      return undefined
    },
  }),
  route({
    ...own,
    method: 'get',
    path: '/api/me/sessions',
    id: 'listMySessions',
    summary: 'Where I am signed in, newest first',
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
    summary: 'Sign out everywhere else, or everywhere',
    query: z.strictObject({
      everywhere: z
        .enum(['true', 'false'])
        .default('false')
        .openapi({ description: 'true: the session that asks, too' }),
    }),
    reply: z.object({ ended: z.number().int() }),
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
    summary: 'Sign out in one place',
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
    summary: 'The providers that vouch for me',
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
    summary: 'Let a provider vouch for me no more',
    description: 'Asks for a sign-in of the last 15 minutes, and refuses the only way in.',
    params,
    run: async (asked) => {
      const input = { account: accountOf(asked), id: asked.params.id, session: sessionOf(asked) }
      await unlinkIdentity(asked.admin, input)
      return undefined
    },
  }),
]
