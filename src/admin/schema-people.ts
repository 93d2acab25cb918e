// Input schemas of people, sessions, identities, sign-in links and invitations.

import { z } from 'zod'
import { count, name, page, text } from './schema-parts.ts'

const role = z.enum(['user', 'admin', 'auditor'], 'expected user, admin or auditor')
const groups = z.array(name, 'expected a list of groups').max(256).nullable()
/** The revision that was read; left out: any revision is changed. */
const revision = count(Number.MAX_SAFE_INTEGER).optional()
/** Where given, items of other accounts are not found. */
const owner = text.optional()
const personName = name.or(z.literal(''))

const mostMinutes = 1_440
const mostDays = 90

export const peopleInputs = {
  listPeople: z.strictObject({
    search: text.max(256).optional().describe('Text to search'),
    role: role.optional().describe('Only people with this role'),
    status: z
      .enum(['active', 'suspended', 'deleted'], 'expected active, suspended or deleted')
      .optional()
      .describe('Only people with this status; left out: all but deleted ones'),
    sort: z
      .enum(
        ['newest', 'spend', 'balance', 'lastSeen'],
        'expected newest, spend, balance or lastSeen',
      )
      .default('newest')
      .describe('Sort key; the newest, largest or latest first'),
    ...page,
  }),
  person: z.strictObject({ id: text, owner }),
  updatePerson: z.strictObject({
    id: text,
    name: personName.optional().describe('Name of the person; empty: none'),
    role: role.optional().describe('Role of the person'),
    groups: groups
      .optional()
      .describe(
        'Groups for which the account may make keys; keys it has keep their groups. null: all groups',
      ),
    revision,
    owner,
  }),
  changePerson: z.strictObject({ id: text, revision }),
  deleteOwnAccount: z.strictObject({
    account: text,
    confirm: z.string().describe('Id of the account, as a confirmation'),
    forfeit: z.boolean().default(false).describe('Whether a remaining balance may be lost'),
  }),
  sessionsOf: z.strictObject({ account: text }),
  endSession: z.strictObject({ account: text, id: text }),
  endSessions: z.strictObject({ account: text, except: text.nullable().default(null) }),
  unlinkIdentity: z.strictObject({ account: text, id: text, session: text.optional() }),
  createSignInLink: z.strictObject({
    account: text.optional(),
    minutes: count(mostMinutes)
      .min(15, `expected a whole number from 15 to ${mostMinutes}`)
      .default(60),
  }),
  createInvitation: z.strictObject({
    note: personName.default('').describe('Note for operators'),
    role: role.default('user').describe('Role of the account that it creates'),
    groups: groups
      .default(null)
      .describe('Groups that the account may use; null: the default group of new accounts'),
    days: count(mostDays).default(7).describe('Days after which it expires'),
  }),
  listInvitations: z.strictObject(page),
  invitation: z.strictObject({ id: text }),
}
