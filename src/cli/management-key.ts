// `tollgate management-key`: keys that manage a deployment or an account, and call no model.

import { readInput } from '../admin/input.ts'
import {
  createManagementKey,
  disableManagementKey,
  listManagementKeys,
  removeManagementKey,
} from '../admin/management-keys.ts'
import { changeNamed } from './change.ts'
import type { Command } from './command.ts'
import { readList } from './key-options.ts'
import { print, printJson, say, table } from './output.ts'
import { withChange, withStore } from './settings.ts'

export const managementKeyCreate: Command = {
  name: 'management-key create',
  words: [],
  summary: 'create a key for the control API and show its secret once',
  options: {
    name: { type: 'string', value: 'N', help: 'name shown to people' },
    scopes: { type: 'string', value: 'A,B', help: 'read, write or both' },
    account: {
      type: 'string',
      value: 'A',
      help: 'limit it to this account; by default the whole deployment',
    },
    expires: { type: 'string', value: 'TIME', help: 'when it stops working' },
  },
  fields: { expiresAt: 'expires' },
  async run(context) {
    const { flags } = context
    const input = await readInput('createManagementKey', {
      name: flags.text('name'),
      account: flags.text('account') ?? null,
      scopes: readList(flags, 'scopes'),
      expiresAt: flags.text('expires'),
    })
    const key = await withChange(
      context,
      (admin) => createManagementKey(admin, input),
      () => ({ action: 'createManagementKey', detail: input }),
    )
    if (context.json) await printJson(key)
    else {
      const whose = key.account === null ? 'the whole deployment' : `account ${key.account}`
      say(`Management key ${key.id} (${key.name}) of ${whose}. Its secret is shown only once:`)
      await print(`${key.secret}\n`)
    }
    return undefined
  },
}

export const managementKeyList: Command = {
  name: 'management-key list',
  words: [],
  summary: 'list the management keys without their secrets',
  options: { account: { type: 'string', value: 'A', help: 'only of this account' } },
  async run(context) {
    const input = await readInput('listManagementKeys', { account: context.flags.text('account') })
    const { items } = await withStore(context, (admin) => listManagementKeys(admin, input))
    if (context.json) {
      await printJson(items)
      return undefined
    }
    const headings = ['ID', 'NAME', 'ACCOUNT', 'HINT', 'SCOPES', 'STATUS', 'EXPIRES', 'LAST USED']
    const cells = items.map((key) => [
      key.id,
      key.name,
      key.account ?? '*',
      key.hint,
      key.scopes.join(','),
      key.status,
      key.expiresAt,
      key.lastUsedAt,
    ])
    await print(table(headings, cells))
    return undefined
  },
}

const changing = {
  words: ['ID'],
  hints: { 'not_found id': '; `tollgate management-key list` lists them' },
  options: {},
}

export const managementKeyDisable: Command = {
  ...changing,
  name: 'management-key disable',
  summary: 'disable a management key at once; it stays in the list',
  run: (context) =>
    changeNamed(
      context,
      { action: 'disableManagementKey', kind: 'Management key', done: 'disabled' },
      disableManagementKey,
    ),
}

export const managementKeyRemove: Command = {
  ...changing,
  name: 'management-key remove',
  summary: 'delete a management key at once',
  run: (context) =>
    changeNamed(
      context,
      { action: 'deleteManagementKey', kind: 'Management key', done: 'removed' },
      removeManagementKey,
    ),
}
