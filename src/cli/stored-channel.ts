// `tollgate channel create`, `update` and `delete`: channels that are made at run time.

import { readInput } from '../admin/input.ts'
import type { Changed } from '../admin/stored-items.ts'
import type { Command, Context, Option } from './command.ts'
import { UsageError } from './command.ts'
import { printJson, say } from './output.ts'
import { actor } from './price.ts'
import { withStoredRooms } from './settings.ts'

const text = (value: string, help: string): Option => ({ type: 'string', value, help })

const options: Readonly<Record<string, Option>> = {
  vendor: text('NAME', 'who answers: openai, anthropic, ...'),
  'base-url': text('ADDRESS', "the part of the URL before the vendor's own path"),
  'key-from': text('VARIABLE', "the environment variable with the vendor's key"),
  models: text('NAMES', 'models it answers for, separated by commas'),
  groups: text('NAMES', 'groups whose keys may use it, separated by commas'),
  tags: text('NAMES', 'labels to select it by, separated by commas'),
  priority: text('N', 'channels with the lowest number are tried first'),
  weight: text('N', 'share of requests among channels of the same priority'),
  state: text('STATE', 'enabled, draining or disabled'),
  note: text('TEXT', 'for operators'),
  set: text('JSON', 'any other field, as in the configuration file: {"concurrency": 8}'),
  actor,
}

const fields = { id: 'ID', baseUrl: 'base-url', key: 'key-from' }

export const channelCreate: Command = {
  name: 'channel create',
  words: ['ID'],
  summary: 'create a channel; every server uses it within a second',
  options,
  fields,
  async run(context) {
    const [id = ''] = context.words
    const { createItem } = await import('../admin/stored-items.ts')
    const document = documentOf(context)
    const changed = await withStoredRooms(
      context,
      (admin, rooms) => createItem(admin, rooms, 'channel', { ...document, id }),
      eventOf('createChannel'),
    )
    return show(context, changed, 'made')
  },
}

export const channelUpdate: Command = {
  name: 'channel update',
  words: ['ID'],
  summary: 'change a channel that was created at run time',
  options,
  fields,
  async run(context) {
    const [id = ''] = context.words
    const { updateItem } = await import('../admin/stored-items.ts')
    const input = await readInput('changeItem', { id, changes: documentOf(context) })
    const changed = await withStoredRooms(
      context,
      (admin, rooms) => updateItem(admin, rooms, 'channel', input),
      eventOf('updateChannel'),
    )
    return show(context, changed, 'changed')
  },
}

export const channelDelete: Command = {
  name: 'channel delete',
  words: ['ID'],
  summary: 'delete a channel that was created at run time; running requests finish',
  options: { actor },
  fields,
  async run(context) {
    const [id = ''] = context.words
    const { removeItem } = await import('../admin/stored-items.ts')
    const changed = await withStoredRooms(
      context,
      (admin, rooms) => removeItem(admin, rooms, 'channel', { id }),
      eventOf('deleteChannel'),
    )
    return show(context, changed, 'removed')
  },
}

const eventOf = (action: string) => (changed: Changed) => ({
  action,
  target: { id: changed.id },
  detail: changed,
})

/** The channel's document from the flags, as the file would write it. */
function documentOf({ flags, env }: Context): Readonly<Record<string, unknown>> {
  const list = (name: string) =>
    flags
      .text(name)
      ?.split(',')
      .map((each) => each.trim())
  const variable = flags.text('key-from')
  const key = variable !== undefined && Object.hasOwn(env, variable) ? env[variable] : undefined
  if (variable !== undefined && !key) throw new UsageError(`--key-from: ${variable} is not set`)
  const said = {
    vendor: flags.text('vendor'),
    baseUrl: flags.text('base-url'),
    key,
    models: list('models'),
    groups: list('groups'),
    tags: list('tags'),
    priority: flags.text('priority'),
    weight: flags.text('weight'),
    state: flags.text('state'),
    note: flags.text('note'),
    ...moreOf(flags.text('set')),
  }
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))
}

function moreOf(json: string | undefined): object {
  if (json === undefined) return {}
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new UsageError('--set: expected a JSON object such as {"concurrency": 8}')
}

async function show({ json }: Context, changed: Changed, done: string): Promise<undefined> {
  if (json) await printJson(changed)
  else say(`Channel ${changed.id} ${done}; every server uses it within a second.`)
  return undefined
}
