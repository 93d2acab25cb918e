// Initial money, and queries of a ledger, for tests of it.

import type { Engine } from '../../src/store/engine.ts'
import type { AccountGrant, Grant, NodeRef, Settlement, Transfer } from '../../src/store/ledger.ts'
import { house, walletOf } from '../../src/store/ledger.ts'
import type { Store } from '../../src/store/store.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { openSetAsides } from '../../src/store/wallets.ts'
import { settlement, usageRow } from '../contract/store.ts'

export const hourMs = 3_600_000

/** A transfer from the house to a wallet; `reference` makes its id. */
export function deposit(account: string, amountNano: bigint, reference: string): Transfer {
  return {
    id: `topup:${reference}`,
    code: 'topup',
    debit: house.adjust,
    credit: walletOf(account),
    amountNano,
    actor: null,
    reason: null,
    at: 1_000,
  }
}

/** Makes the account and gives it its first money. */
export async function fund(store: Store, account: string, amountNano: bigint): Promise<void> {
  await store.accounts.ensure(account, 1)
  if (amountNano > 0n) await store.journal.post([deposit(account, amountNano, `first-${account}`)])
}

export async function grantOne(
  { leases }: Pick<Store, 'leases'>,
  { node, epoch, ...request }: NodeRef & AccountGrant,
): Promise<Grant> {
  const [granted] = await leases.grantAll({ node, epoch }, [request])
  if (granted === undefined) throw new Error('a grant without an answer')
  return granted
}

/** An open node that leases this much from the account. */
export async function lessee(
  store: Store,
  node: string,
  account: string,
  amountNano: bigint,
): Promise<NodeRef> {
  const ref = await store.nodes.open(node, hourMs)
  await grantOne(store, { ...ref, account, needNano: amountNano, wantNano: amountNano })
  return ref
}

/** A finished request of this node. */
export function finished(
  ref: NodeRef,
  row: Partial<UsageRow>,
  change: Partial<Settlement> = {},
): Settlement {
  return settlement({ ...ref, row: usageRow(row), ...change })
}

export interface Sums {
  /** For all accounts: debits less credits. */
  readonly unbalanced: bigint
  /** Wallets whose free amount is negative. */
  readonly overdrawn: number
  /** For all wallets: pending less leases and what set-aside records and videos hold. */
  readonly unexplained: bigint
}

/** Values that must be zero or empty at every commit. */
export async function imbalance(engine: Engine): Promise<Sums> {
  const [row] = await engine.query<Record<'unbalanced' | 'overdrawn' | 'unexplained', string>>(
    `SELECT CAST((SELECT sum(debits_posted) - sum(credits_posted) FROM ledger_account) AS TEXT)
        AS unbalanced,
      CAST((SELECT count(*) FROM ledger_account
        WHERE kind = 'wallet' AND credits_posted - debits_posted < debits_pending) AS TEXT)
        AS overdrawn,
      CAST((SELECT sum(debits_pending) FROM ledger_account)
        - (SELECT coalesce(sum(amount_nano), 0) FROM lease)
        - (SELECT coalesce(sum(held_nano), 0) FROM ${openSetAsides})
        - (SELECT coalesce(sum(held_nano), 0) FROM video) AS TEXT) AS unexplained`,
    [],
  )
  return {
    unbalanced: BigInt(row?.unbalanced ?? 1),
    overdrawn: Number(row?.overdrawn ?? 1),
    unexplained: BigInt(row?.unexplained ?? 1),
  }
}

export const balanced: Sums = { unbalanced: 0n, overdrawn: 0, unexplained: 0n }
