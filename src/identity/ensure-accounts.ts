// Creates the accounts that a configuration names in the store, each with its opening balance.

import type { Config } from '../config/types.ts'
import { parseUnits } from '../money.ts'
import { house, walletOf } from '../store/ledger.ts'
import type { Store } from '../store/store.ts'

/**
 * Ensures that every account exists that is declared, or to which a declared key belongs, and posts declared credits:
 * only once, whatever the file says later. Runs before the keyring uses a configuration; returns the ids it created.
 */
export async function ensureAccounts(
  store: Pick<Store, 'accounts' | 'journal'>,
  config: Pick<Config, 'accounts' | 'keys'>,
  nowMs: number,
): Promise<string[]> {
  const named = new Set([...Object.keys(config.accounts), ...config.keys.map((key) => key.account)])
  const made: string[] = []
  for (const id of named) {
    if (await store.accounts.ensure(id, nowMs)) made.push(id)
  }
  for (const [id, { credit }] of Object.entries(config.accounts)) {
    const amountNano = credit === null ? null : parseUnits(credit)
    if (amountNano === null || amountNano === 0n) continue
    await store.journal.post([
      {
        id: `opening:${id}`,
        code: 'opening',
        debit: house.adjust,
        credit: walletOf(id),
        amountNano,
        actor: 'configuration',
        reason: 'opening balance',
        at: nowMs,
      },
    ])
  }
  return made
}
