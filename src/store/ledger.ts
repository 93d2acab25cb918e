// The ledger's data and tables: accounts, transfers, nodes, leases, settlement; both engines implement this contract.

import type { Nano } from '../money.ts'
import type { UsageRow } from './usage-row.ts'

/**
 * The accounts between which money moves. `wallet:ACCOUNT` belongs to a customer, the others to the operator. Every
 * transfer debits one and credits another, so the sum over all is 0 at every commit.
 */
export const house = {
  revenue: 'revenue:usage',
  promo: 'expense:promo',
  writeoff: 'expense:writeoff',
  adjust: 'adjust:admin',
  /** What payment providers owe the operator; `play` is play money, separate from all real money. */
  alipay: 'clearing:alipay',
  wechatpay: 'clearing:wechatpay',
  stripe: 'clearing:stripe',
  play: 'clearing:play',
} as const

export const walletOf = (account: string): string => `wallet:${account}`

/** One entry of the journal; never changed and never removed. */
export interface Transfer {
  /** `CODE:REFERENCE`, unique forever, so that a repeated posting does nothing. */
  readonly id: string
  /** `opening`, `topup`, `bonus`, `adjust`, `usage`, `writeoff`, `refund`, `refund_undone`, `clawback`, `clawback_undone`, `expiry`, `dispute_loss`. */
  readonly code: string
  readonly debit: string
  readonly credit: string
  /** Greater than 0. */
  readonly amountNano: Nano
  /** Who made it and why; required for `adjust`. */
  readonly actor: string | null
  readonly reason: string | null
  /** Unix milliseconds. */
  readonly at: number
}

/** An entry's place in the order of its wallet's entries. */
export interface EntryPlace {
  /** Unix milliseconds. */
  readonly at: number
  readonly id: string
}

/** An entry as seen from one wallet. */
export interface LedgerEntry extends Omit<Transfer, 'amountNano'> {
  /** Change of the wallet's balance; negative for a debit. */
  readonly effectNano: Nano
  /** The wallet's balance after the entry. */
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
  /** Unix milliseconds, multiples of 15 minutes: since <= at < until. */
  readonly since: number
  readonly until: number
  /** The most entries in the statement. */
  readonly limit: number
}

/** `openingNano` plus entries less charges gives `closingNano`. */
export interface Statement {
  readonly openingNano: Nano
  readonly closingNano: Nano
  /** All entries except those of requests, oldest first. */
  readonly entries: readonly (Pick<Transfer, 'id' | 'code' | 'at' | 'reason'> & {
    readonly effectNano: Nano
  })[]
  /** Charges of requests, by key and by the model asked for, where they are above 0. */
  readonly charges: readonly {
    readonly key: string
    readonly model: string
    readonly requests: number
    readonly chargeNano: Nano
  }[]
}

export interface StatementReader {
  /** null if the account has no wallet. */
  read(filter: StatementFilter): Promise<Statement | null>
}

export interface Wallet {
  readonly account: string
  /** Deposits less charges. */
  readonly postedNano: Nano
  /** Part of `postedNano` that nodes lease, or that set-aside records and videos hold. */
  readonly leasedNano: Nano
  /** Part of `leasedNano` that running requests hold, as last recorded by nodes, or set-aside records and videos. */
  readonly heldNano: Nano
}

/** A node at one of its starts. A later start has a higher epoch; an earlier one cannot change its leases any more. */
export interface NodeRef {
  readonly node: string
  readonly epoch: number
}

export interface GrantSize {
  /** The least to grant; if the wallet has less free, nothing is granted. */
  readonly needNano: Nano
  /** Amount that waiting requests need; the wallet grants up to this. */
  readonly wantNano: Nano
  /** Amount for future requests, 0n by default; at most half of the free money if other nodes lease too. */
  readonly spareNano?: Nano
}

export interface AccountGrant extends GrantSize {
  readonly account: string
}

export interface Grant {
  /** 0n if the wallet's free money is below the need, or the node is no longer open. */
  readonly grantedNano: Nano
  /** The node was closed or swept meanwhile, and must be opened again. */
  readonly fenced: boolean
  /** What other nodes or epochs lease of this account: worth recalling if nothing was granted. */
  readonly leasedElsewhereNano: Nano
  /** The wallet's balance after the grant. */
  readonly postedNano: Nano
}

/** A record's place in an outbox: gapless numbers from 1 for each start (epoch) of a node's outbox. */
export interface OutboxPlace {
  readonly node: string
  readonly epoch: number
  readonly number: number
}

/** Where a record is from: the node, the epoch of its lease, and its place in the outbox. */
export interface RecordOrigin extends NodeRef {
  /** Left out if there is no numbered record, as for a request whose process died during it. */
  readonly place?: OutboxPlace | undefined
}

/** A finished request to be written into the ledger. */
export interface Settlement extends RecordOrigin {
  /** `chargeNano` is the full computed charge and `writeoffNano` 0n; settling divides the charge. */
  readonly row: UsageRow
  /** Part of the charge that the node's lease covers: the hold, and what the node added when the request ended. */
  readonly fromLeaseNano: Nano
  /** The caller's `max_cost`; the charge above it is written off. */
  readonly capNano: Nano | null
  /** The reply to store for requests repeated with the same `Idempotency-Key`. */
  readonly idempotency: IdempotencyDone | null
}

