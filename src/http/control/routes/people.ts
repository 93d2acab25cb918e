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
const groups = z.array(z.string()).readonly().nullable().openapi({
  description:
    'Groups for which the account may make keys; keys it has keep their groups. null: all groups',
})

export const identitySchema = z
  .object({
    id: z.string(),
    issuer: z.string().openapi({ description: 'Identity provider that vouches for the person' }),
    subject: z.string().openapi({ description: 'Id of the person at the identity provider' }),
    name: z.string(),
    email: z.string().nullable(),
    emailVerified: z.boolean(),
    createdAt: timeSchema.openapi({ description: 'When it was linked' }),
    usedAt: timeSchema.openapi({ description: 'When it last signed in' }),
  })
  .openapi('Identity')

export const personSchema = z
  .object({
    id: z.string().openapi({ description: 'Id of the account' }),
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
    balanceNano: nanoSchema.openapi({
      description: 'Balance of the wallet in nano-units, holds of running requests included',
    }),
    spendNano: nanoSchema.openapi({ description: 'Charges of the last 30 days, in nano-units' }),
    keys: z.number().int().openapi({
      description:
        'Number of keys, disabled and expired ones and those of the configuration file included',
    }),
    lastSeenAt: timeSchema.nullable().openapi({
      description: 'When a session, an identity or a key of the account was last used; null: never',
    }),
  })
  .openapi('ListedPerson')

const invitation = z
  .object({
    id: z.string(),
    note: z.string(),
    role,
    groups: groups.openapi({
      description: 'Groups of the account that it creates; null: the default group of new accounts',
    }),
    status: z.enum(['open', 'used', 'revoked', 'expired']),
    createdBy: z.string(),
    createdAt: timeSchema,
    expiresAt: timeSchema,
    revokedAt: timeSchema.nullable(),
    usedAt: timeSchema.nullable(),
    usedBy: z
      .string()
      .nullable()
      .openapi({ description: 'Account that was created with it; null: it is not used' }),
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
    summary: 'List people',
    description:
      'Every account as a person. `search` finds accounts by id, name, e-mail address, identity, and by id, name or last ' +
      'characters of a key. `sort` puts the newest, the largest or the latest first; `spend` lists only accounts that ' +
      'spent in the last 30 days, at most the first 1,000. Deleted people are listed only with `status=deleted`.',
    access: 'auditor',
    query: inputs.listPeople.extend(pageQuery),
    reply: pageOf(listedPerson),
    run: async ({ admin, query, services }) => ({
      body: await listPeople(admin, query, services.config().keys),
    }),
  }),
  route({
    ...people,
    method: 'get',
    path: '/api/people/{id}',
    id: 'showPerson',
    summary: 'Get a person',
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
    summary: 'Update the name, role or groups of a person',
    description:
      'Takes effect with the person’s next request. The last admin keeps the role (409).',
    access: 'admin',
    body: inputs.updatePerson.pick({ name: true, role: true, groups: true }),
    reply: personSchema,
    async run({ admin, params: { id }, body, ifMatch }) {
      const person = await updatePerson(admin, { ...body, id, revision: ifMatch })
      return { body: person, etag: person.revision }
    },
  }),
  ...[
    {
      verb: 'suspend',
      summary: 'Suspend a person: end sessions at once, and stop keys within a second',
      work: suspendPerson,
    },
    { verb: 'resume', summary: 'Resume a suspended person', work: resumePerson },
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
    summary: 'Delete a person permanently',
    description:
      'Deletes name, e-mail address, identities, sessions, keys and messages. Journal and usage stay, under the bare ' +
      'id. The last admin cannot be deleted (409).',
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
      summary: 'List invitations, newest first, without their codes',
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
      summary: 'Create an invitation, with which one person can sign up',
      access: 'admin',
      body: inputs.createInvitation,
      reply: invitation.extend({
        code: z
          .string()
          .openapi({ description: 'Code of the invitation, shown in this reply only' }),
      }),
      status: 201,
      run: async ({ admin, body }) => ({ body: await createInvitation(admin, body) }),
    }),
    route({
      ...people,
      method: 'delete',
      path: '/api/invitations/{id}',
      id: 'revokeInvitation',
      summary: 'Revoke an invitation that is not used',
      access: 'admin',
      run: async ({ admin, params: { id } }) => {
        await revokeInvitation(admin, { id })
        return undefined
      },
    }),
  ]
}
