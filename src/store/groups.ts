// The groups that the servers' configuration declares, as the command line knows them without that file.

import type { Engine } from './engine.ts'

/** By name; empty before the first start. */
export async function readGroups(engine: Engine): Promise<readonly string[]> {
  const rows = await engine.query<{ readonly name: string }>(
    'SELECT name FROM known_group ORDER BY name',
    [],
  )
  return rows.map(({ name }) => name)
}

/** These and no others; the server that started or reloaded last is right. */
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
