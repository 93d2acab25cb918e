// The folders in which a restore checks a backup and keeps the data it replaces, and what is to be done where one was
// killed.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DataError } from './data-error.ts'
import { type DataLock, lockData } from './lock.ts'
import type { StoreSettings } from './open.ts'
import { databaseFile } from './sqlite.ts'
import { dataFiles, removeCopy } from './sqlite-copy.ts'

const prefix = 'restore-'

/** A new name for it, in a data directory that is locked; what killed restores left there is removed. */
export function restoreFolder(dataDir: string): string {
  for (const left of leftIn(dataDir)) removeCopy(left)
  return join(dataDir, `${prefix}${crypto.randomUUID()}`)
}

/**
 * The folder to which the existing data is to be moved; null where there is none. What a killed restore has not moved
 * goes where it moved the rest: an outbox is of no use without its log, nor without its ledger.
 */
export function asideFolder(dataDir: string, nowMs: number): string | null {
  const names = dataFiles(dataDir)
  const begun = movedAside(dataDir)
  if (begun !== null && !names.some((name) => existsSync(join(begun, name)))) return begun
  const stamp = new Date(nowMs).toISOString().replaceAll(/[:.]/g, '-')
  return names.length === 0 ? null : join(dataDir, `replaced-${stamp}`)
}

/**
 * Locks the data directory for a server and removes what a killed restore left there. Throws `DataLocked`, and
 * `DataError` where there is no ledger because the restore was killed: a server would begin with an empty one.
 */
export function lockForServer({ dataDir, databaseUrl }: StoreSettings): DataLock {
  const lock = lockData(dataDir)
  if (databaseUrl !== null) return lock
  const left = leftIn(dataDir)
  const aside = movedAside(dataDir)
  const found = aside ?? left[0]
  if (found !== undefined && !existsSync(join(dataDir, databaseFile))) {
    lock.release()
    const after = aside === null ? '' : ` after it had moved the data there into ${aside}`
    throw new DataError(
      `A restore into ${dataDir} was interrupted${after}. Run \`tollgate restore\` again, with --force. To begin with an empty ledger instead, move ${found} away.`,
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

/** The newest folder with a ledger that a restore moved away, while no other has taken its place. */
function movedAside(dataDir: string): string | null {
  if (existsSync(join(dataDir, databaseFile))) return null
  const folders = readdirSync(dataDir)
    .filter((name) => /^replaced-\d{4}-\d\d-\d\dT[\d-]+Z$/.test(name))
    .map((name) => join(dataDir, name))
    .filter((folder) => existsSync(join(folder, databaseFile)))
  return folders.sort().at(-1) ?? null
}
