// Divides charges: paid from the lease as far as it goes, then from the wallet's free money; the rest is written off.

import type { Nano } from '../money.ts'
import { atMost, type Lease } from './leases.ts'
import type { NodeRef, Settlement } from './ledger.ts'
import { cleanText } from './text.ts'
import type { UsageRow } from './usage-row.ts'
import type { LockedWallet, WalletMove } from './wallets.ts'

export interface Divided {
  readonly row: UsageRow
  /** The sum of both is the row's whole charge. */
  readonly chargeNano: Nano
  readonly writeoffNano: Nano
}

interface Division {
  /** In the order of the batch. */
  readonly rows: readonly Divided[]
  readonly chargedNano: Nano
  readonly writtenOffNano: Nano
  readonly moves: readonly WalletMove[]
  /** All leases of the batch, as they are after it. */
  readonly leases: readonly Lease[]
}

/** Key of a lease in the maps of a batch. */
function leaseName({ node, epoch }: NodeRef, account: string): string {
  return `${cleanText(node)}\0${epoch}\0${account}`
}

/** How much of an amount a lease and the wallet's free money cover. */
interface Cover {
  readonly fromLeaseNano: Nano
  readonly fromFreeNano: Nano
}

/** Tracks the money of a transaction's wallets and leases while it is being used up. */
export class FundsAllocator {
  private readonly free = new Map<string, Nano>()
  private readonly left = new Map<string, Lease>()

  constructor(wallets: ReadonlyMap<string, LockedWallet>, leases: readonly Lease[]) {
    for (const [account, { postedNano, leasedNano }] of wallets) {
      this.free.set(account, postedNano - leasedNano)
    }
    for (const lease of leases) this.left.set(leaseName(lease, lease.account), lease)
  }

  /** Takes up to the amount, at most `leaseNano` of it from the node's lease. */
  take(ref: NodeRef, account: string, amountNano: Nano, leaseNano: Nano): Cover {
    const name = leaseName(ref, account)
    const lease = this.left.get(name)
    const fromLeaseNano = atMost(atMost(amountNano, leaseNano), lease?.amountNano ?? 0n)
    if (lease !== undefined && fromLeaseNano > 0n) {
      this.left.set(name, { ...lease, amountNano: lease.amountNano - fromLeaseNano })
    }
    const free = this.free.get(account) ?? 0n
    const fromFreeNano = atMost(amountNano - fromLeaseNano, free)
    if (fromFreeNano > 0n) this.free.set(account, free - fromFreeNano)
    return { fromLeaseNano, fromFreeNano }
  }

  /** All leases, as they are now. */
  leases(): Lease[] {
    return [...this.left.values()]
  }
}

/** Divides row after row; each row gets what the rows before it have left. */
export function divide(batch: readonly Settlement[], funds: FundsAllocator): Division {
  const rows: Divided[] = []
  const paid = new Map<string, { fromLeaseNano: Nano; fromFreeNano: Nano }>()
  let chargedNano = 0n
  let writtenOffNano = 0n
  for (const settlement of batch) {
    const { row, capNano, fromLeaseNano } = settlement
    const wholeNano = row.chargeNano
    let chargeNano = 0n
    if (wholeNano > 0n) {
      const account = cleanText(row.account)
      const dueNano = capNano === null ? wholeNano : atMost(wholeNano, capNano)
      const cover = funds.take(settlement, account, dueNano, fromLeaseNano)
      chargeNano = cover.fromLeaseNano + cover.fromFreeNano
      // An account without a wallet pays nothing, so there is no money to move.
      if (chargeNano > 0n) {
        const sums = paid.get(account) ?? { fromLeaseNano: 0n, fromFreeNano: 0n }
        sums.fromLeaseNano += cover.fromLeaseNano
        sums.fromFreeNano += cover.fromFreeNano
        paid.set(account, sums)
      }
    }
    const writeoffNano = wholeNano - chargeNano
    rows.push({ row, chargeNano, writeoffNano })
    chargedNano += chargeNano
    writtenOffNano += writeoffNano
  }
  const moves = [...paid].map(([account, { fromLeaseNano, fromFreeNano }]) => ({
    account,
    debitNano: fromLeaseNano + fromFreeNano,
    creditNano: 0n,
    pendingNano: -fromLeaseNano,
  }))
  return { rows, chargedNano, writtenOffNano, moves, leases: funds.leases() }
}
