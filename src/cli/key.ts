// `tollgate key`: makes, lists, disables and removes the keys kept in the store.

import { suggestion } from '../config/problems.ts'
import { configuredKeyId } from '../identity/keyring.ts'
import { createSecret, hashSecret, hintOf, randomBase62 } from '../identity/secret.ts'
import type { KeyRow, KeyTable, Store } from '../store/store.ts'
import { type Command, type Context, UsageError } from './command.ts'
import { readName } from './name.ts'
import { print, printJson, say, table, timeText } from './output.ts'
import { withStore } from './settings.ts'
import { readTime } from './time.ts'

const mostPerMinute = 1_000_000_000_000

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
  async run(context) {
    const secret = createSecret()
    const row = readKey(context, secret)
    const insert = async (store: Store) => {
      checkGroup(row.group, await store.deployment.groups())
      await store.accounts.ensure(row.account, row.createdAt)
      await store.keys.insert(row)
    }
    await withStore(context, insert, 'make')
    if (context.json) {
      await printJson({ ...keyView(row, context.nowMs), secret })
      return undefined
    }
    say(`Key ${row.id} (${row.name}) of account ${row.account}. Its secret is shown this once:`)
    await print(`${secret}\n`)
    return undefined
  },
}

export const keyList: Command = {
  name: 'key list',
  words: [],
  summary: 'list the keys kept in the store, never their secrets',
  options: {},
  async run(context) {
    const rows = await withStore(context, (store) => store.keys.all())
    const views = rows.map((row) => keyView(row, context.nowMs))
    if (context.json) {
      await printJson(views)
      return undefined
    }
    const headings = ['ID', 'NAME', 'ACCOUNT', 'GROUP', 'HINT', 'STATUS', 'EXPIRES', 'MODELS']
    const cells = views.map((key) => [
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

export const keyDisable: Command = {
  name: 'key disable',
  words: ['ID'],
  summary: 'stop a key within a second; it stays in the list',
  options: {},
  run: (context) => change(context, 'disabled', (keys, id) => keys.disable(id, context.nowMs)),
}

export const keyRemove: Command = {
  name: 'key remove',
  words: ['ID'],
  summary: 'stop a key within a second and forget it; its usage stays',
  options: {},
  run: (context) => change(context, 'removed', (keys, id) => keys.remove(id)),
}

type Change = (keys: KeyTable, id: string) => Promise<boolean>

async function change(context: Context, done: string, work: Change): Promise<undefined> {
  const [id = ''] = context.words
  if (id.startsWith(configuredKeyId(''))) {
    throw new Error(`key ${id} is declared in the configuration: change it there`)
  }
  const found = await withStore(context, (store) => work(store.keys, id))
  if (!found)
    throw new Error(`there is no key ${JSON.stringify(id)}; \`tollgate key list\` lists them`)
  if (context.json) await printJson({ id, [done]: true })
  else say(`Key ${id} ${done}.`)
  return undefined
}

/** Before the first start of a server nobody knows the groups there will be. */
function checkGroup(group: string, known: readonly string[]): void {
  if (known.length === 0 || known.includes(group)) return
  const near = suggestion(group, known) || `; the configuration has ${known.join(', ')}`
  throw new UsageError(`--group ${group}: there is no such group${near}`)
}

function readKey({ flags, nowMs }: Context, secret: string): KeyRow {
  const expires = flags.text('expires')
  const expiresAt = expires === undefined ? null : readTime('expires', expires)
  if (expiresAt !== null && expiresAt <= nowMs) {
    throw new UsageError(`--expires ${expires}: is in the past`)
  }
  const models = flags
    .text('models')
    ?.split(',')
    .map((model) => model.trim())
  if (models?.includes('')) throw new UsageError('--models: a name between commas is empty')
  return {
    id: `key_${randomBase62(16)}`,
    name: readName(flags.required('name'), '--name'),
    account: readName(flags.required('account'), '--account'),
    group: readName(flags.required('group'), '--group'),
    hash: hashSecret(secret),
    hint: hintOf(secret),
    createdAt: nowMs,
    expiresAt,
    disabledAt: null,
    models: models ?? null,
    requestsPerMinute: flags.count('rpm', mostPerMinute) ?? null,
    tokensPerMinute: flags.count('tpm', mostPerMinute) ?? null,
    concurrentRequests: flags.count('concurrency', mostPerMinute) ?? null,
    showCost: flags.has('show-cost'),
  }
}

function keyView(row: KeyRow, nowMs: number) {
  const expired = row.expiresAt !== null && row.expiresAt <= nowMs
  return {
    id: row.id,
    name: row.name,
    account: row.account,
    group: row.group,
    hint: row.hint,
    status: row.disabledAt !== null ? 'disabled' : expired ? 'expired' : 'active',
    createdAt: timeText(row.createdAt),
    expiresAt: timeText(row.expiresAt),
    disabledAt: timeText(row.disabledAt),
    models: row.models,
    showCost: row.showCost,
    limits: {
      requestsPerMinute: row.requestsPerMinute,
      tokensPerMinute: row.tokensPerMinute,
      concurrentRequests: row.concurrentRequests,
    },
  }
}
