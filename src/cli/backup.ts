// `tollgate backup` and `tollgate restore`: write the ledger to one file, and restore it from that file.

import { resolve } from 'node:path'
import { backUp } from '../admin/backup.ts'
import { restore as restoreBackup } from '../admin/restore.ts'
import type { Command } from './command.ts'
import { print, printJson } from './output.ts'
import { requireData, storeSettings } from './settings.ts'

export const backup: Command = {
  name: 'backup',
  words: ['FILE'],
  summary:
    'write the ledger (on SQLite, with the records in the outboxes) to a new file; works while the server runs',
  options: {},
  async run(context) {
    const [word = ''] = context.words
    const settings = await storeSettings(context)
    if (settings.databaseUrl === null) requireData(settings.dataDir)
    const made = await backUp(settings, { file: resolve(word) })
    const { ok, file, bytes, transfers, usageRows, settled, wallets, findings } = made
    if (context.json) await printJson(made)
    else if (findings === null) await print(`${file}: ${bytes} bytes. A restore checks them.\n`)
    else {
      const outcome = ok ? 'no difference' : `${findings} findings, as in the ledger`
      await print(
        `${file}: ${bytes} bytes, ${transfers} transfers, ${usageRows} usage rows (${settled} of them from outboxes), ${wallets} wallets: ${outcome}.\n`,
      )
    }
    return ok ? 0 : 1
  },
}

export const restore: Command = {
  name: 'restore',
  words: ['FILE'],
  summary:
    'restore a backup into the data directory, or into an empty PostgreSQL; the server must not run',
  options: {
    force: {
      type: 'boolean',
      help: 'SQLite only: move existing data to a folder beside it',
    },
  },
  hints: { 'conflict force': ', or say --force' },
  async run(context) {
    const [word = ''] = context.words
    const settings = await storeSettings(context)
    const input = { file: resolve(word), force: context.flags.has('force') }
    const restored = await restoreBackup(settings, input, context.nowMs)
    const { ok, dataDir, transfers, usageRows, wallets, findings, aside } = restored
    if (context.json) await printJson(restored)
    else {
      const outcome = ok ? 'no difference' : `${findings} findings, as in the ledger backed up`
      const moved = aside === null ? '' : ` What was there is in ${aside}.`
      await print(
        `${dataDir ?? 'The database'}: ${transfers} transfers, ${usageRows} usage rows, ${wallets} wallets: ${outcome}.${moved}\n`,
      )
    }
    return ok ? 0 : 1
  },
}
