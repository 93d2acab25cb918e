// Opens the database engine that the deployment is configured for.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DataError } from './data-error.ts'
import type { Engine } from './engine.ts'
import { type HistoryTable, historyTable } from './history.ts'
import { lazily } from './lazy.ts'
import { databaseFile, openSqlite, waitingInSqlite } from './sqlite.ts'
import { historyFile } from './sqlite-history.ts'
import type { Store } from './store.ts'
import { createStore } from './tables.ts'

export interface StoreSettings {
  /** Directory of SQLite's file, created if it is missing. Not used with PostgreSQL. */
  readonly dataDir: string
  /** `postgres://...`; null for SQLite. */
  readonly databaseUrl: string | null
}

/**
 * Opens the store and migrates it to this version's schema. Throws DataError if the schema is newer than this version,
 * or the database cannot be opened or reached.
 */
export async function openStore(settings: StoreSettings): Promise<Store> {
  const { dataDir, databaseUrl } = settings
  if (databaseUrl === null) return createStore(await openSqlite(dataDir), historyFile(dataDir))
  return createStore(await openDatabase(databaseUrl))
}

/**
 * Opens the data as it is; null where there is none. Throws DataError where migrations are pending: servers of an older
 * version may be using the data, and could not be started on it again.
 */
export async function openExisting(settings: StoreSettings): Promise<Store | null> {
  const { dataDir, databaseUrl } = settings
  if (databaseUrl === null && !existsSync(join(dataDir, databaseFile))) return null
  const waiting = await waitingChanges(settings)
  if (waiting.length === 0) return openStore(settings)
  if (waiting[0]?.startsWith('0001-')) return null
  throw new DataError(
    'the data was written by an older version: run `tollgate migrate` first (`--plan` lists what it changes), or use the command line of the version that is running',
  )
}

/** Names of the migrations that `openStore` would apply, in order; changes nothing. Throws as it does. */
export async function waitingChanges(settings: StoreSettings): Promise<readonly string[]> {
  const { dataDir, databaseUrl } = settings
  if (databaseUrl === null) return waitingInSqlite(dataDir)
  const { waitingInPostgres } = await import('./postgres.ts')
  return waitingInPostgres(databaseUrl)
}

async function openDatabase(databaseUrl: string): Promise<Engine> {
  // Loading the driver costs 12 MB, which a deployment on SQLite should not pay.
  const { openPostgres } = await import('./postgres.ts')
  return openPostgres(databaseUrl)
}

/** Only message history, on its own connection that opens at the first use; for the thread that writes it. */
export function openHistory({ dataDir, databaseUrl }: StoreSettings): ClosableHistory {
  const engine =
    databaseUrl === null
      ? historyFile(dataDir)
      : lazily('postgres', () => openDatabase(databaseUrl))
  return { ...historyTable(engine), close: () => engine.close() }
}

interface ClosableHistory extends HistoryTable {
  close(): Promise<void>
}
