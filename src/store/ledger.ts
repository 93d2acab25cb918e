// The ledger as it is kept: accounts, transfers, nodes, leases and settlement; the contract both engines pass.

import type { Nano } from '../money.ts'
import type { UsageRow } from './usage-row.ts'

/**
 * The accounts money moves between. `wallet:ACCOUNT` is what a customer has; the others are the operator's.
 * Every transfer debits one and credits another, so that the sum over all is 0 at every commit.
 */
export const house = {
  revenue: 'revenue:usage',
  promo: 'expense:promo',
  writeoff: 'expense:writeoff',
  adjust: 'adjust:admin',
  /** What providers of payment owe the operator; play money apart from all of them. */
  alipay: 'clearing:alipay',
  wechatpay: 'clearing:wechatpay',
  stripe: 'clearing:stripe',
  play: 'clearing:play',
} as const

export const walletOf = (account: string): string => `wallet:${account}`

/** One entry of the journal; never changed, never removed. */
export interface Transfer {
  /** `CODE:REFERENCE`, unique for ever: what makes a repeated posting do nothing. */
  readonly id: string
  /** `opening`, `topup`, `bonus`, `adjust`, `usage`, `writeoff`, `refund`, `refund_undone`, `clawback`, `clawback_undone`, `expiry`, `dispute_loss`. */
  readonly code: string
  readonly debit: string
  readonly credit: string
  /** Above 0. */
  readonly amountNano: Nano
  /** Who did it and why: required of `adjust`. */
  readonly actor: string | null
  readonly reason: string | null
  /** Unix milliseconds. */
  readonly at: number
}

/** An entry's place among those of its wallet. */
export interface EntryPlace {
  /** Unix milliseconds. */
  readonly at: number
  readonly id: string
}

/** An entry as it concerns one wallet. */
export interface LedgerEntry extends Omit<Transfer, 'amountNano'> {
  /** What it did to the wallet; below 0: it took. */
  readonly effectNano: Nano
  /** What the wallet had after it. */
  readonly balanceNano: Nano
}

export interface EntryFilter {
  readonly account: string
  /** Unix milliseconds: since <= at. */
  readonly since?: number
  /** Only entries older than this one. */
  readonly before?: EntryPlace
  readonly limit: number
}

export interface StatementFilter {
  readonly account: string
  /** Unix milliseconds, whole quarters of an hour: since <= at < until. */
  readonly since: number
  readonly until: number
  /** Of entries. */
  readonly limit: number
}

/** Opening, entries and charges make up the closing balance. */
export interface Statement {
  readonly openingNano: Nano
  readonly closingNano: Nano
  /** All but requests, oldest first. */
  readonly entries: readonly (Pick<Transfer, 'id' | 'code' | 'at' | 'reason'> & {
    readonly effectNano: Nano
  })[]
  /** Of requests, by key and by the model asked for, where they cost something. */
  readonly charges: readonly {
    readonly key: string
    readonly model: string
    readonly requests: number
    readonly chargeNano: Nano
  }[]
}

export interface StatementReader {
  /** null where the account has no wallet. */
  read(filter: StatementFilter): Promise<Statement | null>
}

export interface Wallet {
  readonly account: string
  /** Deposited less spent. */
  readonly postedNano: Nano
  /** Of it, what nodes have leased (and what set-aside rows and videos pin). */
  readonly leasedNano: Nano
  /** Of the leased, what running requests hold, as nodes last noted it, and what set-aside rows and videos pin. */
  readonly heldNano: Nano
}

/** A node at one of its starts; a later start has a higher epoch, and what the earlier one did late changes nothing of its leases. */
export interface NodeRef {
  readonly node: string
  readonly epoch: number
}

export interface GrantSize {
  /** Granted at least this, or nothing. */
  readonly needNano: Nano
  /** What waits: granted up to this where the wallet has it. */
  readonly wantNano: Nano
  /** For what is to come, nothing unless given: granted up to this, at most half of what is free where others lease too. */
  readonly spareNano?: Nano
}

export interface GrantRequest extends NodeRef, GrantSize {
  readonly account: string
}

export interface Grant {
  /** 0 where the wallet's free money is below the need, or the node is not open any more. */
  readonly grantedNano: Nano
  /** The node was closed or swept meanwhile: it must open again. */
  readonly fenced: boolean
  /** What other nodes (or other epochs) lease of this account: worth asking back when nothing was granted. */
  readonly leasedElsewhereNano: Nano
  /** The wallet's balance after the grant. */
  readonly postedNano: Nano
}

