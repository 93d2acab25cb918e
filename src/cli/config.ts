// `tollgate config`: checks the configuration, and shows the one in force.

import { ConfigError, type Problem } from '../config/problems.ts'
import type { PriceConflict } from '../meter/file-prices.ts'
import type { Command, Context } from './command.ts'
import { print, printJson, say, whoeverReads } from './output.ts'
import { conflictText } from './price-apply.ts'
import { loadFor, storedIn } from './settings.ts'

export const configCheck: Command = {
  name: 'config check',
  words: ['[FILE]'],
  summary: 'check whether the server would accept this configuration and could serve all of it',
  options: {},
  async run(context) {
    const [word] = context.words
    try {
      const config = await loadFor(context, word)
      const stored = await storedIn(context, config)
      const [{ withChannels }, { checkConfiguration }] = await Promise.all([
        import('../admin/channels.ts'),
        import('../admin/check-configuration.ts'),
      ])
      const { problems, prices } = checkConfiguration(withChannels(config, context.env), stored)
      await whoeverReads(printResult(context, config.file, problems, prices))
      return problems.length === 0 ? undefined : 1
    } catch (error) {
      if (!(error instanceof ConfigError) || !context.json) throw error
      const file = word ?? context.flags.text('config') ?? null
      await whoeverReads(printJson({ valid: false, file, problems: error.problems }))
      return 1
    }
  },
}

/** `prices` is null where no store was read. */
async function printResult(
  { json }: Context,
  file: string | null,
  problems: readonly Problem[],
  prices: readonly PriceConflict[] | null,
): Promise<void> {
  if (json) {
    const valid = problems.length === 0
    await printJson({ valid, file, problems, ...(prices !== null && { prices }) })
    return
  }
  const valid = file === null ? 'The defaults, without a file, are valid' : `${file} is valid`
  if (problems.length === 0) await print(`${valid}, and all of it can be served.\n`)
  else say(`${valid}, but parts of it cannot be served:`)
  for (const { path, message } of problems) say(`  ${path}: ${message}`)
  if (prices === null || prices.length === 0) return
  await print(
    "Prices that differ from those in the database, which apply until the file's prices are accepted:\n",
  )
  for (const conflict of prices) await print(`  ${conflictText(conflict)}\n`)
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
