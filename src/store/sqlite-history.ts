// The file that SQLite keeps message history in, apart from the money.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sourcePath } from '../installation.ts'
import type { Engine } from './engine.ts'
import { lazily } from './lazy.ts'
import { openSqlite } from './sqlite.ts'

export const historyFileName = 'history.db'
const migrations = sourcePath('store/migrations/history')

/** Whether this data directory has ever held messages. */
export function hasHistoryFile(dataDir: string): boolean {
  return existsSync(join(dataDir, historyFileName))
}

/** Made at its first use: most deployments have none. */
export function historyFile(dataDir: string): Engine {
  return lazily('sqlite', async () => {
    const engine = await openSqlite(dataDir, migrations, historyFileName)
    // What a power cut takes of it is no money; what is deleted is overwritten.
    await engine.run('PRAGMA synchronous = NORMAL', [])
    await engine.run('PRAGMA secure_delete = ON', [])
    return engine
  })
}
