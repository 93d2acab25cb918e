// Carries out the serving thread's lease requests in order, and repairs leases after a request with an unknown outcome.

import type { Nano } from '../money.ts'
import type { AccountGrant, Grant, GrantSize, LeaseTable, NodeRef } from '../store/ledger.ts'

interface LeaseWorkOptions {
  readonly leases: Pick<LeaseTable, 'grantAll' | 'giveBack' | 'returnExcess' | 'recall'>
  /** The node as it is open now; null while it is not open. */
  readonly ref: () => NodeRef | null
  /** Resolves when everything in the outbox at this moment is settled; false: it never will be, as the worker stops. */
  readonly settled: () => Promise<boolean>
  readonly onFenced: (ref: NodeRef) => void
  readonly onFailure: (what: string, error: unknown) => void
  readonly onRecovered: (what: string) => void
}

/** Grants that are asked of the ledger together: after a start, many accounts may need their first at once. */
interface Together {
  readonly epoch: number
  readonly requests: Map<string, AccountGrant>
  readonly grants: Promise<ReadonlyMap<string, Grant>>
}

/** More would hold the wallets' locks for longer, and so the settling of their requests. */
const mostTogether = 64
const mostReturned = 500

/**
 * Each call waits for those before it, because a grant must see the money given back before it. A failed call is not
 * repeated: it may have taken effect nevertheless, and a second time would be wrong. Money that stays leased though
 * nobody counts on it is given back later (`returnExcess`).
 */
export class LeaseWork {
  readonly #options: LeaseWorkOptions
  #last: Promise<unknown> = Promise.resolve()
  /** The grants at the end of the queue, to which more may be added. */
  #together: Together | null = null
  /** Accounts for whose lease the ledger and the serving thread may disagree, with the epoch of the lease. */
  readonly #unclear = new Map<string, number>()
  /** Accounts whose lease was to change since the serving thread said what it counts on; null: nothing is compared. */
  #changed: Set<string> | null = null

  constructor(options: LeaseWorkOptions) {
    this.#options = options
  }

  /** Rejects if the ledger cannot be reached. */
  async grant(epoch: number, account: string, size: GrantSize): Promise<Grant> {
    const last = this.#together
    const fits =
      last?.epoch === epoch && last.requests.size < mostTogether && !last.requests.has(account)
    const { requests, grants } = fits ? last : this.#begin(epoch)
    requests.set(account, { ...size, account })
    this.#changed?.add(account)
    return (await grants).get(account) ?? grantOfNoEpoch
  }

  #begin(epoch: number): Together {
    const requests = new Map<string, AccountGrant>()
    const grants = this.#inTurn(() => {
      if (this.#together === begun) this.#together = null
      return this.#grantAll(epoch, [...requests.values()])
    })
    const begun = { epoch, requests, grants }
    this.#together = begun
    return begun
  }

  async #grantAll(epoch: number, requests: readonly AccountGrant[]): Promise<Map<string, Grant>> {
    const ref = this.#refOf(epoch)
    if (ref === null) return new Map()
    const { leases, onFenced } = this.#options
    const accounts = requests.map(({ account }) => account)
    const grants = await this.#tried(ref, accounts, () => leases.grantAll(ref, requests))
    if (grants.some(({ fenced }) => fenced)) onFenced(ref)
    return new Map(grants.map((grant, at) => [accounts[at] ?? '', grant]))
  }

  giveBack(epoch: number, account: string, amountNano: Nano): Promise<void> {
    this.#changed?.add(account)
    return this.#quietly('give back', async () => {
      const ref = this.#refOf(epoch)
      if (ref === null) return
      const { leases } = this.#options
      await this.#tried(ref, [account], () => leases.giveBack(ref, account, amountNano))
    })
  }

  recall(epoch: number, account: string): Promise<void> {
    return this.#quietly('recall', async () => {
      const ref = this.#refOf(epoch)
      if (ref !== null) await this.#options.leases.recall(account, ref)
    })
  }

  /** Accounts of the open epoch whose leases are to be compared with what the serving thread counts on. */
  unclear(): readonly string[] {
    const epoch = this.#options.ref()?.epoch
    for (const [account, of] of this.#unclear) if (of !== epoch) this.#unclear.delete(account)
    return [...this.#unclear.keys()]
  }

  /**
   * Gives back what unclear leases have beyond `counted`: what the serving thread has held and free of each, while no
   * grant of the account is under way and every ended request is in the outbox. Running requests may go on meanwhile:
   * those that end can only make the lease smaller. An account whose lease is to change meanwhile stays unclear.
   */
  async returnExcess(epoch: number, counted: ReadonlyMap<string, Nano>): Promise<void> {
    if (this.#changed !== null) return
    const changed = new Set<string>()
    this.#changed = changed
    try {
      // Ended requests are still to be paid from the lease. Grants must not wait for this, so it is not in turn.
      if (!(await this.#options.settled())) return
      const all = [...counted]
      for (let at = 0; at < all.length; at += mostReturned) {
        const some = all.slice(at, at + mostReturned)
        await this.#quietly('give back', () => this.#returnExcess(epoch, some, changed))
      }
    } finally {
      this.#changed = null
    }
  }

  async #returnExcess(
    epoch: number,
    counted: readonly (readonly [account: string, nano: Nano])[],
    changed: ReadonlySet<string>,
  ): Promise<void> {
    const ref = this.#refOf(epoch)
    if (ref === null) return
    const due = counted.filter(
      ([account]) => this.#unclear.get(account) === epoch && !changed.has(account),
    )
    if (due.length === 0) return
    await this.#options.leases.returnExcess(ref, new Map(due))
    for (const [account] of due) this.#unclear.delete(account)
  }

  /** Runs other work that takes money from the lease. Rejects if the ledger cannot be reached. */
  take<Result>(epoch: number, account: string, work: () => Promise<Result>): Promise<Result> {
    this.#changed?.add(account)
    return this.#inTurn(() => {
      const ref = this.#refOf(epoch)
      return ref === null ? work() : this.#tried(ref, [account], work)
    })
  }

  async #tried<Result>(
    ref: NodeRef,
    accounts: readonly string[],
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      for (const account of accounts) this.#unclear.set(account, ref.epoch)
      throw error
    }
  }

  #quietly(what: string, work: () => Promise<void>): Promise<void> {
    const { onFailure, onRecovered } = this.#options
    return this.#inTurn(work).then(
      () => onRecovered(what),
      (error: unknown) => onFailure(what, error),
    )
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#together = null
    const result = this.#last.then(work, work)
    this.#last = result
    return result
  }

  /** null if the caller's epoch is over; what it leased then is already released. */
  #refOf(epoch: number): NodeRef | null {
    const ref = this.#options.ref()
    return ref?.epoch === epoch ? ref : null
  }
}

const grantOfNoEpoch: Grant = {
  grantedNano: 0n,
  fenced: true,
  leasedElsewhereNano: 0n,
  postedNano: 0n,
}
