// `tollgate migrate`: migrates the database to this version's schema before the server starts, or shows what is
// pending.

import { openStore, waitingChanges } from '../store/open.ts'
import type { Command } from './command.ts'
import { print, printJson } from './output.ts'
import { requireData, storeSettings } from './settings.ts'

export const migrate: Command = {
  name: 'migrate',
  words: [],
  summary: "migrate the database to this version's schema, as a start of the server does",
  options: {
    plan: { type: 'boolean', help: 'only list the migrations that would run' },
  },
  async run(context) {
    const settings = await storeSettings(context)
    if (settings.databaseUrl === null) requireData(settings.dataDir)
    const migrations = await waitingChanges(settings)
    const applied = !context.flags.has('plan')
    if (applied) await (await openStore(settings)).close()
    if (context.json) {
      await printJson({ applied, migrations })
      return undefined
    }
    const outcome = applied ? 'applied' : 'to apply'
    const lines = migrations.map((name) => `${outcome}: ${name}\n`)
    await print(lines.length === 0 ? "The schema is this version's.\n" : lines.join(''))
    return undefined
  },
}
