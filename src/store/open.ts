// Opens whichever engine the deployment chose.

import { openSqlite } from './sqlite.ts'
import type { Store } from './store.ts'
import { createStore } from './tables.ts'

export interface StoreSettings {
  /** Where SQLite keeps its file; made when it is missing. Unused with PostgreSQL. */
  readonly dataDir: string
  /** `postgres://...`; null for SQLite. */
  readonly databaseUrl: string | null
}

/**
 * Opens the store and brings it to the present schema. Throws when the schema is newer than this version,
 * or the database cannot be opened or reached.
 */
export async function openStore(settings: StoreSettings): Promise<Store> {
  if (settings.databaseUrl === null) return createStore(await openSqlite(settings.dataDir))
  // Loading the driver costs 12 MB, which a deployment on SQLite does not owe.
  const { openPostgres } = await import('./postgres.ts')
  return createStore(await openPostgres(settings.databaseUrl))
}
