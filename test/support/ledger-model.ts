// The ledger in memory, as plain as can be: what every engine's answers are compared with, and a bank for tests of nodes.

import type {
  Grant,
  GrantRequest,
  LedgerTable,
  NodeRef,
  SetAside,
  Settlement,
  SettleResult,
  Transfer,
  Wallet,
} from '../../src/store/ledger.ts'
import { house, walletOf } from '../../src/store/ledger.ts'
import { RowRefused } from '../../src/store/store.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'

const mostNano = 2n ** 63n - 1n

interface Counters {
  debits: bigint
  credits: bigint
}

interface ModelLease {
  amount: bigint
  held: bigint
  recalled: boolean
}

interface ModelNode {
  epoch: number
  isOpen: boolean
  expiresAt: number
  leases: Map<string, ModelLease>
}

/** Every method does its work before it returns, and so is one step whoever else asks. */
export class LedgerModel implements LedgerTable {
  readonly counters = new Map<string, Counters>()
  readonly nodes = new Map<string, ModelNode>()
  journal: Transfer[] = []
  usage: UsageRow[] = []
  pins: SetAside[] = []

  private readonly now: () => number

  constructor(now: () => number = Date.now) {
    this.now = now
    for (const id of Object.values(house)) this.counters.set(id, { debits: 0n, credits: 0n })
  }

  /** As `AccountTable.ensure` makes a wallet. */
  ensure(account: string): void {
    const id = walletOf(account)
    if (!this.counters.has(id)) this.counters.set(id, { debits: 0n, credits: 0n })
  }

  posted(account: string): bigint {
    const { debits, credits } = this.counters.get(walletOf(account)) ?? { debits: 0n, credits: 0n }
    return credits - debits
  }

  leased(account: string): bigint {
    return sum(this.leasesOf(account).map(({ amount }) => amount)) + this.pinned(account)
  }

  free(account: string): bigint {
    return this.posted(account) - this.leased(account)
  }

  private pinned(account: string): bigint {
    return sum(this.pins.filter((pin) => pin.account === account).map(({ heldNano }) => heldNano))
  }

  private leasesOf(account: string): ModelLease[] {
    return [...this.nodes.values()].flatMap(({ leases }) => leases.get(account) ?? [])
  }

  private node({ node, epoch }: NodeRef): ModelNode | null {
    const found = this.nodes.get(node)
    return found?.isOpen && found.epoch === epoch ? found : null
  }

  private lease(ref: NodeRef, account: string): ModelLease | null {
    return this.node(ref)?.leases.get(account) ?? null
  }

  private shrink(ref: NodeRef, account: string, by: bigint): void {
    const lease = this.lease(ref, account)
    if (lease === null) return
    lease.amount -= by
    lease.held = least(lease.held, lease.amount)
    if (lease.amount === 0n) this.node(ref)?.leases.delete(account)
  }

  async post(transfers: readonly Transfer[]) {
    if (transfers.some(({ code }) => code === 'usage' || code === 'writeoff')) {
      throw new RowRefused('posted by settling')
    }
    const [first] = transfers
    // What no entry may be is refused, also under an id that is known.
    if (first !== undefined && !isRight(first)) throw new RowRefused(first.id)
    if (first !== undefined && this.journal.some(({ id }) => id === first.id)) return 'known'
    return this.allOrNone(() => {
      for (const transfer of transfers) this.book(transfer)
      const touched = transfers.map(({ debit }) => debit).filter((id) => id.startsWith('wallet:'))
      const isOver = touched.some((id) => this.free(id.slice('wallet:'.length)) < 0n)
      if (isOver) throw new Undone('insufficient')
      this.refuseTooMuch()
      return 'posted' as const
    })
  }

  private book(transfer: Transfer): void {
    const { id, debit, credit, amountNano } = transfer
    const from = this.counters.get(debit)
    const to = this.counters.get(credit)
    if (!isRight(transfer) || from === undefined || to === undefined) throw new RowRefused(id)
    if (this.journal.some((known) => known.id === id)) throw new RowRefused(`${id} is taken`)
    from.debits += amountNano
    to.credits += amountNano
    this.journal.push(transfer)
  }

