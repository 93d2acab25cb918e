// The interface of the store, which both SQLite and PostgreSQL implement.

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
  KeyLeaseTable,
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

/** The engine refused a row because of its content; sending it again unchanged would fail again. */
export class RowRefused extends Error {
  override readonly name = 'RowRefused'
}

export interface AccountTable {
  /** Creates the account if it does not exist; returns whether it did. */
  ensure(id: string, createdAt: number): Promise<boolean>
  /** Sorted by id. */
  all(): Promise<readonly { readonly id: string; readonly createdAt: number }[]>
  /** Suspended or deleted accounts, whose keys do not work. */
  closed(): Promise<readonly string[]>
}

export interface UsagePage {
  readonly rows: readonly UsageRow[]
  /** Where the next page begins; null at the end of the list. */
  readonly next: UsagePlace | null
}

export interface SettledRows {
  readonly rows: readonly { readonly place: SettledPlace; readonly row: UsageRow }[]
  /** How far the log was read, whether or not rows matched: continue from here. */
  readonly place: SettledPlace
  /** Some of the requested log was removed, so rows are missing before these. */
  readonly missed: boolean
}

/** Figures of recent requests, by settled rows. */
export interface RecentUsage {
  /** By the minute in which they began, as whole minutes since 1970; minutes without requests are left out. */
  readonly minutes: readonly { readonly minute: number; readonly requests: number }[]
  /** Most frequent first; if there are very many requests, only from the newest of them. */
  readonly errors: readonly RecentError[]
  /** Errors from this moment on are included, Unix milliseconds. */
  readonly errorsSince: number
}

export interface RecentError {
  readonly code: string
  readonly requests: number
  readonly lastAt: number
  /** The id of one of the newest of these requests. */
  readonly requestId: string
}

export interface RefusedModel {
  readonly model: string
  readonly requests: number
}

/** Rows are written only by settling (`SettlementTable.settle`). */
export interface UsageTable {
  /** All matching rows up to the limit, however long finding them takes. */
  list(filter: UsageFilter): Promise<readonly UsageRow[]>
  /**
   * Like `list` in bounded time: if few rows match, a page may have fewer rows than requested, even none, and still
   * have a next page.
   */
  page(filter: UsageFilter): Promise<UsagePage>
  /** null if there is none, or another account has it; `account` null searches all accounts. */
  find(account: string | null, requestId: string): Promise<UsageRow | null>
  /** The place after everything that is settled now. */
  newest(): Promise<SettledPlace>
  /** Figures of requests that began since a moment, over all accounts. */
  recent(since: number): Promise<RecentUsage>
  /** Of the newest requests since a moment, those refused with 503 before they had a price, by model. */
  refused(since: number): Promise<readonly RefusedModel[]>
  /**
   * Rows settled after a place, in the order of settlement, each once; a part at a time, and with `most` only that many
   * of the newest, where `missed` tells that there were more.
   */
  settledAfter(place: SettledPlace, predicate: UsagePredicate, most?: number): Promise<SettledRows>
}

/** Facts about the deployment that all its processes share. */
interface DeploymentTable {
  /** The code of the currency of all amounts; null before the first start. */
  currency(): Promise<string | null>
  /** Stored at the first start; throws, with instructions, if the data has another currency. */
  rememberCurrency(code: string): Promise<void>
  /** Groups of the configuration that was last served; empty before the first start. */
  groups(): Promise<readonly string[]>
  rememberGroups(names: readonly string[]): Promise<void>
  /** The address at which browsers reach the server that started last; null before the first start. */
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
  readonly keyLeases: KeyLeaseTable
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
  /** Rejects if the store cannot be reached. */
  ping(): Promise<void>
  close(): Promise<void>
}
