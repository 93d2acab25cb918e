// `tollgate settings`: settings that may be changed while servers run.

import { readInput } from '../admin/input.ts'
import { listSettings, type Setting, setSetting, unsetSetting } from '../admin/settings.ts'
import type { AdminContext } from '../admin/use-case.ts'
import type { Config } from '../config/types.ts'
import type { Command, Context } from './command.ts'
import { print, printJson, say, table } from './output.ts'
import { actor } from './price.ts'
import { type ChangeEvent, loadFor, withChange, withStore } from './settings.ts'

const fields = { name: 'NAME', value: 'VALUE' }

export const settingsList: Command = {
  name: 'settings list',
  words: [],
  summary: 'list the settings that can be changed while servers run',
  options: {},
  async run(context) {
    const config = await loadFor(context)
    const { items } = await withStore(context, (admin) => listSettings(admin, config))
    if (context.json) await printJson(items)
    else {
      const cells = items.map((each) => [each.name, valueText(each), from(each), each.changedAt])
      await print(table(['NAME', 'VALUE', 'FROM', 'CHANGED'], cells))
    }
    return undefined
  },
}

export const settingsSet: Command = {
  name: 'settings set',
  words: ['NAME', 'VALUE'],
  summary: 'change a setting; every server uses it within a second',
  options: { actor },
  fields,
  async run(context) {
    const [name, value = ''] = context.words
    const input = await readInput('setSetting', { name, value: valueOf(value) })
    const event = {
      action: 'setSetting',
      target: { name: input.name },
      detail: { value: input.value },
    }
    await show(
      context,
      await change(context, event, (admin, config) => setSetting(admin, config, input)),
    )
    return undefined
  },
}

export const settingsUnset: Command = {
  name: 'settings unset',
  words: ['NAME'],
  summary: 'reset a setting to its default',
  options: { actor },
  fields,
  async run(context) {
    const input = await readInput('unsetSetting', { name: context.words[0] })
    const event = { action: 'unsetSetting', target: { name: input.name } }
    await show(
      context,
      await change(context, event, (admin, config) => unsetSetting(admin, config, input)),
    )
    return undefined
  },
}

/** Runs a change with the configuration, which takes precedence over settings of the store. */
async function change<Result>(
  context: Context,
  event: ChangeEvent,
  useCase: (admin: AdminContext, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = await loadFor(context)
  return withChange(
    context,
    (admin) => useCase(admin, config),
    () => event,
  )
}

/** Parses lists and objects as JSON; any other word is the value itself. */
function valueOf(word: string): unknown {
  if (!/^\s*[[{]/.test(word)) return word
  try {
    return JSON.parse(word)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return word
  }
}

async function show({ json }: Context, setting: Setting): Promise<void> {
  if (json) await printJson(setting)
  else say(`${setting.name} is ${valueText(setting)} (${from(setting)}).`)
}

function from({ declared, revision }: Setting): string {
  if (declared) return 'configuration file'
  return revision === 0 ? 'default' : 'set'
}

function valueText({ value }: Setting): string {
  if (value === null) return 'none'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