  private refuseTooMuch(): void {
    for (const [id, { debits, credits }] of this.counters) {
      if (debits > mostNano || credits > mostNano)
        throw new RowRefused(`${id} has too much to count`)
    }
  }

  /** Whatever the work did is gone when it throws. */
  private allOrNone<Result>(work: () => Result): Result {
    const counters = structuredClone(this.counters)
    const nodes = structuredClone(this.nodes)
    const { journal, usage } = this
    this.journal = [...journal]
    this.usage = [...usage]
    try {
      return work()
    } catch (error) {
      refill(this.counters, counters)
      refill(this.nodes, nodes)
      this.journal = journal
      this.usage = usage
      if (error instanceof Undone) return error.result as Result
      throw error
    }
  }

  async wallet(account: string): Promise<Wallet | null> {
    if (!this.counters.has(walletOf(account))) return null
    const held = sum(this.leasesOf(account).map(({ held }) => held)) + this.pinned(account)
    const postedNano = this.posted(account)
    return { account, postedNano, leasedNano: this.leased(account), heldNano: held }
  }

  async wallets(): Promise<readonly Wallet[]> {
    const ids = [...this.counters.keys()].filter((id) => id.startsWith('wallet:')).sort()
    const wallets = await Promise.all(ids.map((id) => this.wallet(id.slice('wallet:'.length))))
    return wallets.filter((wallet) => wallet !== null)
  }

  async transfers(filter: { account: string; usage?: boolean; limit: number }) {
    const id = walletOf(filter.account)
    return this.journal
      .filter(({ code }) => filter.usage === true || code !== 'usage')
      .filter(({ debit, credit }) => debit === id || credit === id)
      .sort((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1))
      .slice(0, filter.limit)
  }

  async openNode(node: string, lifetimeMs: number): Promise<NodeRef> {
    const epoch = (this.nodes.get(node)?.epoch ?? 0) + 1
    const expiresAt = this.now() + lifetimeMs
    this.nodes.set(node, { epoch, isOpen: true, expiresAt, leases: new Map() })
    return { node, epoch }
  }

  async renewNode(ref: NodeRef, lifetimeMs: number): Promise<boolean> {
    const node = this.node(ref)
    if (node !== null) node.expiresAt = this.now() + lifetimeMs
    return node !== null
  }

  async closeNode(ref: NodeRef): Promise<void> {
    const node = this.node(ref)
    if (node === null) return
    node.isOpen = false
    node.leases.clear()
  }

  async sweep(): Promise<readonly NodeRef[]> {
    const lapsed = [...this.nodes]
      .filter(([, node]) => node.isOpen && node.expiresAt <= this.now())
      .map(([node, { epoch }]) => ({ node, epoch }))
      .sort((one, other) => (one.node < other.node ? -1 : 1))
    for (const ref of lapsed) await this.closeNode(ref)
    return lapsed
  }

  async grant(request: GrantRequest): Promise<Grant> {
    const { account, needNano, wantNano } = request
    const node = this.node(request)
    const free = this.free(account)
    const fits = node !== null && free >= needNano
    const grantedNano = fits ? least(needNano > wantNano ? needNano : wantNano, free) : 0n
    if (node !== null && grantedNano > 0n) {
      const lease = node.leases.get(account) ?? { amount: 0n, held: 0n, recalled: false }
      lease.amount += grantedNano
      node.leases.set(account, lease)
    }
    const own = this.lease(request, account)?.amount ?? 0n
    const leasedElsewhereNano = this.leased(account) - this.pinned(account) - own
    const postedNano = this.posted(account)
    return { grantedNano, fenced: node === null, leasedElsewhereNano, postedNano }
  }

  async giveBack(ref: NodeRef, account: string, amountNano: bigint): Promise<void> {
    const lease = this.lease(ref, account)
    if (lease !== null) this.shrink(ref, account, least(amountNano, lease.amount))
  }

