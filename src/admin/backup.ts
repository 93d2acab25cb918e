// Backs up the ledger to one file, also while a server runs; on SQLite, with the outboxes' records settled in it.

import { existsSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { openDraft } from '../store/draft-folder.ts'
import type { StoreSettings } from '../store/open.ts'
import { finishCopy, isDataName, placeCopy } from '../store/sqlite-copy.ts'
import { dumpDatabase } from './postgres-dump.ts'
import type { Input } from './schema.ts'
import { copyState, settleState } from './snapshot.ts'
import { AdminError } from './use-case.ts'

/**
 * Writes a new file. On SQLite the ledger in it is audited: where it is damaged, this throws and leaves no file. For
 * PostgreSQL, restoring the file audits it.
 */
export async function backUp({ dataDir, databaseUrl }: StoreSettings, { file }: Input<'backUp'>) {
  if (existsSync(file)) throw refused(`${file} is there already: name a new file`)
  // Such as a disk that is not mounted.
  if (!existsSync(dirname(file))) throw refused(`${dirname(file)} is not there: make the folder`)
  if (databaseUrl !== null) return dumpDatabase(databaseUrl, file)
  if (dirname(file) === resolve(dataDir) && isDataName(basename(file))) {
    throw refused(`${file} is a name of the server's own files: name another file`)
  }
  const written = await write(dataDir, file)
  return { ok: written.findings === 0, file, bytes: statSync(file).size, ...written }
}

function refused(message: string): AdminError {
  return new AdminError('conflict', 'file', message)
}

async function write(dataDir: string, file: string) {
  const draft = openDraft(file)
  try {
    const outboxes = copyState(dataDir, draft.path)
    const { settled, audit } = await settleState(draft.path, outboxes, 'file')
    placeCopy(finishCopy(draft.path), file)
    const { transfers, usageRows, wallets, findings } = audit
    return { transfers, usageRows, settled, wallets, findings: findings.length }
  } finally {
    draft.remove()
  }
}
