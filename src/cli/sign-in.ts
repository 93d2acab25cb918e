// `tollgate admin link` and `tollgate invite`: make sign-in links and invitations.

import { readInput } from '../admin/input.ts'
import {
  createInvitation,
  createSignInLink,
  listInvitations,
  revokeInvitation,
} from '../admin/sign-in.ts'
import { changeNamed } from './change.ts'
import type { Command, Context } from './command.ts'
import { print, printJson, say, table } from './output.ts'
import { loadFor, withChange, withStore } from './settings.ts'

export const adminLink: Command = {
  name: 'admin link',
  words: [],
  summary: 'create a link that signs in once, as administrator',
  options: {
    account: { type: 'string', value: 'A', help: 'account to sign in; `default` by default' },
    minutes: {
      type: 'string',
      value: 'N',
      help: 'how long it is valid, 15 to 1440; 60 by default',
    },
  },
  hints: { 'not_found account': '; `tollgate user list` lists them' },
  async run(context) {
    const { flags } = context
    const input = await readInput('createSignInLink', {
      account: flags.text('account'),
      minutes: flags.number('minutes'),
    })
    const made = await withChange(
      context,
      async (admin) => {
        const { account, path, expiresAt } = await createSignInLink(admin, input)
        const address = await addressOf(context, await admin.store.deployment.address())
        return { account, url: `${address}${path}`, expiresAt }
      },
      ({ account, expiresAt }) => ({
        action: 'createSignInLink',
        target: { id: account },
        detail: { expiresAt },
      }),
    )
    if (context.json) await printJson(made)
    else {
      say(`This link signs in to account ${made.account} once, until ${made.expiresAt}:`)
      await print(`${made.url}\n`)
    }
    return undefined
  },
}

/** The address at which the server was last reached; before its first start, where it would listen. */
async function addressOf(context: Context, known: string | null): Promise<string> {
  if (known !== null) return known
  const { server } = await loadFor(context)
  return server.publicUrl ?? `http://${server.host}:${server.port}`
}

export const inviteCreate: Command = {
  name: 'invite create',
  words: [],
  summary: 'create an invitation and show its code once',
  options: {
    note: { type: 'string', value: 'TEXT', help: 'whom it is for' },
    role: { type: 'string', value: 'ROLE', help: 'user, admin or auditor; user by default' },
    groups: { type: 'string', value: 'A,B', help: 'groups the account may create keys for' },
    days: { type: 'string', value: 'N', help: 'how long it is valid, 1 to 90; 7 by default' },
  },
  async run(context) {
    const { flags } = context
    const input = await readInput('createInvitation', {
      note: flags.text('note'),
      role: flags.text('role'),
      groups: flags.text('groups')?.split(','),
      days: flags.number('days'),
    })
    const made = await withChange(
      context,
      (admin) => createInvitation(admin, input),
      () => ({ action: 'createInvitation', detail: input }),
    )
    if (context.json) await printJson(made)
    else {
      say(`Invitation ${made.id}, for one account, until ${made.expiresAt}. Its code:`)
      await print(`${made.code}\n`)
    }
    return undefined
  },
}

export const inviteList: Command = {
  name: 'invite list',
  words: [],
  summary: 'list the invitations without their codes, newest first',
  options: {},
  async run(context) {
    const { items } = await withStore(context, (admin) => listInvitations(admin, {}))
    if (context.json) await printJson(items)
    else {
      const headings = ['ID', 'STATUS', 'ROLE', 'GROUPS', 'NOTE', 'BY', 'EXPIRES', 'USED BY']
      const cells = items.map((each) => [
        each.id,
        each.status,
        each.role,
        each.groups?.join(',') ?? null,
        each.note || null,
        each.createdBy,
        each.expiresAt,
        each.usedBy,
      ])
      await print(table(headings, cells))
    }
    return undefined
  },
}

export const inviteRevoke: Command = {
  name: 'invite revoke',
  words: ['ID'],
  summary: 'revoke an invitation that nobody has used',
  options: {},
  hints: { 'not_found id': '; `tollgate invite list` lists them' },
  run: (context) =>
    changeNamed(
      context,
      { action: 'revokeInvitation', kind: 'Invitation', done: 'revoked' },
      revokeInvitation,
    ),
}
