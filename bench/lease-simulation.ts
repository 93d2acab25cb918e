// One account's credit on many nodes, in simulated time: the product's own leases over a ledger that answers as
// PostgreSQL would, with a round trip and one row lock per wallet.

import type { LeaseSettings } from '../src/ledger/lease.ts'
import { createLeases, type Leases } from '../src/ledger/leases.ts'
import type { Hold, NoHold } from '../src/ledger/ledger.ts'
import type { Nano } from '../src/money.ts'
import type { Grant, GrantSize } from '../src/store/ledger.ts'

export interface LeaseScenario {
  /** Number of nodes that the account's requests reach, all equally often. */
  readonly nodes: number
  readonly requestsPerSecond: number
  readonly seconds: number
  readonly balanceNano: Nano
  readonly holdNano: Nano
  readonly chargeNano: Nano
  /** Mean length of a request; lengths are exponential. */
  readonly requestMs: number
}

export interface LeaseFigures {
  readonly requests: number
  /** Requests refused although the wallet had the money on some node. */
  readonly refusedWrongly: number
  readonly refusedRightly: number
  /** Requests that waited for the ledger. */
  readonly waited: number
  readonly waitP99Ms: number
  /** Transactions on the wallet's row: grants, returns, recalls, settlements. */
  readonly grants: number
  readonly returns: number
  readonly recalls: number
  readonly settlements: number
  /** Part of the balance that is leased and not held by a request: mean and maximum of samples taken each second. */
  readonly idleShare: number
  readonly idleShareMost: number
  /** The wallet's balance at the end: never below zero. */
  readonly postedNano: Nano
  /** The leased amount in the ledger, and the free and held amounts on the nodes: equal once nothing is running. */
  readonly leasedNano: Nano
  readonly onNodesNano: Nano
}

/** Round trip between a node and the ledger. */
const roundTripMs = 1
/** How long a transaction holds the wallet's row. */
const lockMs = 0.5
const settleEveryMs = 100
const recallEveryMs = 50
const tickMs = 1_000
const uncapped: LeaseSettings = { maxHeldPerKeyNano: null, maxHeldPerAccountNano: null }
const account = 'account'

/** Events by time; events of the same time in the order in which they were added. */
class Clock {
  nowMs = 0
  #count = 0
  readonly #heap: { readonly atMs: number; readonly order: number; readonly run: () => void }[] = []

  get size(): number {
    return this.#heap.length
  }

  after(delayMs: number, run: () => void): void {
    const heap = this.#heap
    const event = { atMs: this.nowMs + delayMs, order: this.#count++, run }
    let place = heap.push(event) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      const parent = heap[above]
      if (parent === undefined || isBefore(parent, event)) break
      heap[place] = parent
      place = above
    }
    heap[place] = event
  }

  /** Runs the next event; false if there is none. */
  step(): boolean {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined) return false
    if (heap.length > 0) this.#sink(last)
    this.nowMs = first.atMs
    first.run()
    return true
  }

  #sink(event: { readonly atMs: number; readonly order: number; readonly run: () => void }): void {
    const heap = this.#heap
    let place = 0
    for (;;) {
      const left = place * 2 + 1
      const [one, other] = [heap[left], heap[left + 1]]
      const isOther = one !== undefined && other !== undefined && isBefore(other, one)
      const next = isOther ? other : one
      if (next === undefined || isBefore(event, next)) break
      heap[place] = next
      place = isOther ? left + 1 : left
    }
    heap[place] = event
  }
}

function isBefore(
  one: { readonly atMs: number; readonly order: number },
  other: { readonly atMs: number; readonly order: number },
): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)
}

/** The wallet and its leases, as in `store/nodes.ts`. */
class Wallet {
  readonly counts = { grants: 0, returns: 0, recalls: 0, settlements: 0 }
  readonly leased: Nano[]
  /** By node: called when another node lacks credit. */
  readonly onRecall: (() => void)[] = []
  leasedNano: Nano = 0n
  postedNano: Nano
  readonly #clock: Clock
  #freeAtMs = 0

  constructor(clock: Clock, nodes: number, postedNano: Nano) {
    this.#clock = clock
    this.postedNano = postedNano
    this.leased = Array<Nano>(nodes).fill(0n)
  }

