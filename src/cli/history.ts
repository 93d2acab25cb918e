// `tollgate history`: the messages kept for accounts, and the key pairs for sealed ones.

import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { gunzipSync } from 'node:zlib'
import { findWallet } from '../admin/accounts.ts'
import { exportData } from '../admin/export-data.ts'
import {
  deleteHistory,
  deleteMessage,
  type HistoryDetail,
  type HistorySummary,
  listHistory,
  readHistory,
  setHistoryChoice,
} from '../admin/history.ts'
import { readInput } from '../admin/input.ts'
import type { Input } from '../admin/schema.ts'
import type { AdminContext } from '../admin/use-case.ts'
import { type HistoryKeys, makeKeys, openSealed } from '../history/sealed.ts'
import { type Command, type Context, type Option, UsageError } from './command.ts'
import { print, printJson, say, table } from './output.ts'
import { withChange, withStore } from './settings.ts'

const account: Option = { type: 'string', value: 'A', help: 'of this account' }
const range: Readonly<Record<string, Option>> = {
  since: {
    type: 'string',
    value: 'T',
    help: 'only from this time on: 1h (ago), 2d, 2027-01-31T08:00:00Z',
  },
  until: { type: 'string', value: 'T', help: 'only before this time: 2027-01-31T08:00:00Z' },
}
const filters: Readonly<Record<string, Option>> = {
  account,
  key: { type: 'string', value: 'ID', help: 'only of this key' },
  model: { type: 'string', value: 'M', help: 'only requests for this model' },
  ...range,
  limit: { type: 'string', value: 'N', help: 'at most this many; 100 by default, up to 5000' },
}

/** Whoever has the data directory can read everything in it. */
const operator = { self: null, readsAll: true }

export const historySet: Command = {
  name: 'history set',
  words: ['ACCOUNT', 'MODE'],
  summary: "choose what is kept of an account's messages: off, metadata, sealed or full",
  options: {
    days: {
      type: 'string',
      value: 'N',
      help: "for how many days; by default the server's setting",
    },
    'public-key': {
      type: 'string',
      value: 'KEY',
      help: 'public key that message bodies are sealed to',
    },
  },
  fields: {
    account: 'ACCOUNT',
    mode: 'MODE',
    retentionDays: 'days',
    publicKey: 'public-key',
  },
  async run(context) {
    const { words, flags } = context
    const input = await readInput('setHistory', {
      account: words[0],
      mode: words[1],
      retentionDays: flags.number('days'),
      publicKey: flags.text('public-key'),
    })
    const { account: id, ...detail } = input
    const choice = await withChange(
      context,
      (admin) => setHistoryChoice(admin, input),
      () => ({ action: 'setHistoryChoice', target: { id }, detail }),
    )
    if (context.json) await printJson(choice)
    else say(`Messages of ${choice.account} kept: ${choice.mode}.`)
    return undefined
  },
}

export const historyList: Command = {
  name: 'history list',
  words: [],
  summary: 'list kept messages, newest first',
  options: filters,
  run: (context) => showList(context, {}),
}

export const historySearch: Command = {
  name: 'history search',
  words: ['TEXT'],
  summary: 'search for a text in message bodies that are not sealed',
  options: filters,
  fields: { text: 'TEXT' },
  run: (context) => showList(context, { text: context.words[0], hasBody: true }),
}

async function showList(
  context: Context,
  more: Readonly<Record<string, unknown>>,
): Promise<undefined> {
  const { flags } = context
  const input = await readInput('listHistory', {
    account: flags.text('account'),
    key: flags.text('key'),
    model: flags.text('model'),
    since: flags.text('since'),
    until: flags.text('until'),
    limit: flags.number('limit'),
    ...more,
  })
  const items = await withStore(context, (admin) => listed(admin, input))
  if (context.json) await printJson(items)
  else {
    const cells = items.map((each) => [
      each.at,
      each.requestId,
      each.account,
      each.keyName,
      each.model,
      each.status,
      each.mode,
      each.requestBytes,
      each.replyBytes,
    ])
    const headings = [
      'AT',
      'REQUEST',
      'ACCOUNT',
      'KEY',
      'MODEL',
      'STATUS',
      'MODE',
      'ASKED',
      'ANSWERED',
    ]
    await print(table(headings, cells))
  }
  return undefined
}

/** Reads pages until the limit: a page of a search may be short although more pages follow. */
async function listed(admin: AdminContext, input: Input<'listHistory'>) {
  const items: HistorySummary[] = []
  let cursor: string | undefined
  do {
    const page = await listHistory(admin, { ...input, limit: input.limit - items.length, cursor })
    items.push(...page.items)
    cursor = page.next ?? undefined
  } while (cursor !== undefined && items.length < input.limit)
  return items
}

