// What the database stores of a deployment's configuration: the currency of all amounts, its groups, and its address.

import { DataError } from './data-error.ts'
import type { Engine } from './engine.ts'

export async function readCurrency(engine: Engine): Promise<string | null> {
  const sql = 'SELECT currency FROM deployment'
  const [row] = await engine.query<{ readonly currency: string }>(sql, [])
  return row?.currency ?? null
}

/** Throws DataError if another currency is stored: the stored amounts would silently change their meaning. */
export async function rememberCurrency(engine: Engine, code: string): Promise<void> {
  await engine.run(
    'INSERT INTO deployment (only_row, currency) VALUES (1, ?) ON CONFLICT DO NOTHING',
    [code],
  )
  const kept = await readCurrency(engine)
  if (kept !== code) {
    throw new DataError(
      `The data counts in ${kept}, the configuration says ${code}. Set currency: ${kept}, or start with other data.`,
    )
  }
}

/** Names of the groups that the servers declare; empty before the first start. */
export async function readGroups(engine: Engine): Promise<readonly string[]> {
  const rows = await engine.query<{ readonly name: string }>(
    'SELECT name FROM known_group ORDER BY name',
    [],
  )
  return rows.map(({ name }) => name)
}

/** Replaces the stored groups by these; the server that started or reloaded last wins. */
export async function rememberGroups(engine: Engine, names: readonly string[]): Promise<void> {
  const known = new Set(await readGroups(engine))
  if (known.size === names.length && names.every((name) => known.has(name))) return
  await engine.transaction(async (session) => {
    await session.run('DELETE FROM known_group', [])
    for (const name of names) {
      await session.run('INSERT INTO known_group (name) VALUES (?) ON CONFLICT DO NOTHING', [name])
    }
  })
}

/** The address of the server that started last; null before the first start. */
export async function readAddress(engine: Engine): Promise<string | null> {
  const sql = 'SELECT address FROM deployment'
  const [row] = await engine.query<{ readonly address: string | null }>(sql, [])
  return row?.address ?? null
}

/** Must be called after `rememberCurrency`, which creates the row. */
export async function rememberAddress(engine: Engine, address: string): Promise<void> {
  if ((await readAddress(engine)) === address) return
  await engine.run('UPDATE deployment SET address = ?', [address])
}
