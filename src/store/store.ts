// What is kept, whichever engine keeps it: the contract SQLite and PostgreSQL both pass.

import type { AlertNoticeTable, AlertTable } from './alerts.ts'
import type { ArrivalTable } from './arrivals.ts'
import type { AutoTopUpTable } from './auto-top-up.ts'
import type { ConfigurationTable } from './configuration.ts'
import type { ControlReplyTable, OperatorEventTable } from './control.ts'
import type { FailingWorkTable } from './failing-work.ts'
import type { GroupUseReader } from './group-uses.ts'
import type { HistoryTable } from './history.ts'
import type { HistorySettingTable } from './history-settings.ts'
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
  StatementReader,
} from './ledger.ts'
import type { ManagementKeyTable } from './management-keys.ts'
import type { PaceTable } from './pace.ts'
import type { BillTable } from './payment-bills.ts'
import type {
  CallbackTable,
  DisputeTable,
  PaymentOrderTable,
  PaymentTable,
  RefundTable,
} from './payment-tables.ts'
import type { IdentityTable, PeopleTable } from './people.ts'
import type { PreferenceTable } from './preferences.ts'
import type { ReconcileTable } from './reconcile-table.ts'
import type { RedemptionTable } from './redemption-tables.ts'
import type { ResponseTable } from './responses.ts'
import type { RetentionTable } from './retention.ts'
import type { RollupStore } from './rollup-table.ts'
import type { RunningTable } from './running.ts'
import type { SearchReader } from './search.ts'
import type { SettingTable } from './settings.ts'
import type { InvitationTable, SessionTable, SignInTable } from './sign-in.ts'
import type { UsageArchiveTable } from './usage-archive.ts'
import type { UsageExportTable } from './usage-export.ts'
import type { SettledPlace, UsageFilter, UsagePlace, UsagePredicate } from './usage-filter.ts'
import type { UsageRow } from './usage-row.ts'
import type { VideoTable } from './video-table.ts'

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

export interface UsagePage {
  readonly rows: readonly UsageRow[]
  /** Where the next one begins; null: this is the end of the list. */
  readonly next: UsagePlace | null
}

export interface SettledRows {
  readonly rows: readonly { readonly place: SettledPlace; readonly row: UsageRow }[]
  /** How far was read, whether or not the predicate held: ask on from here. */
  readonly place: SettledPlace
  /** What was asked for is partly forgotten: rows are missing before these. */
  readonly missed: boolean
}

/** Of requests as they were settled. */
export interface RecentUsage {
  /** By the minute they began, as whole minutes since 1970; those without any are left out. */
  readonly minutes: readonly { readonly minute: number; readonly requests: number }[]
  /** Most frequent first, of the newest requests only where there are very many. */
  readonly errors: readonly RecentError[]
  /** From this moment on errors were looked for. */
  readonly errorsSince: number
}

export interface RecentError {
  readonly code: string
  readonly requests: number
  readonly lastAt: number
  /** One of the newest of them. */
  readonly requestId: string
}

export interface RefusedModel {
  readonly model: string
  readonly requests: number
}

/** Written by settlement alone (`SettlementTable.settle`). */
export interface UsageTable {
  /** All that fit, however long it takes to find them. */
  list(filter: UsageFilter): Promise<readonly UsageRow[]>
  /**
   * The same in bounded time: where few rows fit, a page may hold fewer than asked for, even none, and go on all the
   * same.
   */
  page(filter: UsageFilter): Promise<UsagePage>
  /** null where there is none, or it is another account's; `account` null: whoever's it is. */
  find(account: string | null, requestId: string): Promise<UsageRow | null>
  /** The place behind all that is settled now. */
  newest(): Promise<SettledPlace>
  /** What requests that began since a moment came to, of all accounts. */
  recent(since: number): Promise<RecentUsage>
  /** Of the newest requests since a moment, those that were refused with 503 before they had a price, by model. */
  refused(since: number): Promise<readonly RefusedModel[]>
  /**
   * Rows settled behind a place, in the order of settlement, each once; some at a time, and of these with `most` only so
   * many of the newest, where `missed` says that there were more.
   */
  settledAfter(place: SettledPlace, predicate: UsagePredicate, most?: number): Promise<SettledRows>
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
  /** Where browsers reach the server that started last; null before the first start. */
  address(): Promise<string | null>
  rememberAddress(address: string): Promise<void>
}

export interface Store {
  readonly engine: 'sqlite' | 'postgres'
  readonly keys: KeyTable
  readonly keyUses: KeyUseTable
  readonly managementKeys: ManagementKeyTable
  readonly accounts: AccountTable
  readonly people: PeopleTable
  readonly identities: IdentityTable
  readonly preferences: PreferenceTable
  readonly alerts: AlertTable
  readonly alertNotices: AlertNoticeTable
  readonly sessions: SessionTable
  readonly signIns: SignInTable
  readonly invitations: InvitationTable
  readonly groupUses: GroupUseReader
  readonly usage: UsageTable
  readonly running: RunningTable
  readonly arrivals: ArrivalTable
  readonly journal: JournalTable
  readonly statements: StatementReader
  readonly search: SearchReader
  readonly nodes: NodeTable
  readonly leases: LeaseTable
  readonly settlements: SettlementTable
  readonly outboxes: OutboxTable
  readonly rollups: RollupStore
  readonly retention: RetentionTable
  readonly archive: UsageArchiveTable
  readonly failingWork: FailingWorkTable
  readonly usageExport: UsageExportTable
  readonly reconcile: ReconcileTable
  readonly prices: PriceTable
  readonly idempotency: IdempotencyTable
  readonly responses: ResponseTable
  readonly videos: VideoTable
  readonly paymentOrders: PaymentOrderTable
  readonly payments: PaymentTable
  readonly callbacks: CallbackTable
  readonly refunds: RefundTable
  readonly disputes: DisputeTable
  readonly bills: BillTable
  readonly autoTopUps: AutoTopUpTable
  readonly redemption: RedemptionTable
  readonly pace: PaceTable
  readonly audit: AuditTable
  readonly deployment: DeploymentTable
  readonly settings: SettingTable
  readonly configuration: ConfigurationTable
  readonly controlReplies: ControlReplyTable
  readonly operatorEvents: OperatorEventTable
  readonly history: HistoryTable
  readonly historySettings: HistorySettingTable
  /** Rejects when the store cannot be reached. */
  ping(): Promise<void>
  close(): Promise<void>
}
