// The ledger in memory, as simple as possible: engines' answers are compared with it, and tests of nodes use it as
// their ledger.

import type {
  AccountGrant,
  EntryFilter,
  EntryPlace,
  Grant,
  JournalTable,
  LeaseTable,
  NodeRef,
  NodeTable,
  Resolution,
  Resolved,
  SetAside,
  Settlement,
  SettlementTable,
  SettleResult,
  Transfer,
  Wallet,
} from '../../src/store/ledger.ts'
import { house, walletOf } from '../../src/store/ledger.ts'
import { RowRefused, type Store } from '../../src/store/store.ts'
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

/** Everything that a ledger stores, and the operations of its tables. */
export class LedgerBook {
  readonly counters = new Map<string, Counters>()
  readonly nodes = new Map<string, ModelNode>()
  journal: Transfer[] = []
  usage: UsageRow[] = []
  pins: SetAside[] = []
  readonly resolved = new Map<string, Resolved['outcome']>()

  constructor() {
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

  pinned(account: string): bigint {
    return sum(this.openPins().flatMap((pin) => (pin.account === account ? pin.heldNano : [])))
  }

  openPins(): readonly SetAside[] {
    return this.pins.filter(({ requestId }) => !this.resolved.has(requestId))
  }

  leasesOf(account: string): ModelLease[] {
    return [...this.nodes.values()].flatMap(({ leases }) => leases.get(account) ?? [])
  }

  node({ node, epoch }: NodeRef): ModelNode | null {
    const found = this.nodes.get(node)
    return found?.isOpen && found.epoch === epoch ? found : null
  }

  lease(ref: NodeRef, account: string): ModelLease | null {
    return this.node(ref)?.leases.get(account) ?? null
  }

  shrink(ref: NodeRef, account: string, by: bigint): void {
    const lease = this.lease(ref, account)
    if (lease === null) return
    lease.amount -= by
    lease.held = least(lease.held, lease.amount)
    if (lease.amount === 0n) this.node(ref)?.leases.delete(account)
  }

  enter(transfer: Transfer): void {
    const { id, debit, credit, amountNano } = transfer
    const from = this.counters.get(debit)
    const to = this.counters.get(credit)
    if (!isRight(transfer) || from === undefined || to === undefined) throw new RowRefused(id)
    if (this.journal.some((known) => known.id === id)) throw new RowRefused(`${id} is taken`)
    from.debits += amountNano
    to.credits += amountNano
    this.journal.push(transfer)
  }

  refuseTooMuch(): void {
    for (const [id, { debits, credits }] of this.counters) {
      if (debits > mostNano || credits > mostNano)
        throw new RowRefused(`${id} has too much to count`)
    }
  }

  /** Changes by the work are undone if it throws. */
  allOrNone<Result>(work: () => Result): Result {
    const counters = structuredClone(this.counters)
    const nodes = structuredClone(this.nodes)
    const resolved = new Map(this.resolved)
    const { journal, usage } = this
    this.journal = [...journal]
    this.usage = [...usage]
    try {
      return work()
    } catch (error) {
      refill(this.counters, counters)
      refill(this.nodes, nodes)
      refill(this.resolved, resolved)
      this.journal = journal
      this.usage = usage
      if (error instanceof Undone) return error.result as Result
      throw error
    }
  }
}

/** The tables of the store that contain the money. */
export type LedgerTables = Pick<Store, 'journal' | 'nodes' | 'leases' | 'settlements'>

/** Every method does its work before it returns, and so is one step even with concurrent callers. */
export function modelTables(book: LedgerBook): LedgerTables {
  return {
    journal: journalTable(book),
    nodes: nodeTable(book),
    leases: leaseTable(book),
    settlements: settlementTable(book),
  }
}

function journalTable(book: LedgerBook): JournalTable {
  const table: JournalTable = {
    async post(transfers: readonly Transfer[]) {
      if (transfers.some(({ code }) => code === 'usage' || code === 'writeoff')) {
        throw new RowRefused('posted by settling')
      }
      const [first] = transfers
      // An invalid entry is refused, even under a known id.
      if (first !== undefined && !isRight(first)) throw new RowRefused(first.id)
      if (first !== undefined && book.journal.some(({ id }) => id === first.id)) return 'known'
      return book.allOrNone(() => {
        for (const transfer of transfers) book.enter(transfer)
        const touched = transfers.map(({ debit }) => debit).filter((id) => id.startsWith('wallet:'))
        const isOver = touched.some((id) => book.free(id.slice('wallet:'.length)) < 0n)
        if (isOver) throw new Undone('insufficient')
        book.refuseTooMuch()
        return 'posted' as const
      })
    },

    async wallet(account: string): Promise<Wallet | null> {
      if (!book.counters.has(walletOf(account))) return null
      const held = sum(book.leasesOf(account).map(({ held }) => held)) + book.pinned(account)
      const postedNano = book.posted(account)
      return { account, postedNano, leasedNano: book.leased(account), heldNano: held }
    },

    async wallets(): Promise<readonly Wallet[]> {
      const ids = [...book.counters.keys()].filter((id) => id.startsWith('wallet:')).sort()
      const wallets = await Promise.all(ids.map((id) => table.wallet(id.slice('wallet:'.length))))
      return wallets.filter((wallet) => wallet !== null)
    },

    async transfers(filter: { account: string; usage?: boolean; limit: number }) {
      const id = walletOf(filter.account)
      return book.journal
        .filter(({ code }) => filter.usage === true || code !== 'usage')
        .filter(({ debit, credit }) => debit === id || credit === id)
        .sort((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1))
        .slice(0, filter.limit)
    },

    credited: async (since) => credited(book, since),

    async entries({ account, since = 0, before, limit }: EntryFilter) {
      const id = walletOf(account)
      let balanceNano = 0n
      const all = book.journal
        .filter(({ debit, credit }) => debit === id || credit === id)
        .sort((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1))
        .map(({ amountNano, ...entry }) => {
          const effectNano = entry.credit === id ? amountNano : -amountNano
          balanceNano += effectNano
          return { ...entry, effectNano, balanceNano }
        })
      return all
        .toReversed()
        .filter(({ at }) => at >= since)
        .filter((each) => before === undefined || isOlder(each, before))
        .slice(0, limit)
    },
  }
  return table
}

function credited(book: LedgerBook, since: number): bigint {
  const sources: readonly string[] = Object.values(house)
  const given = book.journal.filter(({ code }) => code !== 'usage' && code !== 'writeoff')
  return sum(
    given
      .filter(({ debit, at }) => sources.includes(debit) && at >= since)
      .map(({ amountNano }) => amountNano),
  )
}

function isOlder(entry: EntryPlace, than: EntryPlace): boolean {
  return entry.at === than.at ? entry.id < than.id : entry.at < than.at
}

function nodeTable(book: LedgerBook): NodeTable {
  const table: NodeTable = {
    async open(node: string, lifetimeMs: number): Promise<NodeRef> {
      const epoch = (book.nodes.get(node)?.epoch ?? 0) + 1
      const expiresAt = Date.now() + lifetimeMs
      book.nodes.set(node, { epoch, isOpen: true, expiresAt, leases: new Map() })
      return { node, epoch }
    },

    async renew(ref: NodeRef, lifetimeMs: number): Promise<boolean> {
      const node = book.node(ref)
      if (node !== null) node.expiresAt = Date.now() + lifetimeMs
      return node !== null
    },

    async close(ref: NodeRef): Promise<void> {
      const node = book.node(ref)
      if (node === null) return
      node.isOpen = false
      node.leases.clear()
    },

    async sweep(): Promise<readonly NodeRef[]> {
      const lapsed = [...book.nodes]
        .filter(([, node]) => node.isOpen && node.expiresAt <= Date.now())
        .map(([node, { epoch }]) => ({ node, epoch }))
        .sort((one, other) => (one.node < other.node ? -1 : 1))
      for (const ref of lapsed) await table.close(ref)
      return lapsed
    },
  }
  return table
}

function grant(book: LedgerBook, ref: NodeRef, request: AccountGrant): Grant {
  const { account, needNano, wantNano, spareNano = 0n } = request
  const node = book.node(ref)
  const free = book.free(account)
  const fits = node !== null && free >= needNano
  const own = book.lease(ref, account)?.amount ?? 0n
  const leasedElsewhereNano = book.leased(account) - book.pinned(account) - own
  const forLater = least(spareNano, leasedElsewhereNano > 0n ? free / 2n : free)
  const sizes = [needNano, least(wantNano, free), forLater]
  const grantedNano = fits ? sizes.reduce((most, each) => (each > most ? each : most)) : 0n
  if (node !== null && grantedNano > 0n) {
    const lease = node.leases.get(account) ?? { amount: 0n, held: 0n, recalled: false }
    lease.amount += grantedNano
    node.leases.set(account, lease)
  }
  const postedNano = book.posted(account)
  return { grantedNano, fenced: node === null, leasedElsewhereNano, postedNano }
}

function leaseTable(book: LedgerBook): LeaseTable {
  const table: LeaseTable = {
    grantAll: async (ref, requests) => requests.map((each) => grant(book, ref, each)),

    async giveBack(ref: NodeRef, account: string, amountNano: bigint): Promise<void> {
      const lease = book.lease(ref, account)
      if (lease !== null) book.shrink(ref, account, least(amountNano, lease.amount))
    },

    async returnExcess(ref: NodeRef, keptNano: ReadonlyMap<string, bigint>): Promise<void> {
      for (const [account, kept] of keptNano) {
        const excess = (book.lease(ref, account)?.amount ?? 0n) - kept
        if (excess > 0n) book.shrink(ref, account, excess)
      }
    },

    async recall(account: string, by: NodeRef): Promise<void> {
      for (const [node, { epoch, leases }] of book.nodes) {
        const lease = leases.get(account)
        const isOwn = node === by.node && epoch === by.epoch
        if (lease !== undefined && !isOwn) lease.recalled = true
      }
    },

    async recalled(ref: NodeRef): Promise<readonly string[]> {
      const asked = [...(book.node(ref)?.leases ?? [])].filter(([, { recalled }]) => recalled)
      for (const [, lease] of asked) lease.recalled = false
      return asked.map(([account]) => account).sort()
    },

    async noteHeld(ref: NodeRef, held: ReadonlyMap<string, bigint>): Promise<void> {
      for (const [account, lease] of book.node(ref)?.leases ?? []) {
        lease.held = least(held.get(account) ?? 0n, lease.amount)
      }
    },
  }
  return table
}

function settlementTable(book: LedgerBook): SettlementTable {
  return {
    async settle(batch: readonly Settlement[]): Promise<SettleResult> {
      for (const each of batch) refuseWrong(each)
      return settleAll(book, batch)
    },

    async setAside(entry: SetAside, from: NodeRef): Promise<void> {
      const { requestId, account, heldNano } = entry
      const known = [...book.pins, ...book.usage].some((each) => each.requestId === requestId)
      if (known) return
      const fromLease = least(heldNano, book.lease(from, account)?.amount ?? 0n)
      const pinned = fromLease + least(heldNano - fromLease, book.free(account))
      book.shrink(from, account, fromLease)
      book.pins.push({ ...entry, heldNano: pinned })
    },

    async setAsides(limit: number): Promise<readonly SetAside[]> {
      return book
        .openPins()
        .toSorted((one, other) => other.at - one.at || (one.requestId < other.requestId ? 1 : -1))
        .slice(0, limit)
    },

    async findSetAside(requestId: string): Promise<SetAside | null> {
      return book.pins.find((pin) => pin.requestId === requestId) ?? null
    },

    async resolve({ requestId, settlement }: Resolution): Promise<Resolved> {
      if (settlement !== null) refuseWrong(settlement)
      const pin = book.pins.find((each) => each.requestId === requestId)
      if (pin === undefined) throw new RowRefused(requestId)
      const before = book.resolved.get(requestId)
      const nothing = { releasedNano: 0n, chargedNano: 0n, writtenOffNano: 0n }
      if (before !== undefined) return { outcome: before, isNew: false, ...nothing }
      const outcome = settlement === null ? 'discarded' : 'settled'
      const { heldNano: releasedNano } = pin
      return book.allOrNone(() => {
        book.resolved.set(requestId, outcome)
        const { settled: _, ...moved } = settleAll(book, settlement === null ? [] : [settlement])
        return { outcome, isNew: true, releasedNano, ...moved }
      })
    },
  }
}

function refuseWrong({ row, fromLeaseNano, capNano }: Settlement): void {
  const amounts = [row.chargeNano, row.vendorCostNano, fromLeaseNano, capNano ?? 0n]
  const isRight = amounts.every((amount) => amount >= 0n && amount <= mostNano)
  if (!isRight || row.writeoffNano !== 0n) throw new RowRefused(row.requestId)
}

function settleAll(book: LedgerBook, batch: readonly Settlement[]): SettleResult {
  return book.allOrNone(() => {
    const before = book.usage.length
    for (const settlement of batch) settleOne(book, settlement)
    book.refuseTooMuch()
    const added = book.usage.slice(before)
    return {
      settled: added.length,
      chargedNano: sum(added.map(({ chargeNano }) => chargeNano)),
      writtenOffNano: sum(added.map(({ writeoffNano }) => writeoffNano)),
    }
  })
}

function settleOne(book: LedgerBook, settlement: Settlement): void {
  const { row, capNano, fromLeaseNano } = settlement
  const { requestId, account, chargeNano: whole, at } = row
  if (book.usage.some((known) => known.requestId === requestId)) return
  const due = capNano === null ? whole : least(whole, capNano)
  const leased = book.lease(settlement, account)?.amount ?? 0n
  const fromLease = least(least(due, fromLeaseNano), leased)
  const chargeNano = fromLease + least(due - fromLease, book.free(account))
  const writeoffNano = whole - chargeNano
  book.shrink(settlement, account, fromLease)
  const entry = (code: string, debit: string, amountNano: bigint) => {
    const id = `${code}:${requestId}`
    const credit = house.revenue
    if (amountNano === 0n) return
    book.enter({ id, code, debit, credit, amountNano, actor: null, reason: null, at })
  }
  entry('usage', walletOf(account), chargeNano)
  entry('writeoff', house.writeoff, writeoffNano)
  book.usage.push({ ...row, chargeNano, writeoffNano })
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

/** Checks that need only the entry itself. */
function isRight({ id, code, debit, credit, amountNano, actor, reason }: Transfer): boolean {
  const isExplained = code !== 'adjust' || (Boolean(actor) && Boolean(reason))
  return id.startsWith(`${code}:`) && amountNano > 0n && debit !== credit && isExplained
}