/** Where a record stood in an outbox: gapless numbers from 1 for each start (epoch) of the outbox of a node. */
export interface OutboxPlace {
  readonly node: string
  readonly epoch: number
  readonly number: number
}

/** Whose record it is: of the node in the epoch of the lease, and where it stood in the outbox. */
export interface RecordOrigin extends NodeRef {
  /** Left out: it comes from no numbered record, as with a request whose process died in it. */
  readonly place?: OutboxPlace | undefined
}

/** A finished request on its way into the ledger. */
export interface Settlement extends RecordOrigin {
  /** `chargeNano` holds the whole formula here, `writeoffNano` 0: settling divides them. */
  readonly row: UsageRow
  /** What of the charge the node's lease covers: the request's hold and what the node added at its end. */
  readonly fromLeaseNano: Nano
  /** The caller's own ceiling on the charge; what is above it is written off. */
  readonly capNano: Nano | null
  /** The reply to keep for whoever sends the same `Idempotency-Key` again. */
  readonly idempotency: IdempotencyDone | null
}

export interface IdempotencyDone {
  readonly account: string
  readonly key: string
  /** null: the request failed or its reply is too large; the key is free again, or answers 409, by `keep`. */
  readonly reply: IdempotencyReply | null
  /** Without a reply: whether the work was charged, so that it must not run again. */
  readonly keep: boolean
}