export interface IdempotencyDone {
  readonly account: string
  readonly key: string
  /** null: the request failed or its reply is too large; `keep` decides whether the key is freed or answers 409. */
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
  /** Number of rows that were new; the others were settled before, and no money was moved for them. */
  readonly settled: number
  readonly chargedNano: Nano
  readonly writtenOffNano: Nano
}

/** A settlement that the ledger refuses: stored unchanged, with its money still held. */
export interface SetAside {
  readonly requestId: string
  readonly account: string
  readonly heldNano: Nano
  /** The record as it was in the outbox. */
  readonly raw: string
  readonly reason: string
  readonly at: number
}

/** How an operator deals with a set-aside record: by settling it, or for null by discarding it without a charge. */
export interface Resolution {
  readonly requestId: string
  readonly settlement: Settlement | null
  readonly actor: string
  /** Required to discard. */
  readonly reason: string | null
  readonly at: number
}

export interface Resolved {
  readonly outcome: 'settled' | 'discarded'
  /** False: an operator had dealt with the record before, and nothing was changed. */
  readonly isNew: boolean
  /** What the record had held. */
  readonly releasedNano: Nano
  readonly chargedNano: Nano
  readonly writtenOffNano: Nano
}

/** Posts transfers and reads wallets. */
export interface JournalTable {
  /**
   * Posts transfers, all or none. `posted`: done. `known`: the first id is already there, and nothing was changed.
   * `insufficient`: a wallet lacks free money.
   */
  post(transfers: readonly Transfer[]): Promise<'posted' | 'known' | 'insufficient'>
  /** null if the account has no wallet. */
  wallet(account: string): Promise<Wallet | null>
  wallets(): Promise<readonly Wallet[]>
  /** Transfers of one account's wallet, newest first; without usage unless `usage` is set. */
  transfers(filter: {
    account: string
    usage?: boolean
    limit: number
  }): Promise<readonly Transfer[]>
  /** Sum that operators, top-ups and promotions have credited to all wallets since a moment. */
  credited(since: number): Promise<Nano>
  /** Entries of one account's wallet, requests included, newest first; none if it has no wallet. */
  entries(filter: EntryFilter): Promise<readonly LedgerEntry[]>
}

/** Tracks which nodes are open. */
export interface NodeTable {
  /** Opens the node, raises its epoch, and releases the leases of its earlier epochs. */
  open(node: string, lifetimeMs: number): Promise<NodeRef>
  /** False if the node was closed or swept, or a later epoch is open. */
  renew(ref: NodeRef, lifetimeMs: number): Promise<boolean>
  /** Releases all leases of the node. */
  close(ref: NodeRef): Promise<void>
  /** Closes nodes that have not renewed in time, by the database's clock; returns them. */
  sweep(): Promise<readonly NodeRef[]>
}

/** Leases: parts of wallets reserved for one node, for the holds of its requests. */
export interface LeaseTable {
  /** Grants to one node on different accounts, by one transaction; in the order of the requests. */
  grantAll(ref: NodeRef, requests: readonly AccountGrant[]): Promise<readonly Grant[]>
  /** Returns unneeded money to the wallet, at most what the lease has. */
  giveBack(ref: NodeRef, account: string, amountNano: Nano): Promise<void>
  /** Returns to the wallets what this node's leases of these accounts have beyond the amounts, by one transaction. */
  returnExcess(ref: NodeRef, keptNano: ReadonlyMap<string, Nano>): Promise<void>
  /** Asks the other nodes that lease this account to give back what they do not hold. */
  recall(account: string, by: NodeRef): Promise<void>
  /** Accounts that this node leases and another node needs; each recall is returned once. */
  recalled(ref: NodeRef): Promise<readonly string[]>
  /** Records what running requests hold, by account, replacing the earlier record; an account left out holds 0. */
  noteHeld(ref: NodeRef, held: ReadonlyMap<string, Nano>): Promise<void>
}

/** Requests of a key that began in [sinceMs, untilMs), Unix milliseconds; `untilMs` null: no end. */
export interface SpentRange {
  readonly keyId: string
  readonly account: string
  readonly sinceMs: number
  readonly untilMs: number | null
}

/** A node's request to lease part of a key's spend limit. */
export interface KeyClaim {
  readonly keyId: string
  readonly limitNano: Nano
  /** What the key has spent in the present period: this, and what the ledger finds in the ranges. */
  readonly spentBeforeNano: Nano
  readonly ranges: readonly SpentRange[]
  /** What the key's requests on this node hold, and what ended ones have spent that may be missing from the ranges. */
  readonly keptNano: Nano
  /** What requests on this node may hold beside that, by the lease so far; negative if they cost more than they held. */
  readonly roomNano: Nano
  /** How much room there must be for a waiting request; 0n: none is needed any more. */
  readonly needNano: Nano
}

