// Routes for people and invitations, for operators.

import { z } from '@hono/zod-openapi'
import {
  deletePerson,
  resumePerson,
  showPerson,
  suspendPerson,
  updatePerson,
} from '../../../admin/people.ts'
import { listPeople } from '../../../admin/people-list.ts'
import { inputs } from '../../../admin/schema.ts'
import { createInvitation, listInvitations, revokeInvitation } from '../../../admin/sign-in.ts'
import { nanoSchema, pageOf, pageQuery, timeSchema } from '../parts.ts'
import { type ControlRoute, route } from '../route.ts'

const role = z.enum(['user', 'admin', 'auditor'])
const groups = z
  .array(z.string())
  .readonly()
  .nullable()
  .openapi({ description: 'That keys may be made for; null: all' })

export const identitySchema = z
  .object({
    id: z.string(),
    issuer: z.string(),
    subject: z.string(),
    name: z.string(),
    email: z.string().nullable(),
    emailVerified: z.boolean(),
    createdAt: timeSchema,
    usedAt: timeSchema,
  })
  .openapi('Identity')

export const personSchema = z
  .object({
    id: z.string().openapi({ description: 'The account' }),
    name: z.string(),
    email: z.string().nullable(),
    emailVerified: z.boolean(),
    role,
    groups,
    status: z.enum(['active', 'suspended', 'deleted']),
    createdAt: timeSchema,
    suspendedAt: timeSchema.nullable(),
    deletedAt: timeSchema.nullable(),
    identities: z.array(identitySchema).readonly(),
    revision: z.number().int(),
  })
  .openapi('Person')

const listedPerson = personSchema
  .extend({
    currency: z.string(),
    balanceNano: nanoSchema.openapi({ description: 'With what running requests hold' }),
    spendNano: nanoSchema.openapi({ description: 'Of the last 30 days' }),
    keys: z
      .number()
      .int()
      .openapi({ description: 'That were made here, whether they work or not' }),
    lastSeenAt: timeSchema.nullable().openapi({
      description: 'When a session, a provider or a key was last used; null: never',
    }),
  })
  .openapi('ListedPerson')

const invitation = z
  .object({
    id: z.string(),
    note: z.string(),
    role,
    groups: groups.openapi({ description: 'Of the account it makes; null: those of new accounts' }),
    status: z.enum(['open', 'used', 'revoked', 'expired']),
    createdBy: z.string(),
    createdAt: timeSchema,
    expiresAt: timeSchema,
    revokedAt: timeSchema.nullable(),
    usedAt: timeSchema.nullable(),
    usedBy: z.string().nullable().openapi({ description: 'The account it made' }),
  })
  .openapi('Invitation')

const params = z.strictObject({ id: z.string() })
const people = { tag: 'People', params } as const

export const peopleRoutes: readonly ControlRoute[] = [
  route({
    method: 'get',
    path: '/api/people',
    id: 'listPeople',
    tag: 'People',
    summary: 'List the accounts as people',
    description:
      '`search` finds ids, names, e-mail addresses, what providers call somebody, and keys by id, name or last characters. `sort`: newest, balance or lastSeen, largest first; spend: those who spent in the last 30 days, the first 1000.',
    access: 'auditor',
    query: inputs.listPeople.extend(pageQuery),
    reply: pageOf(listedPerson),
    run: async ({ admin, query }) => ({ body: await listPeople(admin, query) }),
  }),
  route({
    ...people,
    method: 'get',
    path: '/api/people/{id}',
    id: 'showPerson',
    summary: 'Show an account as a person',
    access: 'auditor',
    reply: personSchema,
    async run({ admin, params: { id } }) {
      const body = await showPerson(admin, { id })
      return { body, etag: body.revision }
    },
  }),
  route({
    ...people,
    method: 'patch',
    path: '/api/people/{id}',
    id: 'updatePerson',
    summary: 'Change name, role or groups',
    access: 'admin',
    body: inputs.updatePerson.pick({ name: true, role: true, groups: true }),
    reply: personSchema,
    async run({ admin, params: { id }, body, ifMatch }) {
      const person = await updatePerson(admin, { ...body, id, revision: ifMatch })
      return { body: person, etag: person.revision }
    },
  }),
  ...[
    { verb: 'suspend', summary: 'Stop keys within a second, end sessions', work: suspendPerson },
    { verb: 'resume', summary: 'Take a suspension back', work: resumePerson },
  ].map(({ verb, summary, work }) =>
    route({
      ...people,
      method: 'post',
      path: `/api/people/{id}/${verb}`,
      id: `${verb}Person`,
      summary,
      access: 'admin',
      reply: personSchema,
      async run({ admin, params: { id }, ifMatch }) {
        const body = await work(admin, { id, revision: ifMatch })
        return { body, etag: body.revision }
      },
    }),
  ),
  route({
    ...people,
    method: 'delete',
    path: '/api/people/{id}',
    id: 'deletePerson',
    summary: 'Forget who an account is, for ever; journal and usage stay',
    access: 'admin',
    run: async ({ admin, params: { id }, ifMatch }) => {
      await deletePerson(admin, { id, revision: ifMatch })
      return undefined
    },
  }),
  ...invitationRoutes(),
]

function invitationRoutes(): readonly ControlRoute[] {
  return [
    route({
      method: 'get',
      path: '/api/invitations',
      id: 'listInvitations',
      tag: 'People',
      summary: 'List the invitations, newest first, never their codes',
      access: 'auditor',
      query: inputs.listInvitations.extend(pageQuery),
      reply: pageOf(invitation),
      run: async ({ admin, query }) => ({ body: await listInvitations(admin, query) }),
    }),
    route({
      method: 'post',
      path: '/api/invitations',
      id: 'createInvitation',
      tag: 'People',
      summary: 'Make an invitation for one account',
      access: 'admin',
      body: inputs.createInvitation,
      reply: invitation.extend({
        code: z.string().openapi({ description: 'Shown this once' }),
      }),
      status: 201,
      run: async ({ admin, body }) => ({ body: await createInvitation(admin, body) }),
    }),
    route({
      ...people,
      method: 'delete',
      path: '/api/invitations/{id}',
      id: 'revokeInvitation',
      summary: 'Take an invitation back that nobody used',
      access: 'admin',
      run: async ({ admin, params: { id } }) => {
        await revokeInvitation(admin, { id })
        return undefined
      },
    }),
  ]
}