  /** Runs `work` once the row is free, and holds the row for the time of a transaction. */
  locked(work: () => void): void {
    const { nowMs } = this.#clock
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs + roundTripMs / 2) + lockMs
    this.#clock.after(this.#freeAtMs - nowMs, work)
  }

  grant(node: number, { needNano, wantNano, spareNano = 0n }: GrantSize): Grant {
    this.counts.grants += 1
    const freeNano = this.postedNano - this.leasedNano
    const leasedElsewhereNano = this.leasedNano - (this.leased[node] ?? 0n)
    const forLaterNano = leasedElsewhereNano > 0n ? freeNano / 2n : freeNano
    const sizes = [needNano, least(wantNano, freeNano), least(spareNano, forLaterNano)]
    const mostNano = sizes.reduce((most, each) => (each > most ? each : most))
    const grantedNano = freeNano < needNano ? 0n : mostNano
    this.#move(node, grantedNano)
    return { grantedNano, fenced: false, leasedElsewhereNano, postedNano: this.postedNano }
  }

  giveBack(node: number, amountNano: Nano): void {
    this.counts.returns += 1
    this.#move(node, -amountNano)
  }

  recall(by: number): void {
    this.counts.recalls += 1
    for (const [node, nano] of this.leased.entries())
      if (node !== by && nano > 0n) this.onRecall[node]?.()
  }

  settle(node: number, chargeNano: Nano): void {
    this.counts.settlements += 1
    this.postedNano -= chargeNano
    this.#move(node, -chargeNano)
  }

  #move(node: number, byNano: Nano): void {
    this.leased[node] = (this.leased[node] ?? 0n) + byNano
    this.leasedNano += byNano
  }
}

/** A node with its own leases, which settles and reads recalls at intervals. */
class Node {
  readonly #leases: Leases
  readonly #clock: Clock
  readonly #wallet: Wallet
  readonly #place: number
  #unsettledNano: Nano = 0n
  #isTicking = false
  #isRecalled = false
  /** Calls to the ledger are carried out one after another. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(clock: Clock, wallet: Wallet, place: number) {
    this.#clock = clock
    this.#wallet = wallet
    this.#place = place
    this.#leases = createLeases({
      settings: uncapped,
      schedule: (run, delayMs) => clock.after(delayMs, run),
      onError: (error) => {
        throw error
      },
      authority: {
        grant: (_, size) => this.#asked(() => wallet.grant(place, size)),
        giveBack: (_, amountNano) => void this.#asked(() => wallet.giveBack(place, amountNano)),
        recall: () => void this.#asked(() => wallet.recall(place)),
        forget: () => undefined,
      },
    })
    this.#leases.open()
    wallet.onRecall[place] = () => this.#recalled()
  }

  get freeNano(): Nano {
    return this.#leases.state(account)?.freeNano ?? 0n
  }

  get heldNano(): Nano {
    return this.#leases.state(account)?.heldNano ?? 0n
  }

  get unsettledNano(): Nano {
    return this.#unsettledNano
  }

  hold(nano: Nano): Hold | NoHold | Promise<Hold | NoHold> {
    if (!this.#isTicking) this.#clock.after(tickMs, () => this.#tick())
    this.#isTicking = true
    return this.#leases.hold(account, 'key', nano)
  }

  end(hold: Hold, chargeNano: Nano): void {
    const paidNano = this.#leases.close(hold, chargeNano)
    if (paidNano !== chargeNano) throw new Error(`the lease paid ${paidNano} of ${chargeNano}`)
    if (this.#unsettledNano === 0n) this.#clock.after(settleEveryMs, () => this.#settle())
    this.#unsettledNano += chargeNano
  }

  #tick(): void {
    this.#leases.tick(this.#clock.nowMs)
    this.#isTicking = this.#leases.accounts > 0
    if (this.#isTicking) this.#clock.after(tickMs, () => this.#tick())
  }

  /** Reads recalls at an interval, at a different moment on each node. */
  #recalled(): void {
    if (this.#isRecalled) return
    this.#isRecalled = true
    this.#clock.after(((this.#place * 7) % recallEveryMs) + 1, () => {
      this.#isRecalled = false
      this.#leases.recall(account)
    })
  }

  #settle(): void {
    const nano = this.#unsettledNano
    this.#wallet.locked(() => {
      this.#unsettledNano -= nano
      this.#wallet.settle(this.#place, nano)
      // Requests that end meanwhile are settled with the next batch.
      if (this.#unsettledNano > 0n) this.#clock.after(settleEveryMs, () => this.#settle())
    })
  }

  #asked<Answer>(work: () => Answer): Promise<Answer> {
    const answer = this.#last.then(
      () =>
        new Promise<Answer>((resolve) =>
          this.#wallet.locked(() => {
            const value = work()
            this.#clock.after(roundTripMs / 2, () => resolve(value))
          }),
        ),
    )
    this.#last = answer
    return answer
  }
}