  async recall(account: string, by: NodeRef): Promise<void> {
    for (const [node, { epoch, leases }] of this.nodes) {
      const lease = leases.get(account)
      const isOwn = node === by.node && epoch === by.epoch
      if (lease !== undefined && !isOwn) lease.recalled = true
    }
  }

  async recalled(ref: NodeRef): Promise<readonly string[]> {
    const asked = [...(this.node(ref)?.leases ?? [])].filter(([, { recalled }]) => recalled)
    for (const [, lease] of asked) lease.recalled = false
    return asked.map(([account]) => account).sort()
  }

  async noteHeld(ref: NodeRef, held: ReadonlyMap<string, bigint>): Promise<void> {
    for (const [account, lease] of this.node(ref)?.leases ?? []) {
      lease.held = least(held.get(account) ?? 0n, lease.amount)
    }
  }

  async settle(batch: readonly Settlement[]): Promise<SettleResult> {
    for (const { row, fromLeaseNano, capNano } of batch) {
      const amounts = [row.chargeNano, row.vendorCostNano, fromLeaseNano, capNano ?? 0n]
      const isRight = amounts.every((amount) => amount >= 0n && amount <= mostNano)
      if (!isRight || row.writeoffNano !== 0n) throw new RowRefused(row.requestId)
    }
    return this.allOrNone(() => {
      const before = this.usage.length
      for (const settlement of batch) this.settleOne(settlement)
      this.refuseTooMuch()
      const added = this.usage.slice(before)
      return {
        settled: added.length,
        chargedNano: sum(added.map(({ chargeNano }) => chargeNano)),
        writtenOffNano: sum(added.map(({ writeoffNano }) => writeoffNano)),
      }
    })
  }

  private settleOne(settlement: Settlement): void {
    const { row, capNano, fromLeaseNano } = settlement
    const { requestId, account, chargeNano: whole, at } = row
    if (this.usage.some((known) => known.requestId === requestId)) return
    const owed = capNano === null ? whole : least(whole, capNano)
    const leased = this.lease(settlement, account)?.amount ?? 0n
    const fromLease = least(least(owed, fromLeaseNano), leased)
    const chargeNano = fromLease + least(owed - fromLease, this.free(account))
    const writeoffNano = whole - chargeNano
    this.shrink(settlement, account, fromLease)
    const entry = (code: string, debit: string, amountNano: bigint) => {
      const id = `${code}:${requestId}`
      const credit = house.revenue
      if (amountNano === 0n) return
      this.book({ id, code, debit, credit, amountNano, actor: null, reason: null, at })
    }
    entry('usage', walletOf(account), chargeNano)
    entry('writeoff', house.writeoff, writeoffNano)
    this.usage.push({ ...row, chargeNano, writeoffNano })
  }

  async setAside(entry: SetAside, from: NodeRef): Promise<void> {
    const { requestId, account, heldNano } = entry
    const known = [...this.pins, ...this.usage].some((each) => each.requestId === requestId)
    if (known) return
    const fromLease = least(heldNano, this.lease(from, account)?.amount ?? 0n)
    const pinned = fromLease + least(heldNano - fromLease, this.free(account))
    this.shrink(from, account, fromLease)
    this.pins.push({ ...entry, heldNano: pinned })
  }

  async setAsides(limit: number): Promise<readonly SetAside[]> {
    return this.pins
      .toSorted((one, other) => other.at - one.at || (one.requestId < other.requestId ? 1 : -1))
      .slice(0, limit)
  }
}

class Undone extends Error {
  readonly result: unknown

  constructor(result: unknown) {
    super('undone')
    this.result = result
  }
}

function refill<Key, Value>(map: Map<Key, Value>, from: ReadonlyMap<Key, Value>): void {
  map.clear()
  for (const [key, value] of from) map.set(key, value)
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n)
}

/** What can be said of an entry by itself. */
function isRight({ id, code, debit, credit, amountNano, actor, reason }: Transfer): boolean {
  const isExplained = code !== 'adjust' || (Boolean(actor) && Boolean(reason))
  return id.startsWith(`${code}:`) && amountNano > 0n && debit !== credit && isExplained
}
