// Copies of the SQLite store: made beside a running server, opened as a separate store, and put into place complete.

import { Database } from 'bun:sqlite'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DataError } from './data-error.ts'
import type { NodeRef } from './ledger.ts'
import { databaseFile, openSqlite } from './sqlite.ts'
import { isBusy, isDamage, makeDataDir, naming, unusable } from './sqlite-file.ts'
import type { Store } from './store.ts'
import { createStore } from './tables.ts'

/** Copies a snapshot of a database into a folder, where `openCopy` can open it. Throws `DataError`. */
export function copyDatabase(path: string, folder: string, name = databaseFile): void {
  if (!existsSync(path)) throw new DataError(`Cannot use ${path}: there is no such file.`)
  naming(path, () => {
    const database = new Database(path, { readwrite: true, create: false })
    try {
      database.run('PRAGMA busy_timeout = 5000')
      const made = database.query(`SELECT 1 FROM sqlite_master WHERE name = 'schema_migration'`)
      if (made.get() === null) throw new Error('it holds no Tollgate data')
      writeCopy(database, folder, name)
    } finally {
      database.close()
    }
  })
}

/** A failure is reported for the copy's path, unless the database itself is damaged or locked. */
function writeCopy(database: Database, folder: string, name: string): void {
  const target = join(folder, name)
  try {
    makeDataDir(folder)
    database.run('VACUUM INTO ?', [target])
    chmodSync(target, 0o600)
  } catch (error) {
    throw isDamage(error) || isBusy(error) ? error : unusable(target, error)
  }
}

/** Opens the copy as a store, migrated to this version's schema. */
export async function openCopy(folder: string): Promise<Store & { endNodes(): Promise<void> }> {
  const engine = await openSqlite(folder)
  const store = createStore(engine)
  return {
    ...store,
    /** Closes every node and releases its leases, because no node runs on a copy. */
    async endNodes() {
      const open = `SELECT id AS node, epoch FROM node WHERE state = 'open'`
      for (const ref of await engine.query<NodeRef>(open, [])) await store.nodes.close(ref)
    },
  }
}

/** Merges the copy and its log into one synced file and returns its path; later steps need no more disk space. */
export function finishCopy(folder: string): string {
  // No connection has this file open, so it may be opened to sync it.
  const whole = join(folder, 'whole')
  copyDatabase(join(folder, databaseFile), whole)
  sync(join(whole, databaseFile))
  return join(whole, databaseFile)
}

/** Gives a finished copy its final name, which must not exist yet. */
export function placeCopy(finished: string, path: string): void {
  naming(path, () => linkSync(finished, path))
  sync(dirname(path))
}

export function removeCopy(folder: string): void {
  if (existsSync(folder)) rmSync(folder, { recursive: true, force: true })
}

/** Merges a database's log into its file; throws if another connection has it open. */
function foldLog(path: string): void {
  const database = new Database(path, { readwrite: true, create: false })
  try {
    database.run('PRAGMA journal_mode = DELETE')
  } finally {
    database.close()
  }
}

/** Names of the files of the ledger and the outboxes in a data directory. */
export function dataFiles(dataDir: string): string[] {
  return existsSync(dataDir) ? readdirSync(dataDir).filter(isDataName).sort() : []
}

/** Whether a file of the ledger or an outbox has this name; false for a backup stored beside them. */
export function isDataName(name: string): boolean {
  return /^(tollgate\.db|outbox-\d+(-[ab])?\.db)(-wal|-shm|-journal)?$|^outbox-\d+\.mark$/.test(
    name,
  )
}

/**
 * Moves the data files unchanged into a folder beside them, the ledger first: where this is killed, a server finds
 * either all of them or no ledger. Throws if another program has the ledger open.
 */
export function moveAside(dataDir: string, folder: string): void {
  const path = join(dataDir, databaseFile)
  try {
    if (existsSync(path)) foldLog(path)
  } catch (error) {
    if (isBusy(error)) {
      throw new DataError(`Another program has ${path} open. Stop it first.`, { cause: error })
    }
    // A damaged file is what the caller wants to replace.
    if (!isDamage(error)) throw error
  }
  makeDataDir(folder)
  const others = dataFiles(dataDir).filter((name) => name !== databaseFile)
  const names = existsSync(path) ? [databaseFile, ...others] : others
  for (const name of names) renameSync(join(dataDir, name), join(folder, basename(name)))
  sync(dataDir)
}

function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