/** Rejects if a lease pays less than the charge. The same `seed` gives the same figures. */
export async function simulateLeases(scenario: LeaseScenario, seed = 1): Promise<LeaseFigures> {
  const run = new Run(scenario, seed)
  await run.toItsEnd()
  return run.figures()
}

class Run {
  readonly #scenario: LeaseScenario
  readonly #random: () => number
  readonly #clock = new Clock()
  readonly #wallet: Wallet
  readonly #nodes: readonly Node[]
  readonly #waitsMs: number[] = []
  readonly #idle: number[] = []
  #requests = 0
  #running = 0
  #refusedWrongly = 0
  #refusedRightly = 0

  constructor(scenario: LeaseScenario, seed: number) {
    this.#scenario = scenario
    this.#random = randomOf(seed)
    this.#wallet = new Wallet(this.#clock, scenario.nodes, scenario.balanceNano)
    this.#nodes = Array.from(
      { length: scenario.nodes },
      (_, place) => new Node(this.#clock, this.#wallet, place),
    )
    this.#clock.after(tickMs, () => this.#sample())
    this.#arriveLater()
  }

  async toItsEnd(): Promise<void> {
    while (this.#clock.step()) for (let turn = 0; turn < microtaskTurns; turn++) await undefined
  }

  figures(): LeaseFigures {
    const { counts, postedNano, leasedNano } = this.#wallet
    const sum = (of: (node: Node) => Nano) =>
      this.#nodes.reduce((total, node) => total + of(node), 0n)
    const waits = this.#waitsMs.sort((one, other) => one - other)
    return {
      requests: this.#requests,
      refusedWrongly: this.#refusedWrongly,
      refusedRightly: this.#refusedRightly,
      waited: waits.length,
      waitP99Ms: waits[Math.floor(waits.length * 0.99)] ?? 0,
      ...counts,
      idleShare: this.#idle.reduce((total, each) => total + each, 0) / this.#idle.length,
      idleShareMost: Math.max(...this.#idle),
      postedNano,
      leasedNano,
      onNodesNano: sum(
        ({ freeNano, heldNano, unsettledNano }) => freeNano + heldNano + unsettledNano,
      ),
    }
  }

  get #isOver(): boolean {
    return this.#clock.nowMs > this.#scenario.seconds * 1_000 && this.#running === 0
  }

  #arriveLater(): void {
    const { requestsPerSecond, seconds } = this.#scenario
    this.#clock.after((-Math.log(1 - this.#random()) * 1_000) / requestsPerSecond, () => {
      if (this.#clock.nowMs > seconds * 1_000) return
      this.#arrive()
      this.#arriveLater()
    })
  }

  #arrive(): void {
    const node = this.#nodes[Math.floor(this.#random() * this.#nodes.length)]
    if (node === undefined) throw new Error('no nodes')
    this.#requests += 1
    this.#running += 1
    const sinceMs = this.#clock.nowMs
    const hold = node.hold(this.#scenario.holdNano)
    if (!(hold instanceof Promise)) return this.#answered(node, hold)
    void hold.then((waited) => {
      this.#waitsMs.push(this.#clock.nowMs - sinceMs)
      this.#answered(node, waited)
    })
  }

  #answered(node: Node, hold: Hold | NoHold): void {
    const { requestMs, chargeNano } = this.#scenario
    if ('refused' in hold) {
      this.#running -= 1
      if (this.#reachableNano() >= this.#scenario.holdNano) this.#refusedWrongly += 1
      else this.#refusedRightly += 1
      return
    }
    this.#clock.after(-Math.log(1 - this.#random()) * requestMs, () => {
      this.#running -= 1
      node.end(hold, chargeNano)
    })
  }

  /** Credit that no request holds, on any node or in the wallet. */
  #reachableNano(): Nano {
    return this.#nodes.reduce(
      (left, { heldNano, unsettledNano }) => left - heldNano - unsettledNano,
      this.#wallet.postedNano,
    )
  }

  #sample(): void {
    const idleNano = this.#nodes.reduce((total, { freeNano }) => total + freeNano, 0n)
    this.#idle.push(Number(idleNano) / Math.max(1, Number(this.#wallet.postedNano)))
    if (!this.#isOver) this.#clock.after(tickMs, () => this.#sample())
  }
}

function least(one: Nano, other: Nano): Nano {
  return one < other ? one : other
}

/** More turns than the longest chain of promises between the ledger's answer and the waiting request. */
const microtaskTurns = 16

/** Mulberry32: uniformly distributed numbers from 0 up to 1. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