export const historyShow: Command = {
  name: 'history show',
  words: ['REQUEST'],
  summary: "show a request's messages and its reply",
  options: {
    'secret-key': {
      type: 'string',
      value: 'FILE',
      help: 'opens a sealed body: a file written by `history keygen`',
    },
  },
  fields: { id: 'REQUEST' },
  hints: { 'not_found id': '; `tollgate history list` lists them' },
  async run(context) {
    const file = context.flags.text('secret-key')
    const keys = file === undefined ? null : readKeys(file)
    const input = await readInput('historyMessage', { id: context.words[0] })
    const detail = await withStore(context, (admin) => readHistory(admin, input, operator))
    const shown = keys === null ? detail : await opened(detail, keys)
    if (!context.json && shown.sealed !== null && shown.body === null)
      say('Its body is sealed: use --secret-key FILE to open it.')
    await printJson(shown)
    return undefined
  },
}

async function opened(detail: HistoryDetail, keys: HistoryKeys): Promise<HistoryDetail> {
  const { sealed, requestId } = detail
  if (sealed === null) return detail
  const bytes = (text: string) => Buffer.from(text, 'base64')
  try {
    const open = await openSealed(keys, bytes(sealed.wrappedKey), requestId)
    const text = gunzipSync(await open(bytes(sealed.content))).toString('utf8')
    return { ...detail, body: JSON.parse(text) }
  } catch (error) {
    if (error instanceof DOMException)
      throw new Error(`the message of ${requestId} is sealed to another key`, { cause: error })
    throw error
  }
}

function readKeys(file: string): HistoryKeys {
  const { publicKey, secretKey } = jsonOf(readFileSync(file, 'utf8'))
  if (typeof publicKey === 'string' && typeof secretKey === 'string')
    return { publicKey, secretKey }
  throw new UsageError(`--secret-key ${file}: expected a file written by \`history keygen\``)
}

function jsonOf(text: string): { readonly publicKey?: unknown; readonly secretKey?: unknown } {
  try {
    return Object(JSON.parse(text))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return {}
  }
}

export const historyDelete: Command = {
  name: 'history delete',
  words: ['[REQUEST]'],
  summary: 'delete one message, all of an account (--account A), or those of a time range',
  options: { account, ...range },
  fields: { id: 'REQUEST' },
  hints: { 'not_found id': '; `tollgate history list` lists them' },
  async run(context) {
    const { words, flags } = context
    const [id] = words
    const ranged = ['account', 'since', 'until'].filter((name) => flags.has(name))
    if (id !== undefined && ranged.length > 0)
      throw new UsageError(`REQUEST names one message: remove --${ranged[0]}`)
    const deleted = id === undefined ? await deleteRange(context) : await deleteOne(context, id)
    if (context.json) await printJson({ deleted })
    else say(`${deleted} deleted.`)
    return undefined
  },
}

async function deleteRange(context: Context): Promise<number> {
  const { flags } = context
  const input = await readInput('deleteHistory', {
    account: flags.required('account'),
    since: flags.text('since'),
    until: flags.text('until'),
  })
  const { account, ...detail } = input
  const { deleted } = await withChange(
    context,
    async (admin) => {
      await findWallet(admin.store, account)
      return deleteHistory(admin, input)
    },
    () => ({ action: 'deleteHistory', target: { account }, detail }),
  )
  return deleted
}

async function deleteOne(context: Context, given: string): Promise<number> {
  const { id } = await readInput('historyMessage', { id: given })
  await withChange(
    context,
    (admin) => deleteMessage(admin, { id }),
    () => ({ action: 'deleteMessage', target: { id } }),
  )
  return 1
}

export const historyExport: Command = {
  name: 'history export',
  words: ['ACCOUNT', 'FILE'],
  summary: 'write everything kept of an account to a ZIP of NDJSON files: usage, keys, messages',
  options: {},
  fields: { account: 'ACCOUNT' },
  async run(context) {
    const [name, file = ''] = context.words
    const input = await readInput('account', { account: name })
    await withStore(context, async (admin) => {
      await findWallet(admin.store, input.account)
      const target = createWriteStream(file, { flags: 'wx', mode: 0o600 })
      await once(target, 'open')
      await pipeline(exportData(admin, input), target).catch(async (error) => {
        await rm(file, { force: true })
        throw error
      })
    })
    if (context.json) await printJson({ account: input.account, file })
    else say(`Written to ${file}.`)
    return undefined
  },
}

export const historyKeygen: Command = {
  name: 'history keygen',
  words: ['FILE'],
  summary: 'create a key pair for sealed messages; the secret key is only in FILE',
  options: {},
  async run(context) {
    const [file = ''] = context.words
    const keys = await makeKeys()
    writeFileSync(file, `${JSON.stringify(keys, null, 2)}\n`, { flag: 'wx', mode: 0o600 })
    const { publicKey } = keys
    if (context.json) await printJson({ publicKey, file })
    else {
      say(
        `The secret key is in ${file}: without it nobody can open sealed messages. The public key:`,
      )
      await print(`${publicKey}\n`)
    }
    return undefined
  },
}
