// The folder in which a backup is checked before it replaces the data, and what is to be done where a restore was killed.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DataError } from './data-error.ts'
import { type DataLock, lockData } from './lock.ts'
import type { StoreSettings } from './open.ts'
import { databaseFile } from './sqlite.ts'
import { removeCopy } from './sqlite-copy.ts'

const prefix = 'restore-'

/** A new name for it, in a data directory that is locked; what killed restores left there is removed. */
export function restoreFolder(dataDir: string): string {
  for (const left of leftIn(dataDir)) removeCopy(left)
  return join(dataDir, `${prefix}${crypto.randomUUID()}`)
}

/**
 * Locks the data directory for a server and removes what a killed restore left there. Throws `DataLocked`, and
 * `DataError` where the restore had moved the ledger away already: a server would begin with an empty one.
 */
export function lockForServer({ dataDir, databaseUrl }: StoreSettings): DataLock {
  const lock = lockData(dataDir)
  const left = databaseUrl === null ? leftIn(dataDir) : []
  if (left.length > 0 && !existsSync(join(dataDir, databaseFile))) {
    lock.release()
    throw new DataError(
      `A restore into ${dataDir} was interrupted after it had moved the data there into a folder replaced-TIME. Run \`tollgate restore\` again, with --force.`,
    )
  }
  for (const folder of left) removeCopy(folder)
  return lock
}

function leftIn(dataDir: string): string[] {
  return readdirSync(dataDir)
    .filter((name) => /^restore-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name))
    .map((name) => join(dataDir, name))
}