export interface KeyClaimed {
  /** One amount for each range. */
  readonly nano: readonly Nano[]
  /** The room from now on: at least the need, or as it was if the limit has not that much left. */
  readonly roomNano: Nano
}

export interface KeyLeaseTable {
  /** What keys have spent; one amount for each range. */
  spent(ranges: readonly SpentRange[]): Promise<readonly Nano[]>
  /**
   * Leases more or less of a key's limit: more only if what the key has spent and all nodes' leases are together within
   * the limit. If other nodes lease what is lacking, it is recalled from them. null: the node is not open.
   */
  claim(ref: NodeRef, claim: KeyClaim): Promise<KeyClaimed | null>
  /** Ends what this node leases of keys that have no running or unsettled request on it. */
  giveBack(ref: NodeRef, keyIds: readonly string[]): Promise<void>
  /** Keys of which another node lacks what this node leases; each recall is returned once. */
  recalled(ref: NodeRef): Promise<readonly string[]>
}

/** Settles finished requests. */
export interface SettlementTable {
  /**
   * Settles a batch in one transaction. Each new row is paid from its lease as far as possible, then from the wallet's
   * free money; the rest is written off. Rows, transfers (`usage:ID`, `writeoff:ID`), wallets, leases and
   * quarter-hourly totals change together. Throws `RowRefused` if any of them cannot be stored; then nothing has
   * changed.
   */
  settle(batch: readonly Settlement[]): Promise<SettleResult>
  /** Stores a record that cannot be settled; its lease's money stays held. Ignores known ids. */
  setAside(entry: SetAside, from: RecordOrigin): Promise<void>
  /** Records that no operator has dealt with, newest first; `all`: the others too. */
  setAsides(limit: number, all?: 'all'): Promise<readonly SetAside[]>
  /** Also one that an operator has dealt with; null if there is none. */
  findSetAside(requestId: string): Promise<SetAside | null>
  /**
   * Releases what a record holds and settles or discards it, in one transaction. Throws `RowRefused` if there is no such
   * record, or it still cannot be settled; then nothing has changed.
   */
  resolve(resolution: Resolution): Promise<Resolved>
}

export interface OutboxTable {
  /** Records that the outbox was written up to this place and is finished: records missing before it are lost. */
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
   * Recomputes every balance and total from the journal in one snapshot. Set-aside records are reported separately.
   * `pricing` receives all rate cards of that moment and returns a function that recomputes a row's full charge (null
   * if the price version is unknown), called for each row that names a version.
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

/** One version of a model's rate card; never edited, only superseded by a later version. */
export interface PriceRow {
  /** One sequence for all models. */
  readonly version: number
  readonly model: string
  /** Unix milliseconds; may be in the future. */
  readonly effectiveFrom: number
  /** By price name, decimals per million units; empty: the price is withdrawn and the shipped one applies. */
  readonly prices: Readonly<Record<string, string>>
  /** `file`: the configuration file. `shipped`: the catalogue. `set`, `import`: a command. */
  readonly origin: 'file' | 'shipped' | 'set' | 'import'
  /** Where the prices were published, and the day they were read there. */
  readonly source: string
  readonly sourceDate: string | null
  readonly actor: string | null
  readonly createdAt: number
}

/** The prices in a node's configuration file when it was last read. */
export interface PriceFileNote {
  readonly node: string
  /** The highest `priceRevision` of its files. */
  readonly revision: number
  /** Prices by origin and model, such as `file gpt-4o`. */
  readonly cards: Readonly<Record<string, PriceRow['prices']>>
}

export interface PriceTable {
  /** Appends all rows or none; returns the versions in order. */
  append(rows: readonly Omit<PriceRow, 'version'>[]): Promise<readonly number[]>
  /**
   * Like `append` if `newest` is still the newest version; otherwise appends nothing and returns null, because another
   * process was faster. `note` is stored with it and replaces the node's last one.
   */
  appendAfter(
    newest: number,
    rows: readonly Omit<PriceRow, 'version'>[],
    note?: PriceFileNote,
  ): Promise<readonly number[] | null>
  /** The last note of every node, by node. */
  files(): Promise<readonly PriceFileNote[]>
  /** Every version, oldest first. */
  all(): Promise<readonly PriceRow[]>
  /** The highest version, 0 if there is none; a running server polls it. */
  newest(): Promise<number>
}

export type IdempotencyFound =
  /** Nobody used the key before; it now belongs to this request. */
  | { readonly state: 'new' }
  | { readonly state: 'other-body' }
  | { readonly state: 'running' }
  | { readonly state: 'done'; readonly requestId: string; readonly reply: IdempotencyReply | null }

export interface IdempotencyTable {
  /** Reserves the key for a request, or returns its state. An expired key counts as free. */
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
  /** Frees the key of a request that was refused before it was settled. */
  forget(account: string, key: string, requestId: string): Promise<void>
  /** Frees the keys of requests that died with the node's last process; called when all it left is settled. */
  freeLeft(node: string): Promise<void>
  /** Frees keys of requests that died with a node that is lost, and deletes expired keys. */
  clean(nowMs: number): Promise<void>
}
