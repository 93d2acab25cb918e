// `tollgate key`: creates, lists, shows, edits, rotates, disables and removes keys.

import { readInput } from '../admin/input.ts'
import {
  createKey,
  disableKey,
  enableKey,
  keyImpact,
  listKeys,
  removeKey,
  rotateKey,
  showKey,
  updateKey,
} from '../admin/keys.ts'
import { readDuration } from '../admin/time.ts'
import type { KeyConfig } from '../config/types.ts'
import { formatUnits } from '../money.ts'
import { changeNamed } from './change.ts'
import { type Command, type Context, UsageError } from './command.ts'
import { narrowingFields, narrowingOptions, readNarrowing } from './key-options.ts'
import { print, printJson, say, table } from './output.ts'
import { loadFor, withChange, withStore } from './settings.ts'

export const keyCreate: Command = {
  name: 'key create',
  words: [],
  summary: 'create a key and show its secret once',
  options: {
    account: {
      type: 'string',
      value: 'A',
      help: 'account it spends from; created if it does not exist',
    },
    group: {
      type: 'string',
      value: 'G',
      help: 'group that decides which models it may use; left out: `default`, or the first it may have',
    },
    name: { type: 'string', value: 'N', help: 'name shown to people' },
    ...narrowingOptions,
    'show-cost': { type: 'boolean', help: 'include the cost in its replies' },
  },
  fields: narrowingFields,
  async run(context) {
    const { flags } = context
    const input = await readInput('createKey', {
      account: flags.text('account'),
      group: flags.text('group'),
      name: flags.text('name'),
      ...readNarrowing(flags),
      showCost: flags.has('show-cost'),
    })
    const key = await withChange(
      context,
      (admin) => createKey(admin, input),
      () => ({ action: 'createKey', detail: input }),
      'make',
    )
    if (context.json) await printJson(key)
    else {
      say(`Key ${key.id} (${key.name}) of account ${key.account}. Its secret is shown only once:`)
      await print(`${key.secret}\n`)
    }
    return undefined
  },
}

export const keyList: Command = {
  name: 'key list',
  words: [],
  summary: 'list the keys without their secrets; with --config also those of the file',
  options: {
    account: { type: 'string', value: 'A', help: 'only of this account' },
    group: { type: 'string', value: 'G', help: 'only of this group' },
    status: { type: 'string', value: 'S', help: 'only active, disabled or expired ones' },
    search: { type: 'string', value: 'TEXT', help: 'only with this text in the name or the hint' },
    sort: { type: 'string', value: 'S', help: 'by created, name, lastUsed, spend or expiry' },
    desc: { type: 'boolean', help: 'reverse the order' },
  },
  async run(context) {
    const { flags } = context
    const input = await readInput('listKeys', {
      account: flags.text('account'),
      group: flags.text('group'),
      status: flags.text('status'),
      search: flags.text('search'),
      sort: flags.text('sort'),
      order: flags.has('desc') ? 'desc' : 'asc',
    })
    const declared = await declaredKeys(context)
    const { items } = await withStore(context, (admin) => listKeys(admin, input, declared))
    if (context.json) await printJson(items)
    else await printKeys(items)
    return undefined
  },
}

async function printKeys(keys: Awaited<ReturnType<typeof listKeys>>['items']): Promise<void> {
  const headings = [
    ...['ID', 'NAME', 'ACCOUNT', 'GROUP', 'HINT', 'MONTH', 'LAST USED', 'STATUS', 'EXPIRES'],
    'MODELS',
  ]
  const cells = keys.map((key) => [
    key.id,
    key.name,
    key.account,
    key.group,
    key.hint,
    formatUnits(BigInt(key.month.chargeNano)),
    key.lastUsed?.at ?? null,
    key.status,
    key.expiresAt,
    key.models?.join(',') ?? '*',
  ])
  await print(table(headings, cells))
}

/** The keys of the configuration file that the command line or the environment names. */
async function declaredKeys(context: Context): Promise<readonly KeyConfig[]> {
  const isNamed = context.flags.has('config') || Boolean(context.env.TOLLGATE_CONFIG)
  return isNamed ? (await loadFor(context)).keys : []
}

const changing = {
  words: ['ID'],
  hints: { 'not_found id': '; `tollgate key list` lists them' },
  options: {},
}

