// Makes the accounts a configuration names exist in the store.

import type { Config } from '../config/types.ts'
import type { AccountTable } from '../store/store.ts'

/**
 * Ensures every account that is declared, or that a declared key belongs to. Run before the keyring takes
 * a configuration over; returns the ids of those it made.
 */
export async function ensureAccounts(
  accounts: AccountTable,
  config: Pick<Config, 'accounts' | 'keys'>,
  nowMs: number,
): Promise<string[]> {
  const named = new Set([...Object.keys(config.accounts), ...config.keys.map((key) => key.account)])
  const made: string[] = []
  for (const id of named) {
    if (await accounts.ensure(id, nowMs)) made.push(id)
  }
  return made
}
