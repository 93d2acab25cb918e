// A backup: one file with the ledger, and settled in it what the outboxes held, whether a server runs or not.

import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { settleCopies } from '../ledger/settle-copy.ts'
import type { StoreSettings } from '../store/open.ts'
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
import { auditLedger } from './audit.ts'
import type { Input } from './schema.ts'
import { AdminError } from './use-case.ts'

/** Writes a new file and checks the ledger in it. Throws where the ledger is damaged; no file is left then. */
export async function backUp({ dataDir, databaseUrl }: StoreSettings, { file }: Input<'backUp'>) {
  if (databaseUrl !== null) {
    throw refused(
      'the ledger is kept in PostgreSQL: back it up with pg_dump (docs/storage.md says what of the nodes belongs with it)',
    )
  }
  if (existsSync(file)) throw refused(`${file} is there already: name a new file`)
  if (dirname(file) === resolve(dataDir) && isDataName(basename(file))) {
    throw refused(`${file} is a name of the server's own files: name another file`)
  }
  const written = await write(dataDir, file)
  return { ok: written.findings === 0, file, bytes: statSync(file).size, ...written }
}

function refused(message: string): AdminError {
  return new AdminError('conflict', 'file', message)
}

/** The outboxes first: what leaves them meanwhile is in the ledger by the time it is copied. */
async function write(dataDir: string, file: string) {
  const folder = `${file}.${randomUUID()}`
  try {
    const outboxes = copyOutboxes(dataDir)
    copyDatabase(join(dataDir, databaseFile), folder)
    const copy = await openCopy(folder)
    try {
      const settled = await settleCopies(copy, outboxes)
      await copy.endNodes()
      const { transfers, usageRows, wallets, findings } = await auditLedger({ store: copy })
      const damaged = findings.find(({ kind }) => kind === 'integrity')
      if (damaged !== undefined) {
        throw refused(`the ledger is damaged, and no backup was made: ${damaged.message}`)
      }
      await copy.close()
      placeCopy(finishCopy(folder), file)
      return { transfers, usageRows, settled, wallets, findings: findings.length }
    } catch (error) {
      await copy.close()
      throw error
    }
  } finally {
    removeCopy(folder)
  }
}
