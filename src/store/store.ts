// What is kept, whichever engine keeps it: the contract SQLite and PostgreSQL both pass.

import type { Nano } from '../money.ts'
import type { AuditTable, HourTable, IdempotencyTable, LedgerTable, PriceTable } from './ledger.ts'

/** A key made in the store (keys of the configuration file never come here). */
export interface KeyRow {
  readonly id: string
  readonly name: string
  readonly account: string
  readonly group: string
  /** SHA-256 of the secret, hex. */
  readonly hash: string
  /** For people: prefix and last four characters. */
  readonly hint: string
  /** Unix milliseconds throughout. */
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly disabledAt: number | null
  readonly models: readonly string[] | null
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  readonly concurrentRequests: number | null
  /** Replies carry what they cost. */
  readonly showCost: boolean
}

/** One finished request. Append-only; `requestId` is the primary key, a second append of it does nothing. */
export interface UsageRow {
  readonly requestId: string
  /** When the request began, Unix milliseconds. */
  readonly at: number
  readonly account: string
  readonly key: string
  readonly keyName: string
  readonly group: string
  readonly operation: string
  readonly modelAsked: string
  /** The vendor's own name of the model that answered, null when none did. */
  readonly modelServed: string | null
  readonly channel: string | null
  readonly vendor: string | null
  readonly attempts: number
  readonly stream: boolean
  readonly input: number
  readonly cachedInput: number
  readonly cacheWrite: number
  readonly output: number
  readonly reasoning: number
  /** Kinds few requests have. */
  readonly cacheWrite1h: number
  readonly audioInput: number
  readonly audioOutput: number
  readonly imageInput: number
  readonly imageOutput: number
  /** What is not tokens, by price name: `{"image/1024x1024":2}`, `{"second":12.5}`; null where there is none. */
  readonly units: Readonly<Record<string, number>> | null
  /** Who said so: the vendor, the vendor after the client had left, or the gateway by counting. */
  readonly usageSource: 'reported' | 'drained' | 'counted' | 'none'
  /** The card the request was admitted under; null where it never was. */
  readonly priceVersion: number | null
  /** The group's multiplier at admission, in millionths. */
  readonly multiplierPpm: number
  /** What the wallet paid; with `writeoffNano` it is the formula's result, to the nano. */
  readonly chargeNano: Nano
  readonly writeoffNano: Nano
  /** What all attempts cost at the vendors, at the model's own prices without the multiplier. */
  readonly vendorCostNano: Nano
  /** Until the first byte of content; null when there was none. */
  readonly ttftMs: number | null
  readonly durationMs: number
  /** HTTP status the client got; 499 when it left first. */
  readonly status: number
  readonly errorCode: string | null
  /** The finer cause of a failure, for operators. */
  readonly errorCause: string | null
  /** Attempts before the last, with what each is taken to have cost; null where the first was the last. */
  readonly failedAttempts: readonly FailedAttempt[] | null
}

export interface FailedAttempt {
  readonly channel: string
  /** The fault's kind. */
  readonly kind: string
  readonly costNano: string
}

export interface UsageFilter {
  readonly account?: string
  readonly key?: string
  /** The model asked for. */
  readonly model?: string
  /** The HTTP status the client got. */
  readonly status?: number
  /** Unix milliseconds: since <= at < until. */
  readonly since?: number
  readonly until?: number
  /** Only rows older than this one, in the order of the list: where the page before ended. */
  readonly before?: { readonly at: number; readonly requestId: string }
  /** Newest first; at most this many. */
  readonly limit: number
}

/** The engine refused a row for what is in it: to send it again as it is would fail again. */
export class RowRefused extends Error {
  override readonly name = 'RowRefused'
}

export interface KeyTable {
  /** The account must be there. Throws `RowRefused` when it is not, or the id or hash is taken. */
  insert(row: KeyRow): Promise<void>
  /** Oldest first. */
  all(): Promise<readonly KeyRow[]>
  /** Returns false when there is no such key. A key disabled before keeps its time. */
  disable(id: string, at: number): Promise<boolean>
  remove(id: string): Promise<boolean>
  /** Grows with every change of a key, whoever made it: what a running server polls. */
  revision(): Promise<number>
}

export interface AccountTable {
  /** Makes the account when it is not there; returns whether it made it. */
  ensure(id: string, createdAt: number): Promise<boolean>
  /** By name. */
  all(): Promise<readonly { readonly id: string; readonly createdAt: number }[]>
}

/** Written by settlement alone (`LedgerTable.settle`). */
export interface UsageTable {
  list(filter: UsageFilter): Promise<readonly UsageRow[]>
  /** null where there is none, or it is another account's. */
  find(account: string, requestId: string): Promise<UsageRow | null>
}

export interface Store {
  readonly engine: 'sqlite' | 'postgres'
  readonly keys: KeyTable
  readonly accounts: AccountTable
  readonly usage: UsageTable
  readonly ledger: LedgerTable
  readonly hours: HourTable
  readonly prices: PriceTable
  readonly idempotency: IdempotencyTable
  readonly audit: AuditTable
  /** The code of the currency all amounts are in; null before the first start. */
  currency(): Promise<string | null>
  /** Keeps it at the first start; throws, with what to do, where the data counts in another one. */
  rememberCurrency(code: string): Promise<void>
  /** Rejects when the store cannot be reached. */
  ping(): Promise<void>
  close(): Promise<void>
}
