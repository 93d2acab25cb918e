// Creates the accounts that a configuration names in the store, each with its opening balance.

import { ConfigError } from '../config/problems.ts'
import type { Config } from '../config/types.ts'
import { formatUnits, maxNano, type Nano, parseUnits } from '../money.ts'
import { house, walletOf } from '../store/ledger.ts'
import { RowRefused, type Store } from '../store/store.ts'

/**
 * Ensures that every account exists that is declared, or to which a declared key belongs, and posts declared credits:
 * only once, whatever the file says later. Runs before the keyring uses a configuration; returns the ids it created.
 * Throws ConfigError, naming the field, if the ledger cannot hold a credit.
 */
export async function ensureAccounts(
  store: Pick<Store, 'accounts' | 'journal'>,
  config: Pick<Config, 'accounts' | 'keys' | 'file'>,
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
    const opening = {
      id: `opening:${id}`,
      code: 'opening',
      debit: house.adjust,
      credit: walletOf(id),
      amountNano,
      actor: 'configuration',
      reason: 'opening balance',
      at: nowMs,
    }
    try {
      await store.journal.post([opening])
    } catch (error) {
      throw error instanceof RowRefused ? tooMuch(id, amountNano, config.file) : error
    }
  }
  return made
}

function tooMuch(id: string, amountNano: Nano, file: string | null): ConfigError {
  const message = `with ${formatUnits(amountNano)} more, the credits of this account, or all opening balances and adjustments, would add up to more than ${formatUnits(maxNano)}`
  return new ConfigError([{ path: `accounts.${id}.credit`, message }], file)
}
