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
    search: text.max(256).optional(),
    role: role.optional(),
    status: z
      .enum(['active', 'suspended', 'deleted'], 'expected active, suspended or deleted')
      .optional(),
    sort: z
      .enum(
        ['newest', 'spend', 'balance', 'lastSeen'],
        'expected newest, spend, balance or lastSeen',
      )
      .default('newest'),
    ...page,
  }),
  person: z.strictObject({ id: text, owner }),
  updatePerson: z.strictObject({
    id: text,
    name: personName.optional(),
    role: role.optional(),
    groups: groups.optional(),
    revision,
    owner,
  }),
  changePerson: z.strictObject({ id: text, revision }),
  deleteOwnAccount: z.strictObject({
    account: text,
    /** The account's id, typed by its owner. */
    confirm: z.string(),
    /** Whether the remaining balance may be lost. */
    forfeit: z.boolean().default(false),
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
    note: personName.default(''),
    role: role.default('user'),
    groups: groups.default(null),
    days: count(mostDays).default(7),
  }),
  listInvitations: z.strictObject(page),
  invitation: z.strictObject({ id: text }),
}
