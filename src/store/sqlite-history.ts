// The SQLite file of message history, separate from the ledger's.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sourcePath } from '../installation.ts'
import type { Engine } from './engine.ts'
import { lazily } from './lazy.ts'
import { openSqlite } from './sqlite.ts'

export const historyFileName = 'history.db'
const migrations = sourcePath('store/migrations/history')

/** Whether this data directory has ever stored messages. */
export function hasHistoryFile(dataDir: string): boolean {
  return existsSync(join(dataDir, historyFileName))
}

/** Created at its first use, because most deployments store no messages. */
export function historyFile(dataDir: string): Engine {
  return lazily('sqlite', async () => {
    const engine = await openSqlite(dataDir, migrations, historyFileName)
    // Losing the latest messages to a power cut is acceptable, as they are no money; deleted ones are overwritten.
    await engine.run('PRAGMA synchronous = NORMAL', [])
    await engine.run('PRAGMA secure_delete = ON', [])
    return engine
  })
}
