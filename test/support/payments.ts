// Initial orders and payments, for tests of them.

import type { NewOrder, PaidTransaction, PaymentProvider } from '../../src/store/payment-tables.ts'
import type { Store } from '../../src/store/store.ts'

export const unit = 1_000_000_000n

/** For 10.00 of the provider's currency, one to one. */
export function newOrder(change: Partial<NewOrder> = {}): NewOrder {
  const id = change.id ?? 'o1'
  const amountMinor = change.amountMinor ?? 1_000
  return {
    id,
    account: 'ann',
    person: 'account ann',
    provider: 'alipay',
    mode: 'live',
    method: 'page',
    amountMinor,
    currency: 'CNY',
    nanoPerMinor: 10_000_000n,
    creditNano: BigInt(amountMinor) * 10_000_000n,
    bonusNano: 0n,
    attempt: `attempt-${id}`,
    createdAt: 1_000,
    expiresAt: 61_000,
    queryAt: 2_000,
    ...change,
  }
}

export function paidTransaction(change: Partial<PaidTransaction> = {}): PaidTransaction {
  return {
    provider: 'alipay',
    mode: 'live',
    id: 't1',
    amountMinor: 1_000,
    currency: 'CNY',
    payerHash: 'payer-1',
    paidAt: 5_000,
    ...change,
  }
}

/** The stored state of how a provider reaches the deployment. */
export const health = (store: Store, provider: PaymentProvider) =>
  store.callbacks.health({ provider, mode: 'live', stuckBefore: Date.now() })
