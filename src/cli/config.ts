// `tollgate config`: checks the configuration, and shows what is in force.

import { ConfigError } from '../config/problems.ts'
import type { Command } from './command.ts'
import { print, printJson } from './output.ts'
import { loadFor } from './settings.ts'

export const configCheck: Command = {
  name: 'config check',
  words: ['[FILE]'],
  summary: 'say whether the server would take this configuration',
  options: {},
  async run(context) {
    try {
      const { file } = await loadFor(context, context.words[0])
      if (context.json) await printJson({ valid: true, file, problems: [] })
      else await print(`${file ?? 'The defaults, without a file,'} can be served.\n`)
      return undefined
    } catch (error) {
      if (!(error instanceof ConfigError) || !context.json) throw error
      const file = context.words[0] ?? context.flags.text('config') ?? null
      await printJson({ valid: false, file, problems: error.problems })
      return 1
    }
  },
}

export const configShow: Command = {
  name: 'config show',
  words: [],
  summary: 'print the configuration in force, secrets masked',
  options: {},
  async run(context) {
    const config = await loadFor(context)
    const { describeConfig } = await import('../config/describe.ts')
    await printJson(describeConfig(config))
    return undefined
  },
}
