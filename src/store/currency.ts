// The one currency every amount of a deployment is in, remembered from its first start.

import type { Engine } from './engine.ts'

export async function readCurrency(engine: Engine): Promise<string | null> {
  const sql = 'SELECT currency FROM deployment'
  const [row] = await engine.query<{ readonly currency: string }>(sql, [])
  return row?.currency ?? null
}

/** Throws where another one was remembered: amounts would change their meaning without changing. */
export async function rememberCurrency(engine: Engine, code: string): Promise<void> {
  await engine.run(
    'INSERT INTO deployment (only_row, currency) VALUES (1, ?) ON CONFLICT DO NOTHING',
    [code],
  )
  const kept = await readCurrency(engine)
  if (kept !== code) {
    throw new Error(
      `The data counts in ${kept}, the configuration says ${code}. Set currency: ${kept}, or start with other data.`,
    )
  }
}
