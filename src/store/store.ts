// What is kept, whichever engine keeps it: the contract SQLite and PostgreSQL both pass.

import type { ControlReplyTable, OperatorEventTable } from './control.ts'
import type { KeyTable, KeyUseTable } from './keys.ts'
import type {
  AuditTable,
  IdempotencyTable,
  JournalTable,
  LeaseTable,
  NodeTable,
  OutboxTable,
  PriceTable,
  SettlementTable,
} from './ledger.ts'
import type { ManagementKeyTable } from './management-keys.ts'
import type { IdentityTable, PeopleTable } from './people.ts'
import type { ResponseTable } from './responses.ts'
import type { RollupReader } from './rollup-table.ts'
import type { SettingTable } from './settings.ts'
import type { InvitationTable, SessionTable, SignInTable } from './sign-in.ts'
import type { UsageRow } from './usage-row.ts'
import type { VideoTable } from './video-table.ts'

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

export interface AccountTable {
  /** Makes the account when it is not there; returns whether it made it. */
  ensure(id: string, createdAt: number): Promise<boolean>
  /** By name. */
  all(): Promise<readonly { readonly id: string; readonly createdAt: number }[]>
  /** Those that are suspended or deleted, whose keys do not count. */
  closed(): Promise<readonly string[]>
}

/** Written by settlement alone (`SettlementTable.settle`). */
export interface UsageTable {
  list(filter: UsageFilter): Promise<readonly UsageRow[]>
  /** null where there is none, or it is another account's. */
  find(account: string, requestId: string): Promise<UsageRow | null>
}

/** What a deployment is, as all its processes know it. */
interface DeploymentTable {
  /** The code of the currency all amounts are in; null before the first start. */
  currency(): Promise<string | null>
  /** Keeps it at the first start; throws, with what to do, where the data counts in another one. */
  rememberCurrency(code: string): Promise<void>
  /** Groups of the configuration last served; empty before the first start. */
  groups(): Promise<readonly string[]>
  rememberGroups(names: readonly string[]): Promise<void>
}

export interface Store {
  readonly engine: 'sqlite' | 'postgres'
  readonly keys: KeyTable
  readonly keyUses: KeyUseTable
  readonly managementKeys: ManagementKeyTable
  readonly accounts: AccountTable
  readonly people: PeopleTable
  readonly identities: IdentityTable
  readonly sessions: SessionTable
  readonly signIns: SignInTable
  readonly invitations: InvitationTable
  readonly usage: UsageTable
  readonly journal: JournalTable
  readonly nodes: NodeTable
  readonly leases: LeaseTable
  readonly settlements: SettlementTable
  readonly outboxes: OutboxTable
  readonly rollups: RollupReader
  readonly prices: PriceTable
  readonly idempotency: IdempotencyTable
  readonly responses: ResponseTable
  readonly videos: VideoTable
  readonly audit: AuditTable
  readonly deployment: DeploymentTable
  readonly settings: SettingTable
  readonly controlReplies: ControlReplyTable
  readonly operatorEvents: OperatorEventTable
  /** Rejects when the store cannot be reached. */
  ping(): Promise<void>
  close(): Promise<void>
}
