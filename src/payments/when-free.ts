// Taking money out of a wallet that serving processes have leased of: what no request holds is asked back, and waited for.

import { setTimeout } from 'node:timers/promises'
import type { LeaseTable } from '../store/ledger.ts'
import type { Leased } from '../store/payment-tables.ts'

const patienceMs = 3_000
const pauseMs = 50

/** Tries for a few seconds; `leased` where running requests hold the money. */
export async function whenFree<Done extends { readonly outcome: string }>(
  leases: Pick<LeaseTable, 'recall'>,
  work: () => Promise<Done | Leased>,
): Promise<Done | Leased> {
  const until = performance.now() + patienceMs
  for (;;) {
    const done = await work()
    if (!isLeased(done) || performance.now() > until) return done
    // Of no node, so that every node is asked.
    await leases.recall(done.account, { node: 'admin', epoch: 0 })
    await setTimeout(pauseMs)
  }
}

function isLeased(done: { readonly outcome: string }): done is Leased {
  return done.outcome === 'leased'
}