export interface IdempotencyReply {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export interface SettleResult {
  /** Rows of this call that were new; the others were settled before, and nothing was moved for them. */
  readonly settled: number
  readonly chargedNano: Nano
  readonly writtenOffNano: Nano
}

/** A settlement no ledger will take: kept as it came, its money still held. */
export interface SetAside {
  readonly requestId: string
  readonly account: string
  readonly heldNano: Nano
  /** The record as the outbox had it. */
  readonly raw: string
  readonly reason: string
  readonly at: number
}

/** What is posted, and what the wallets have: of people and of settlement alike. */
export interface JournalTable {
  /**
   * Posts transfers, all or none. `posted`: done. `known`: the first one's id is there already, and nothing was
   * changed. `insufficient`: a wallet would go below what it has free.
   */
  post(transfers: readonly Transfer[]): Promise<'posted' | 'known' | 'insufficient'>
  /** null where the account has no wallet: nothing was ever posted to it. */
  wallet(account: string): Promise<Wallet | null>
  wallets(): Promise<readonly Wallet[]>
  /** Of one account's wallet, newest first, usage left out unless `usage` is set. */
  transfers(filter: {
    account: string
    usage?: boolean
    limit: number
  }): Promise<readonly Transfer[]>
  /** What operators, top-ups and promotions gave to all wallets together since a moment. */
  credited(since: number): Promise<Nano>
  /** Of one account's wallet, requests included, newest first; none where it has no wallet. */
  entries(filter: EntryFilter): Promise<readonly LedgerEntry[]>
}

/** Which nodes are alive. */
export interface NodeTable {
  /** Opens the node anew: raises its epoch, and releases what leases its earlier epochs still have. */
  open(node: string, lifetimeMs: number): Promise<NodeRef>
  /** False where the node was closed or swept, or a later epoch is open. */
  renew(ref: NodeRef, lifetimeMs: number): Promise<boolean>
  /** Releases all leases of the node. */
  close(ref: NodeRef): Promise<void>
  /** Closes nodes that have not renewed in time by the database's clock; returns them. */
  sweep(): Promise<readonly NodeRef[]>
}

/** What of each wallet a node has to itself, for the holds of its requests. */
export interface LeaseTable {
  grant(request: GrantRequest): Promise<Grant>
  /** Gives back what is not needed; more than the lease has is given back as far as it goes. */
  giveBack(ref: NodeRef, account: string, amountNano: Nano): Promise<void>
  /** Asks the other nodes that lease this account to give back what they do not hold. */
  recall(account: string, by: NodeRef): Promise<void>
  /** Accounts this node leases and another starves for; each recall is returned once. */
  recalled(ref: NodeRef): Promise<readonly string[]>
  /** What running requests hold, by account: replaces what was noted before (an account left out holds 0). */
  noteHeld(ref: NodeRef, held: ReadonlyMap<string, Nano>): Promise<void>
}

/** What finished requests owe. */
export interface SettlementTable {
  /**
   * Settles a batch in one transaction. Each new row: what its lease covers comes from the lease as far as that
   * still has it, the rest from the wallet's free money as far as it goes, the rest is written off. Rows, transfers
   * (`usage:ID`, `writeoff:ID`), wallets, leases and quarter-hourly totals move together. Throws `RowRefused` where one of
   * them cannot be kept; then nothing has changed.
   */
  settle(batch: readonly Settlement[]): Promise<SettleResult>
  /** Keeps what cannot be settled; its lease's money stays held, pinned beside it. Known ids are passed over. */
  setAside(entry: SetAside, from: RecordOrigin): Promise<void>
  setAsides(limit: number): Promise<readonly SetAside[]>
}

export interface OutboxTable {
  /** The outbox was written up to this place, and hands in no more of it: what has not come never will. */
  end(place: OutboxPlace): Promise<void>
}

/** One difference an audit found. */
export interface AuditFinding {
  /** `journal`, `wallet`, `lease`, `usage`, `quarter`, `set-aside`, `video`, `payment`, `outbox`, `integrity`. */
  readonly kind: string
  readonly subject: string
  readonly message: string
}

export type Pricing = (cards: readonly PriceRow[]) => (row: UsageRow) => Nano | null

export interface AuditTable {
  /**
   * Re-derives every balance and total from the journal in one consistent reading. Set-aside rows are reported apart.
   * `pricing` makes, of every card there is at that moment, what recomputes a row's whole charge (null where its
   * price version is not known); that is called for each row that names a version.
   */
  run(pricing: Pricing): Promise<AuditReport>
}

export interface AuditReport {
  readonly transfers: number
  readonly usageRows: number
  readonly wallets: number
  readonly findings: readonly AuditFinding[]
  readonly setAside: number
}

/** A card of prices as it was written down; never edited, only followed by a later version. */
export interface PriceRow {
  /** Counts up over all models. */
  readonly version: number
  readonly model: string
  /** Unix milliseconds; may lie ahead. */
  readonly effectiveFrom: number
  /** By the price names of the configuration, decimals per million units; empty: withdrawn, back to what is shipped. */
  readonly prices: Readonly<Record<string, string>>
  /** `file`: declared in the configuration. `shipped`: of the catalogue. `set`, `import`: by a command. */
  readonly origin: 'file' | 'shipped' | 'set' | 'import'
  /** Where the prices are from, and the day they were read there. */
  readonly source: string
  readonly sourceDate: string | null
  readonly actor: string | null
  readonly createdAt: number
}

/** What a node's configuration file said of prices when it was last read. */
export interface PriceFileNote {
  readonly node: string
  /** The highest `priceRevision` of its files. */
  readonly revision: number
  /** Prices by origin and model: `file gpt-4o`. */
  readonly cards: Readonly<Record<string, PriceRow['prices']>>
}

export interface PriceTable {
  /** Appends, all or none; returns the versions in order. */
  append(rows: readonly Omit<PriceRow, 'version'>[]): Promise<readonly number[]>
  /**
   * As `append`, where `newest` is still the newest version; else nothing, and null: another process was quicker.
   * `note` is kept with it, in place of the node's last one.
   */
  appendAfter(
    newest: number,
    rows: readonly Omit<PriceRow, 'version'>[],
    note?: PriceFileNote,
  ): Promise<readonly number[] | null>
  /** What every node's file said when it was last read, by node. */
  files(): Promise<readonly PriceFileNote[]>
  /** Every version, oldest first. */
  all(): Promise<readonly PriceRow[]>
  /** The highest version: what a running server polls. 0 when there is none. */
  newest(): Promise<number>
}

export type IdempotencyFound =
  /** Nobody used the key: it is this request's now. */
  | { readonly state: 'new' }
  | { readonly state: 'other-body' }
  | { readonly state: 'running' }
  | { readonly state: 'done'; readonly requestId: string; readonly reply: IdempotencyReply | null }

export interface IdempotencyTable {
  /** Takes the key for a request, or says who has it. An expired entry counts as none. */
  begin(entry: {
    readonly account: string
    readonly key: string
    /** SHA-256 of endpoint and body, hex. */
    readonly bodyHash: string
    readonly requestId: string
    readonly by: NodeRef
    readonly nowMs: number
    readonly expiresAt: number
  }): Promise<IdempotencyFound>
  /** Frees a key whose request was refused before it was settled. */
  forget(account: string, key: string, requestId: string): Promise<void>
  /** Frees keys of requests that died with their node, and removes expired ones. */
  clean(nowMs: number): Promise<void>
}
