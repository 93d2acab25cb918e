// `tollgate user`: people who sign in: their roles, suspension and deletion.

import { readInput } from '../admin/input.ts'
import {
  deletePerson,
  resumePerson,
  showPerson,
  suspendPerson,
  updatePerson,
} from '../admin/people.ts'
import { listPeople } from '../admin/people-list.ts'
import { type Command, type Context, UsageError } from './command.ts'
import { print, printJson, say, table } from './output.ts'
import { withChange, withStore } from './settings.ts'

const hints = { 'not_found id': '; `tollgate user list` lists them' }
const ofOne = { words: ['ACCOUNT'], fields: { id: 'ACCOUNT' }, hints, options: {} }

type Person = Awaited<ReturnType<typeof showPerson>>

export const userList: Command = {
  name: 'user list',
  words: [],
  summary: 'list the people who have accounts, newest first',
  options: {
    search: {
      type: 'string',
      value: 'TEXT',
      help: 'text in the id, the name, the e-mail address, or the name at a provider',
    },
    role: { type: 'string', value: 'ROLE', help: 'user, admin or auditor' },
    status: { type: 'string', value: 'STATUS', help: 'active, suspended or deleted' },
    limit: { type: 'string', value: 'N', help: 'at most this many; 100 by default' },
  },
  async run(context) {
    const { flags } = context
    const input = await readInput('listPeople', {
      search: flags.text('search'),
      role: flags.text('role'),
      status: flags.text('status'),
      limit: flags.number('limit'),
    })
    const { items } = await withStore(context, (admin) => listPeople(admin, input))
    if (context.json) await printJson(items)
    else {
      const headings = ['ACCOUNT', 'NAME', 'E-MAIL', 'ROLE', 'GROUPS', 'STATUS', 'CREATED']
      await print(table(headings, items.map(cells)))
    }
    return undefined
  },
}

function cells({ id, name, email, role, groups, status, createdAt }: Person) {
  return [id, name || null, email, role, groups?.join(',') ?? '*', status, createdAt]
}

export const userShow: Command = {
  ...ofOne,
  name: 'user show',
  summary: 'show the person who has an account, with the identities used to sign in',
  async run(context) {
    const [id = ''] = context.words
    const person = await withStore(context, (admin) => showPerson(admin, { id }))
    if (context.json) await printJson(person)
    else {
      const headings = ['ACCOUNT', 'NAME', 'E-MAIL', 'ROLE', 'GROUPS', 'STATUS', 'CREATED']
      await print(table(headings, [cells(person)]))
      const identities = person.identities.map((each) => [
        each.issuer,
        each.subject,
        each.name || null,
        each.email,
        each.usedAt,
      ])
      if (identities.length > 0)
        await print(
          `\n${table(['ISSUER', 'SUBJECT', 'NAME', 'E-MAIL', 'LAST SIGN-IN'], identities)}`,
        )
    }
    return undefined
  },
}

export const userSuspend: Command = {
  ...ofOne,
  name: 'user suspend',
  summary: 'suspend an account: disable its keys within a second, end its sessions, refuse sign-in',
  run: (context) => change(context, { action: 'suspendPerson', done: 'suspended' }, suspendPerson),
}

export const userResume: Command = {
  ...ofOne,
  name: 'user resume',
  summary: "end an account's suspension",
  run: (context) => change(context, { action: 'resumePerson', done: 'active again' }, resumePerson),
}

async function change(
  context: Context,
  { action, done }: { readonly action: string; readonly done: string },
  work: typeof suspendPerson,
): Promise<undefined> {
  const input = await readInput('changePerson', { id: context.words[0] })
  const person = await withChange(
    context,
    (admin) => work(admin, input),
    () => ({ action, target: { id: input.id } }),
  )
  if (context.json) await printJson(person)
  else say(`Account ${person.id} is ${done}.`)
  return undefined
}

export const userRole: Command = {
  name: 'user role',
  words: ['ACCOUNT', 'ROLE'],
  fields: { id: 'ACCOUNT', role: 'ROLE' },
  hints,
  summary: "set an account's role: user, admin, or auditor (reads everything, changes nothing)",
  options: {},
  run: (context) => update(context, { role: context.words[1] }),
}

export const userGroups: Command = {
  name: 'user groups',
  words: ['ACCOUNT', 'GROUPS'],
  fields: { id: 'ACCOUNT', groups: 'GROUPS' },
  hints,
  summary: 'set the groups an account may create keys for: A,B or * for all',
  options: {},
  run: (context) => {
    const [, groups = ''] = context.words
    return update(context, { groups: groups === '*' ? null : groups.split(',') })
  },
}

async function update(context: Context, what: Readonly<Record<string, unknown>>) {
  const input = await readInput('updatePerson', { id: context.words[0], ...what })
  const { id, ...detail } = input
  const person = await withChange(
    context,
    (admin) => updatePerson(admin, input),
    () => ({ action: 'updatePerson', target: { id }, detail }),
  )
  if (context.json) await printJson(person)
  else say(`Account ${person.id}: role ${person.role}, groups ${person.groups?.join(', ') ?? '*'}.`)
  return undefined
}

export const userDelete: Command = {
  ...ofOne,
  name: 'user delete',
  summary:
    "delete an account's personal data for good; its journal and usage stay, under the id alone",
  options: { yes: { type: 'boolean', help: 'confirm: this cannot be undone' } },
  async run(context) {
    const input = await readInput('changePerson', { id: context.words[0] })
    if (!context.flags.has('yes'))
      throw new UsageError('this cannot be undone: add --yes to confirm')
    await withChange(
      context,
      (admin) => deletePerson(admin, input),
      () => ({ action: 'deletePerson', target: { id: input.id } }),
    )
    if (context.json) await printJson({ id: input.id, deleted: true })
    else say(`Account ${input.id} is deleted.`)
    return undefined
  },
}
