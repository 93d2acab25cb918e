// The ledger's side of leases, in memory and simple: wallets, nodes, leases, settlement. Throws if its own rules are
// broken.

import type { Grant, GrantSize, NodeRef } from '../../src/store/ledger.ts'

interface Lease extends NodeRef {
  readonly account: string
  amount: bigint
  recalled: boolean
}

/** The amounts of an ended request, on their way to settlement. */
export interface Charge {
  readonly account: string
  readonly charge: bigint
  readonly fromLease: bigint
}

export class Bank {
  readonly #posted = new Map<string, bigint>()
  readonly #epochs = new Map<string, { epoch: number; open: boolean }>()
  #leases: Lease[] = []
  deposited = 0n
  charged = 0n
  writtenOff = 0n

  deposit(account: string, amount: bigint): void {
    this.#posted.set(account, this.posted(account) + amount)
    this.deposited += amount
  }

  posted(account: string): bigint {
    return this.#posted.get(account) ?? 0n
  }

  /** The amount leased by all nodes, or by one of them in one of its epochs. */
  leased(account: string, by?: NodeRef): bigint {
    return this.#leases
      .filter((lease) => lease.account === account && (by === undefined || isOf(lease, by)))
      .reduce((sum, { amount }) => sum + amount, 0n)
  }

  open(node: string): NodeRef {
    const ref = { node, epoch: (this.#epochs.get(node)?.epoch ?? 0) + 1 }
    this.#epochs.set(node, { epoch: ref.epoch, open: true })
    this.#leases = this.#leases.filter((lease) => lease.node !== node)
    return ref
  }

  /** As a sweep does, or the node itself at its end. */
  close(ref: NodeRef): void {
    if (!this.isOpen(ref)) return
    this.#epochs.set(ref.node, { epoch: ref.epoch, open: false })
    this.#leases = this.#leases.filter((lease) => !isOf(lease, ref))
  }

  isOpen(ref: NodeRef): boolean {
    const known = this.#epochs.get(ref.node)
    return known !== undefined && known.open && known.epoch === ref.epoch
  }

  grant(ref: NodeRef, account: string, size: GrantSize): Grant {
    const { needNano: need, wantNano: want, spareNano: spare = 0n } = size
    if (need <= 0n || want < need) throw new Error(`need ${need}, want ${want}`)
    const fenced = !this.isOpen(ref)
    const free = this.posted(account) - this.leased(account)
    const half = this.leased(account) > this.leased(account, ref) ? free / 2n : free
    const forWaiting = want < free ? want : free
    const forLater = spare < half ? spare : half
    const grantedNano = fenced || free < need ? 0n : forWaiting > forLater ? forWaiting : forLater
    if (grantedNano > 0n) this.#lease(ref, account).amount += grantedNano
    return {
      grantedNano,
      fenced,
      leasedElsewhereNano: this.leased(account) - this.leased(account, ref),
      postedNano: this.posted(account),
    }
  }

  giveBack(ref: NodeRef, account: string, amount: bigint): void {
    if (!this.isOpen(ref)) return
    const lease = this.#lease(ref, account)
    lease.amount -= amount < lease.amount ? amount : lease.amount
  }

  recall(ref: NodeRef, account: string): void {
    for (const lease of this.#leases) {
      if (lease.account === account && !isOf(lease, ref)) lease.recalled = true
    }
  }

  recalled(ref: NodeRef): string[] {
    const recalled = this.#leases.filter((lease) => isOf(lease, ref) && lease.recalled)
    for (const lease of recalled) lease.recalled = false
    return recalled.map(({ account }) => account)
  }

  settle(ref: NodeRef, { account, charge, fromLease }: Charge): void {
    const lease = this.#leases.find((known) => isOf(known, ref) && known.account === account)
    const covered = least(fromLease, charge, lease?.amount ?? 0n)
    if (lease !== undefined) lease.amount -= covered
    const free = this.posted(account) - covered - this.leased(account)
    const paid = covered + least(charge - covered, free)
    this.#posted.set(account, this.posted(account) - paid)
    this.charged += paid
    this.writtenOff += charge - paid
  }

  /** Throws if a wallet is overdrawn, a lease is below 0, or money appeared from nowhere. */
  check(): void {
    let total = this.charged
    for (const [account, posted] of this.#posted) {
      total += posted
      if (posted < this.leased(account)) throw new Error(`${account} is overdrawn`)
    }
    if (this.#leases.some(({ amount }) => amount < 0n)) throw new Error('a lease below 0')
    if (total !== this.deposited) throw new Error(`${total} of ${this.deposited} deposited`)
  }

  #lease(ref: NodeRef, account: string): Lease {
    const known = this.#leases.find((lease) => isOf(lease, ref) && lease.account === account)
    if (known !== undefined) return known
    const lease = { ...ref, account, amount: 0n, recalled: false }
    this.#leases.push(lease)
    return lease
  }
}

function isOf(lease: Lease, ref: NodeRef): boolean {
  return lease.node === ref.node && lease.epoch === ref.epoch
}

function least(first: bigint, ...others: bigint[]): bigint {
  return others.reduce((least, other) => (other < least ? other : least), first)
}
