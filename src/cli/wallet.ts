// What commands show of an account's money.

import { generalDefaults } from '../config/defaults.ts'
import { formatUnits } from '../money.ts'
import type { Wallet } from '../store/ledger.ts'
import type { Store } from '../store/store.ts'
import type { Context } from './command.ts'
import type { Cell } from './output.ts'
import { loadFor } from './settings.ts'

/** Amounts in nano-units; `availableNano + heldNano = postedNano`. */
export interface WalletView {
  readonly account: string
  readonly currency: string
  readonly availableNano: string
  readonly heldNano: string
  readonly postedNano: string
}

export function walletView(wallet: Wallet, currency: string): WalletView {
  return {
    account: wallet.account,
    currency,
    availableNano: String(wallet.postedNano - wallet.heldNano),
    heldNano: String(wallet.heldNano),
    postedNano: String(wallet.postedNano),
  }
}

export const walletHeadings = ['CURRENCY', 'AVAILABLE', 'HELD', 'POSTED']

/** Amounts in the currency's units, to the last place. */
export function walletCells(view: WalletView): Cell[] {
  const amounts = [view.availableNano, view.heldNano, view.postedNano]
  return [view.currency, ...amounts.map((nano) => formatUnits(BigInt(nano)))]
}

/** Throws where there is no such account. */
export async function findWallet(store: Store, account: string): Promise<Wallet> {
  const wallet = await store.journal.wallet(account)
  if (wallet === null) {
    throw new Error(
      `there is no account ${JSON.stringify(account)}; \`tollgate account list\` lists them`,
    )
  }
  return wallet
}

/** The one the data counts in; before the server's first start, the one it would count in. */
export async function currencyOf(store: Store, context: Context): Promise<string> {
  const kept = await store.deployment.currency()
  if (kept !== null) return kept
  const configured = context.flags.has('config') || Boolean(context.env.TOLLGATE_CONFIG)
  return configured ? (await loadFor(context)).currency : generalDefaults.currency
}
