// `tollgate key`: makes, lists, disables and removes the keys kept in the store.

import { readInput } from '../admin/input.ts'
import { createKey, disableKey, listKeys, removeKey } from '../admin/keys.ts'
import type { AdminContext } from '../admin/use-case.ts'
import { type Command, type Context, UsageError } from './command.ts'
import { print, printJson, say, table } from './output.ts'
import { withStore } from './settings.ts'

export const keyCreate: Command = {
  name: 'key create',
  words: [],
  summary: 'make a key and show its secret, this once',
  options: {
    account: {
      type: 'string',
      value: 'A',
      help: 'account it spends from; made when it is missing',
    },
    group: { type: 'string', value: 'G', help: 'group that says which models it may use' },
    name: { type: 'string', value: 'N', help: 'what people call it' },
    expires: { type: 'string', value: 'TIME', help: 'when it stops working' },
    models: {
      type: 'string',
      value: 'A,B',
      help: "only these of its group's models; `gpt-4*` for all so named",
    },
    rpm: { type: 'string', value: 'N', help: 'requests a minute' },
    tpm: { type: 'string', value: 'N', help: 'tokens a minute' },
    concurrency: { type: 'string', value: 'N', help: 'requests at once' },
    'show-cost': { type: 'boolean', help: 'its replies carry what they cost' },
  },
  fields: {
    expiresAt: 'expires',
    requestsPerMinute: 'rpm',
    tokensPerMinute: 'tpm',
    concurrentRequests: 'concurrency',
  },
  async run(context) {
    const { flags } = context
    const input = await readInput('createKey', {
      account: flags.text('account'),
      group: flags.text('group'),
      name: flags.text('name'),
      expiresAt: flags.text('expires'),
      models: readModels(flags.text('models')),
      requestsPerMinute: flags.number('rpm'),
      tokensPerMinute: flags.number('tpm'),
      concurrentRequests: flags.number('concurrency'),
      showCost: flags.has('show-cost'),
    })
    const key = await withStore(context, (admin) => createKey(admin, input), 'make')
    if (context.json) await printJson(key)
    else {
      say(`Key ${key.id} (${key.name}) of account ${key.account}. Its secret is shown this once:`)
      await print(`${key.secret}\n`)
    }
    return undefined
  },
}

function readModels(text: string | undefined): readonly string[] | undefined {
  const models = text?.split(',').map((model) => model.trim())
  if (models?.includes('')) throw new UsageError('--models: a name between commas is empty')
  return models
}

export const keyList: Command = {
  name: 'key list',
  words: [],
  summary: 'list the keys kept in the store, never their secrets',
  options: {},
  async run(context) {
    const { items } = await withStore(context, (admin) => listKeys(admin, {}))
    if (context.json) {
      await printJson(items)
      return undefined
    }
    const headings = ['ID', 'NAME', 'ACCOUNT', 'GROUP', 'HINT', 'STATUS', 'EXPIRES', 'MODELS']
    const cells = items.map((key) => [
      key.id,
      key.name,
      key.account,
      key.group,
      key.hint,
      key.status,
      key.expiresAt,
      key.models?.join(',') ?? '*',
    ])
    await print(table(headings, cells))
    return undefined
  },
}

const changing = {
  words: ['ID'],
  hints: { 'not_found id': '; `tollgate key list` lists them' },
  options: {},
}

export const keyDisable: Command = {
  ...changing,
  name: 'key disable',
  summary: 'stop a key within a second; it stays in the list',
  run: (context) => change(context, 'disabled', disableKey),
}

export const keyRemove: Command = {
  ...changing,
  name: 'key remove',
  summary: 'stop a key within a second and forget it; its usage stays',
  run: (context) => change(context, 'removed', removeKey),
}

async function change(
  context: Context,
  done: string,
  work: (admin: AdminContext, input: { readonly id: string }) => Promise<unknown>,
): Promise<undefined> {
  const [id = ''] = context.words
  await withStore(context, (admin) => work(admin, { id }))
  if (context.json) await printJson({ id, [done]: true })
  else say(`Key ${id} ${done}.`)
  return undefined
}
