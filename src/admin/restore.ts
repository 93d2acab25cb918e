// Restores a backup, after checking it, into a data directory without a running server or an empty PostgreSQL database.

import { join } from 'node:path'
import { lockData } from '../store/lock.ts'
import type { StoreSettings } from '../store/open.ts'
import { asideFolder, restoreFolder } from '../store/restore-folder.ts'
import { databaseFile } from '../store/sqlite.ts'
import {
  copyDatabase,
  dataFiles,
  finishCopy,
  moveAside,
  openCopy,
  placeCopy,
  removeCopy,
} from '../store/sqlite-copy.ts'
import { auditLedger } from './audit.ts'
import { restoreDatabase } from './postgres-dump.ts'
import type { Input } from './schema.ts'
import { AdminError } from './use-case.ts'

/** `force` moves existing data to a folder beside it. Throws DataLocked where a server runs on the data. */
export async function restore(
  { dataDir, databaseUrl }: StoreSettings,
  { file, force }: Input<'restore'>,
  nowMs: number,
) {
  if (databaseUrl !== null) return restoreDatabase(databaseUrl, file)
  const lock = lockData(dataDir)
  try {
    if (!force && dataFiles(dataDir).length > 0) {
      throw new AdminError(
        'conflict',
        'force',
        `there is data in ${dataDir} already: name another directory`,
      )
    }
    const restored = await putBack(file, dataDir, nowMs)
    return { ok: restored.findings === 0, file, dataDir, ...restored }
  } finally {
    lock.release()
  }
}

function refused(message: string): AdminError {
  return new AdminError('conflict', 'file', message)
}

async function putBack(file: string, dataDir: string, nowMs: number) {
  const folder = restoreFolder(dataDir)
  try {
    copyDatabase(file, folder)
    const { transfers, usageRows, wallets, findings } = await check(folder)
    // Before anything is moved: a full disk must not cost the existing data.
    const finished = finishCopy(folder)
    const aside = asideFolder(dataDir, nowMs)
    if (aside !== null) moveAside(dataDir, aside)
    placeCopy(finished, join(dataDir, databaseFile))
    return { transfers, usageRows, wallets, findings: findings.length, aside }
  } finally {
    removeCopy(folder)
  }
}

/**
 * Throws where the backup is damaged, so that it replaces nothing; other findings were in the ledger already and are
 * counted.
 */
async function check(folder: string) {
  const copy = await openCopy(folder)
  try {
    await copy.endNodes()
    const audit = await auditLedger({ store: copy })
    const damaged = audit.findings.find(({ kind }) => kind === 'integrity')
    if (damaged === undefined) return audit
    throw refused(`the backup is damaged, and nothing was changed: ${damaged.message}`)
  } finally {
    await copy.close()
  }
}
