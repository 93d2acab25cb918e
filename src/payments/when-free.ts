// Takes money out of wallets that nodes have leased: recalls what no request holds, and waits for it.

import { setTimeout } from 'node:timers/promises'
import type { LeaseTable } from '../store/ledger.ts'
import type { Leased } from '../store/payment-tables.ts'

const patienceMs = 3_000
const pauseMs = 50

/** Tries for 3 seconds; `leased` if running requests still hold the money. */
export async function whenFree<Done extends { readonly outcome: string }>(
  leases: Pick<LeaseTable, 'recall'>,
  work: () => Promise<Done | Leased>,
): Promise<Done | Leased> {
  const until = performance.now() + patienceMs
  for (;;) {
    const done = await work()
    if (!isLeased(done) || performance.now() > until) return done
    // No node's own name, so that every node gives back what it leases.
    for (const account of done.accounts) await leases.recall(account, { node: 'admin', epoch: 0 })
    await setTimeout(pauseMs)
  }
}

function isLeased(done: { readonly outcome: string }): done is Leased {
  return done.outcome === 'leased'
}