export const keyShow: Command = {
  ...changing,
  name: 'key show',
  summary: 'show a key, and what still uses it',
  async run(context) {
    const [id = ''] = context.words
    const declared = await declaredKeys(context)
    const shown = await withStore(context, async (admin) => {
      const { requestsLastDay } = await keyImpact(admin, { id }, declared)
      return { ...(await showKey(admin, { id }, declared)), requestsLastDay }
    })
    if (context.json) await printJson(shown)
    else
      await print(
        table(
          ['FIELD', 'VALUE'],
          Object.entries(shown).map(([name, value]) => [name, textOf(value)]),
        ),
      )
    return undefined
  },
}

function textOf(value: unknown): string | number | null {
  if (value === null || typeof value === 'number') return value
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export const keyUpdate: Command = {
  ...changing,
  name: 'key update',
  summary: 'change a key; `none` removes a limit',
  options: {
    name: { type: 'string', value: 'N', help: 'name shown to people' },
    group: { type: 'string', value: 'G', help: 'group that decides which models it may use' },
    ...narrowingOptions,
    'show-cost': {
      type: 'string',
      value: 'yes|no',
      help: 'whether its replies include the cost',
    },
  },
  fields: { ...narrowingFields, showCost: 'show-cost' },
  async run(context) {
    const { flags, words } = context
    const input = await readInput('updateKey', {
      id: words[0],
      name: flags.text('name'),
      group: flags.text('group'),
      ...readNarrowing(flags),
      showCost: readYesOrNo(flags.text('show-cost')),
    })
    const changes = Object.values(input).filter((value) => value !== undefined)
    if (changes.length === 1) throw new UsageError('key update: name at least one change')
    const { id, ...detail } = input
    const key = await withChange(
      context,
      (admin) => updateKey(admin, input),
      () => ({ action: 'updateKey', target: { id }, detail }),
    )
    if (context.json) await printJson(key)
    else say(`Key ${key.id} changed.`)
    return undefined
  },
}

function readYesOrNo(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (text === 'yes' || text === 'no') return text === 'yes'
  throw new UsageError('--show-cost: expected yes or no')
}

export const keyRotate: Command = {
  ...changing,
  name: 'key rotate',
  summary: 'give a key a new secret and show it once',
  options: {
    overlap: {
      type: 'string',
      value: 'TIME',
      help: 'how long the previous secret keeps working: `12h`, at most 7d, 0s for not at all; 1d by default',
    },
  },
  fields: { overlapSeconds: 'overlap' },
  async run(context) {
    const overlap = context.flags.text('overlap')
    const overlapMs = overlap === undefined ? undefined : readDuration(overlap)
    if (overlapMs === null) throw new UsageError('--overlap: expected a time such as 12h or 7d')
    const input = await readInput('rotateKey', {
      id: context.words[0],
      ...(overlapMs !== undefined && { overlapSeconds: overlapMs / 1_000 }),
    })
    const { id, ...detail } = input
    const key = await withChange(
      context,
      (admin) => rotateKey(admin, input),
      () => ({ action: 'rotateKey', target: { id }, detail }),
    )
    if (context.json) await printJson(key)
    else {
      const until =
        key.previousUntil === null ? 'no longer works' : `works until ${key.previousUntil}`
      say(`Key ${key.id} has a new secret, shown only once; the previous one ${until}.`)
      await print(`${key.secret}\n`)
    }
    return undefined
  },
}

export const keyDisable: Command = {
  ...changing,
  name: 'key disable',
  summary: 'disable a key within a second; it stays in the list',
  run: (context) =>
    changeNamed(context, { action: 'disableKey', kind: 'Key', done: 'disabled' }, disableKey),
}

export const keyEnable: Command = {
  ...changing,
  name: 'key enable',
  summary: 'enable a disabled key again, within a second',
  run: (context) =>
    changeNamed(context, { action: 'enableKey', kind: 'Key', done: 'enabled' }, enableKey),
}

export const keyRemove: Command = {
  ...changing,
  name: 'key remove',
  summary: 'delete a key within a second; its usage stays',
  run: (context) =>
    changeNamed(context, { action: 'deleteKey', kind: 'Key', done: 'removed' }, removeKey),
}
