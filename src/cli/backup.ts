// `tollgate backup`: one file with the ledger, and settled in it what the outboxes held, whether a server runs or not.

import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { settleCopies } from '../ledger/settle-copy.ts'
import { databaseFile } from '../store/sqlite.ts'
import {
  copyDatabase,
  finishCopy,
  isDataName,
  openCopy,
  placeCopy,
  removeCopy,
} from '../store/sqlite-copy.ts'
import { copyOutboxes } from '../store/sqlite-outbox-copy.ts'
import { examine } from './audit.ts'
import type { Command } from './command.ts'
import { print, printJson } from './output.ts'
import { requireData, storeSettings } from './settings.ts'

export const backup: Command = {
  name: 'backup',
  words: ['FILE'],
  summary: 'write the ledger and what the outboxes hold to a new file; works while the server runs',
  options: {},
  async run(context) {
    const [word = ''] = context.words
    const file = resolve(word)
    const { dataDir, databaseUrl } = await storeSettings(context)
    if (databaseUrl !== null) {
      throw new Error(
        'the ledger is kept in PostgreSQL: back it up with pg_dump (docs/storage.md says what of the nodes belongs with it)',
      )
    }
    requireData(dataDir)
    if (existsSync(file)) throw new Error(`${file} is there already: name a new file`)
    if (dirname(file) === resolve(dataDir) && isDataName(basename(file))) {
      throw new Error(`${file} is a name of the server's own files: name another file`)
    }
    const made = await writeBackup(dataDir, file)
    const { findings } = made
    const told = { ok: findings === 0, file, bytes: statSync(file).size, ...made }
    if (context.json) await printJson(told)
    else {
      const { bytes, transfers, usageRows, wallets, settled } = told
      const verdict = findings === 0 ? 'no difference' : `${findings} findings, as in the ledger`
      await print(
        `${file}: ${bytes} bytes, ${transfers} transfers, ${usageRows} usage rows (${settled} of them from outboxes), ${wallets} wallets: ${verdict}.\n`,
      )
    }
    return findings === 0 ? 0 : 1
  },
}

/** The outboxes first: what leaves them meanwhile is in the ledger by the time it is copied. */
async function writeBackup(dataDir: string, file: string) {
  const folder = `${file}.${randomUUID()}`
  try {
    const outboxes = copyOutboxes(dataDir)
    copyDatabase(join(dataDir, databaseFile), folder)
    const copy = await openCopy(folder)
    try {
      const settled = await settleCopies(copy, outboxes)
      await copy.endNodes()
      const { report } = await examine(copy)
      const damaged = report.findings.find(({ kind }) => kind === 'integrity')
      if (damaged !== undefined) {
        throw new Error(`the ledger is damaged, and no backup was made: ${damaged.message}`)
      }
      await copy.close()
      placeCopy(finishCopy(folder), file)
      const { transfers, usageRows, wallets, findings } = report
      return { transfers, usageRows, settled, wallets, findings: findings.length }
    } catch (error) {
      await copy.close()
      throw error
    }
  } finally {
    removeCopy(folder)
  }
}
