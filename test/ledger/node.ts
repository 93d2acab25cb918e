// The lease logic of a serving process: its messages to the ledger are in order, each executed when the scheduler says.

import type { LeaseSettings } from '../../src/ledger/lease.ts'
import type { Leases } from '../../src/ledger/leases.ts'
import { createLeases } from '../../src/ledger/leases.ts'
import type { Hold, NoHold } from '../../src/ledger/ledger.ts'
import type { Grant, GrantSize, NodeRef } from '../../src/store/ledger.ts'
import type { Bank, Charge } from './bank.ts'

/** Decides when something happens: at some later moment, in any order, or after a virtual time. */
export interface Scheduler {
  /** A message on its way, or work of the other side. */
  soon(run: () => void): void
  later(run: () => void, delayMs: number): void
}

export class Node {
  readonly leases: Leases
  readonly errors: unknown[] = []
  /** Ended requests that are not settled yet, by the epoch in which they ended. */
  readonly unsettled: (Charge & { readonly ref: NodeRef })[] = []
  /** Whether the ledger cannot be reached for grants. */
  isCutOff = false
  ref: NodeRef
  readonly #bank: Bank
  readonly #scheduler: Scheduler
  /** Sent and not executed: one at a time, in order. */
  readonly #messages: (() => void)[] = []
  /** Given back in memory, and not yet in the ledger. */
  #onTheWay = new Map<string, bigint>()

  constructor(name: string, bank: Bank, scheduler: Scheduler, settings?: LeaseSettings) {
    this.#bank = bank
    this.#scheduler = scheduler
    this.ref = bank.open(name)
    this.leases = createLeases({
      authority: {
        grant: (account, size) => this.#grant(account, size),
        giveBack: (account, amountNano) => this.#giveBack(account, amountNano),
        forget: () => undefined,
        recall: (account) => {
          const { ref } = this
          this.#send(() => bank.recall(ref, account))
        },
      },
      settings: settings ?? { maxHeldPerKeyNano: null, maxHeldPerAccountNano: null },
      onError: (error) => this.errors.push(error),
      schedule: (run, delayMs) => scheduler.later(run, delayMs),
    })
    this.leases.open(this.ref.epoch)
  }

  hold(account: string, amount: bigint): Hold | NoHold | Promise<Hold | NoHold> {
    return this.leases.hold(account, 'key', amount)
  }

  /** Ends a request; its charge waits for `settle`. */
  close(hold: Hold, charge: bigint): bigint {
    const fromLease = this.leases.close(hold, charge)
    const ref = { ...this.ref, epoch: this.leases.epochOf(hold) }
    this.unsettled.push({ account: hold.account, charge, fromLease, ref })
    return fromLease
  }

  /** The oldest charge enters the ledger. */
  settle(): void {
    const charge = this.unsettled.shift()
    if (charge !== undefined) this.#bank.settle(charge.ref, charge)
  }

  /** The look at what other nodes ask for, which a running process repeats all the time. */
  poll(): void {
    for (const account of this.#bank.recalled(this.ref)) this.leases.recall(account)
  }

  /** Suspended too long: it fences itself, is swept, and opens again when it may. */
  fence(): void {
    this.leases.fence()
    const { ref } = this
    this.#scheduler.soon(() => {
      this.#bank.close(ref)
      this.#scheduler.soon(() => this.#reopen(ref))
    })
  }

  /** The ledger closed the node, and the node learns of it later: by an answer, or by its renewal. */
  sweep(): void {
    this.#bank.close(this.ref)
    const { ref } = this
    this.#scheduler.soon(() => {
      if (this.ref === ref) this.leases.fence()
      this.#scheduler.soon(() => this.#reopen(ref))
    })
  }

  /** Throws if memory has more money than the ledger has leased to this node. */
  check(accounts: readonly string[]): void {
    for (const account of accounts) {
      const state = this.leases.state(account)
      const freeNano = state?.freeNano ?? 0n
      const heldNano = state?.heldNano ?? 0n
      if (freeNano < 0n || heldNano < 0n) throw new Error(`${account}: ${freeNano}, ${heldNano}`)
      // Between the loss of an epoch and its discovery, what the node believes is written off, not overdrawn.
      if (!this.#bank.isOpen(this.ref)) continue
      const unsettled = this.unsettled
        .filter((charge) => charge.account === account && charge.ref.epoch === this.ref.epoch)
        .reduce((sum, { fromLease }) => sum + fromLease, 0n)
      const believed = freeNano + heldNano + unsettled + (this.#onTheWay.get(account) ?? 0n)
      const leased = this.#bank.leased(account, this.ref)
      if (believed > leased) throw new Error(`${account}: believes ${believed}, has ${leased}`)
    }
  }

  #reopen(after: NodeRef): void {
    if (this.ref !== after) return
    this.leases.fence()
    this.ref = this.#bank.open(after.node)
    this.#onTheWay = new Map()
    this.leases.open(this.ref.epoch)
  }

  #grant(account: string, size: GrantSize): Promise<Grant> {
    const { ref, isCutOff } = this
    return new Promise((resolve, reject) => {
      this.#send(() => {
        if (isCutOff) {
          this.#scheduler.soon(() => reject(new Error('the ledger is out of reach')))
          return
        }
        const grant = this.#bank.grant(ref, account, size)
        this.#scheduler.soon(() => resolve(grant))
      })
    })
  }

  #giveBack(account: string, amountNano: bigint): void {
    const { ref } = this
    const onTheWay = this.#onTheWay
    onTheWay.set(account, (onTheWay.get(account) ?? 0n) + amountNano)
    this.#send(() => {
      onTheWay.set(account, (onTheWay.get(account) ?? 0n) - amountNano)
      this.#bank.giveBack(ref, account, amountNano)
    })
  }

  #send(message: () => void): void {
    this.#messages.push(message)
    this.#scheduler.soon(() => this.#messages.shift()?.())
  }
}
