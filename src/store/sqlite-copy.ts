// Copies of the SQLite store: made beside a running server, opened as a store of their own, and put into place whole.

import { Database } from 'bun:sqlite'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { NodeRef } from './ledger.ts'
import { databaseFile, openSqlite } from './sqlite.ts'
import { DataError, isBusy, isDamage, makeDataDir, naming } from './sqlite-file.ts'
import type { Store } from './store.ts'
import { createStore } from './tables.ts'

/** Copies a database as of one moment into a folder of its own, where `openCopy` opens it. Throws `DataError`. */
export function copyDatabase(path: string, folder: string): void {
  if (!existsSync(path)) throw new DataError(`Cannot use ${path}: there is no such file.`)
  naming(path, () => {
    const database = new Database(path, { readwrite: true, create: false })
    try {
      database.run('PRAGMA busy_timeout = 5000')
      const made = database.query(`SELECT 1 FROM sqlite_master WHERE name = 'schema_migration'`)
      if (made.get() === null) throw new Error('it holds no Tollgate data')
      makeDataDir(folder)
      database.run('VACUUM INTO ?', [join(folder, databaseFile)])
      chmodSync(join(folder, databaseFile), 0o600)
    } finally {
      database.close()
    }
  })
}

/** The copy as a store, brought to the present schema. */
export async function openCopy(folder: string): Promise<Store & { endNodes(): Promise<void> }> {
  const engine = await openSqlite(folder)
  const store = createStore(engine)
  return {
    ...store,
    /** Closes every node and releases its leases: none of them runs on a copy. */
    async endNodes() {
      const open = `SELECT id AS node, epoch FROM node WHERE state = 'open'`
      for (const ref of await engine.query<NodeRef>(open, [])) await store.ledger.closeNode(ref)
    },
  }
}

/** Makes the copy, with its log, one file that is on the disk, under a name that must be free. */
export function placeCopy(folder: string, path: string): void {
  // Nothing has this one open, so that it may be opened to sync it.
  const whole = join(folder, 'whole')
  copyDatabase(join(folder, databaseFile), whole)
  sync(join(whole, databaseFile))
  naming(path, () => linkSync(join(whole, databaseFile), path))
  sync(dirname(path))
}

/** Takes the log of a database into its file; throws where another connection has it open. */
function foldLog(path: string): void {
  const database = new Database(path, { readwrite: true, create: false })
  try {
    database.run('PRAGMA journal_mode = DELETE')
  } finally {
    database.close()
  }
}

/** The ledger and the outboxes in a data directory, by the names of their files. */
export function dataFiles(dataDir: string): string[] {
  const isData = (name: string) => name.startsWith(databaseFile) || name.startsWith('outbox-')
  return existsSync(dataDir) ? readdirSync(dataDir).filter(isData).sort() : []
}

/** Moves them into a folder beside them, where they are kept as they are. Throws where another program has the ledger open. */
export function moveAside(dataDir: string, folder: string): void {
  const path = join(dataDir, databaseFile)
  try {
    if (existsSync(path)) foldLog(path)
  } catch (error) {
    if (isBusy(error)) {
      throw new DataError(`Another program has ${path} open. Stop it first.`, { cause: error })
    }
    // What is damaged is replaced for that.
    if (!isDamage(error)) throw error
  }
  mkdirSync(folder, { mode: 0o700 })
  for (const name of dataFiles(dataDir))
    renameSync(join(dataDir, name), join(folder, basename(name)))
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
