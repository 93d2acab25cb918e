// The data and tables of payments: orders, payments, messages, bonuses and refunds; both engines implement them.

import type { Nano } from '../money.ts'
import type { OrderState } from './order-state.ts'

export type PaymentProvider = 'alipay' | 'wechatpay' | 'stripe'
/** `play`: money of the payment simulator, separate from all real money. */
export type PaymentMode = 'play' | 'live'

/** Times in Unix milliseconds; `minor`: the smallest unit of the provider's currency. */
export interface PaymentOrder {
  /** The order's id, also at the provider. */
  readonly id: string
  readonly account: string
  /** Who ordered, in the form of the journal's `actor`. */
  readonly person: string
  readonly provider: PaymentProvider
  readonly mode: PaymentMode
  /** Payment method of the provider: `page`, `wap`, `qr`, ... */
  readonly method: string
  readonly amountMinor: number
  readonly currency: string
  /** Exchange rate at the time of the order: nano-units of the deployment's currency per minor unit. */
  readonly nanoPerMinor: Nano
  readonly creditNano: Nano
  /** Bonus offered with the order, given if neither account nor payer has had one before. */
  readonly bonusNano: Nano
  readonly state: OrderState
  /** Reason for an operator to look at it: `late`, `second`, `partial`, `over`, `disputed`. */
  readonly flag: string | null
  /** The provider's id of the first payment; null: nothing was paid. */
  readonly transactionId: string | null
  readonly attempt: string
  /** How the customer can pay, as the provider's module returned it. */
  readonly instructions: unknown
  readonly createdAt: number
  readonly expiresAt: number
  readonly shownAt: number | null
  readonly creditedAt: number | null
  readonly endedAt: number | null
  /** When the provider is asked about it next; null: not again. */
  readonly queryAt: number | null
  readonly revision: number
}

export type NewOrder = Omit<
  PaymentOrder,
  | 'state'
  | 'flag'
  | 'transactionId'
  | 'instructions'
  | 'shownAt'
  | 'creditedAt'
  | 'endedAt'
  | 'revision'
>

interface OrderFilter {
  readonly account?: string | undefined
  readonly provider?: PaymentProvider | undefined
  readonly state?: OrderState | undefined
  /** Only orders with a flag. */
  readonly flagged?: boolean | undefined
  readonly method?: string | undefined
  /** Only orders that were credited. */
  readonly paid?: boolean | undefined
  /** Only orders made by this time that have not ended. */
  readonly stuckBefore?: number | undefined
  /** The id of the order, or the provider's id of a payment of it. */
  readonly number?: string | undefined
  /** Only orders older than this one. */
  readonly before?: { readonly at: number; readonly id: string } | undefined
  readonly limit: number
}

export interface PaymentOrderTable {
  /** Returns the stored order: an earlier one if the account has used the attempt before. */
  create(order: NewOrder): Promise<PaymentOrder>
  find(id: string): Promise<PaymentOrder | null>
  /** Newest first. */
  list(filter: OrderFilter): Promise<readonly PaymentOrder[]>
  /** False if the order is no longer open. */
  show(id: string, instructions: unknown, at: number): Promise<boolean>
  /** False if the order is no longer open, for example because it was paid. */
  end(id: string, how: 'expire' | 'close', at: number): Promise<boolean>
  /**
   * Orders whose providers are to be asked, each given to one caller. The next query is due at the first of
   * `scheduleMs` after the order's creation that is still ahead; if there is none, the order is not returned again.
   */
  takeDue(
    at: number,
    scheduleMs: readonly number[],
    limit: number,
  ): Promise<readonly PaymentOrder[]>
  /** Orders credited since then after they had ended, newest first. */
  late(since: number, limit: number): Promise<readonly PaymentOrder[]>
}

/** A payment that a provider reports, in a message verified to be the provider's. */
export interface PaidTransaction {
  readonly provider: PaymentProvider
  readonly mode: PaymentMode
  /** The provider's id of the payment. */
  readonly id: string
  readonly amountMinor: number
  readonly currency: string
  /** Hash that identifies the payer; null if the provider does not say. */
  readonly payerHash: string | null
  readonly paidAt: number
}

export interface BonusGrant {
  readonly amountNano: Nano
  readonly expiresAt: number | null
}

/**
 * `late`: after the order had ended. `second`: another payment of it. `partial`, `over`: less or more than ordered; the
 * paid amount is credited. These four are flagged. `unknown_order`: no such order, or another provider, mode or
 * currency; nothing changed, so the right order may still be credited. `known`: credited before; nothing changed.
 */
export type PaidOutcome =
  | 'credited'
  | 'late'
  | 'second'
  | 'partial'
  | 'over'
  | 'unknown_order'
  | 'known'

export interface KeptTransaction extends PaidTransaction {
  readonly creditNano: Nano
  readonly outcome: Exclude<PaidOutcome, 'known' | 'unknown_order'>
  /** When it was credited. */
  readonly at: number
}

export interface ProviderEvent {
  readonly provider: PaymentProvider
  /** The provider's id of the message. */
  readonly eventId: string | null
  readonly orderId: string | null
  /** The body as received. */
  readonly raw: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  /** Why the message was refused; null if it was accepted. */
  readonly problem: string | null
  /** It was not proven to be the provider's: anybody may have sent it. */
  readonly isUnverified?: true
  readonly at: number
}

/** What happened to an order, each list oldest first. */
export interface OrderDetails {
  readonly transactions: readonly KeptTransaction[]
  readonly events: readonly Pick<ProviderEvent, 'eventId' | 'problem' | 'at'>[]
  readonly refunds: readonly Refund[]
  readonly disputes: readonly Dispute[]
  /** Bonus that its first payment earned; null: none. */
  readonly bonusNano: Nano | null
}

/** Which money of a wallet is spent first, if part of it is a bonus. */
export type BonusSpending = 'first' | 'last'

/** Which part of a wallet was paid for and which was given. */
export interface Standing {
  readonly paidNano: Nano
  /** Part of the balance that is a bonus. */
  readonly bonusNano: Nano
  /** When the first part of the bonus expires. */
  readonly bonusExpiresAt: number | null
  /** min(paid - refunded, balance - bonus), at least 0. */
  readonly refundableNano: Nano
  /** Whether the account has never paid, and so may still receive a first bonus. */
  readonly isFirst: boolean
}

/** Health of one provider's callbacks. */
export interface CallbackHealth {
  /** When a message was last accepted and last refused, to a few seconds; and why it was refused. */
  readonly takenAt: number | null
  readonly refusedAt: number | null
  readonly problem: string | null
  /** When an order was last credited, whether by a callback or a query. */
  readonly creditedAt: number | null
  /** Number of orders that have not ended. */
  readonly open: number
  /** Number of open orders made before `stuckBefore`. */
  readonly stuck: number
}

type ProviderMode = Pick<PaymentOrder, 'provider' | 'mode'>

export interface CallbackTable {
  /** Keeps one row per provider and mode: a later message replaces an earlier one. */
  note(message: ProviderMode & Pick<ProviderEvent, 'problem' | 'at'>): Promise<void>
  /** Orders made by `stuckBefore` that have not ended count as stuck. */
  health(asked: ProviderMode & { readonly stuckBefore: number }): Promise<CallbackHealth>
}

/** Selects a provider's payments and refunds that may appear in its bills of some days. */
export interface BookedFilter {
  readonly provider: PaymentProvider
  readonly mode: PaymentMode
  readonly since: number
  readonly until: number
}

export interface Booked {
  readonly payments: readonly {
    readonly transactionId: string
    readonly orderId: string
    readonly amountMinor: number
    readonly paidAt: number
  }[]
  readonly refunds: readonly Refund[]
}

export interface PaymentTable {
  /** The only way to credit a payment: once per payment, in the same transaction as its journal entries. */
  markPaid(
    orderId: string,
    paid: PaidTransaction,
    bonus: BonusGrant | null,
    at: number,
  ): Promise<PaidOutcome>
  /**
   * Stores a message once; at most 1,000 refused ones per hour and provider, of unverified ones 200 per day and their
   * beginning.
   */
  keepEvent(event: ProviderEvent): Promise<void>
  details(orderId: string): Promise<OrderDetails>
  /** null if the account has no wallet. */
  standing(account: string, mode: PaymentMode, spending: BonusSpending): Promise<Standing | null>
  /**
   * Removes the rest of expired bonuses from wallets. Where some of it is leased it removes nothing or, with `inPart`,
   * what is not leased.
   */
  expireBonuses(
    at: number,
    how: { readonly spending: BonusSpending; readonly inPart: boolean },
  ): Promise<{ readonly outcome: 'done' } | Leased>
  /** Payments made and refunds requested in that time. */
  booked(filter: BookedFilter): Promise<Booked>
}

export interface Refund {
  /** The refund's id, also at the provider. */
  readonly id: string
  readonly orderId: string
  readonly account: string
  readonly provider: PaymentProvider
  readonly transactionId: string
  readonly amountMinor: number
  readonly amountNano: Nano
  /** Amount of bonus taken back with it. */
  readonly clawbackNano: Nano
  /** `failed`: the provider refused it, and the money is back in the wallet. */
  readonly state: 'pending' | 'done' | 'failed'
  readonly actor: string
  readonly reason: string
  readonly failure: string | null
  readonly at: number
  readonly endedAt: number | null
}

/** The money would suffice if serving processes gave back what they lease of the accounts. */
export interface Leased {
  readonly outcome: 'leased'
  readonly accounts: readonly string[]
}

export type RefundBegun =
  | { readonly outcome: 'begun' | 'known'; readonly refund: Refund }
  /** More than is left of the payment, or than the account can give back. */
  | { readonly outcome: 'too_much'; readonly refundableNano: Nano }
  | Leased
  | { readonly outcome: 'not_paid' }
  /** The provider holds the money while the dispute is open. */
  | { readonly outcome: 'disputed' }

/** What a refund would take; nothing is changed. */
export type RefundPlanned =
  | { readonly outcome: 'planned'; readonly amountNano: Nano; readonly clawbackNano: Nano }
  | Exclude<RefundBegun, Leased | { readonly refund: Refund }>

export interface RefundTable {
  plan(
    asked: Pick<Refund, 'orderId' | 'amountMinor'>,
    spending: BonusSpending,
  ): Promise<RefundPlanned>
  /** Takes the money out of the wallet before the provider is asked; a repeated id returns the same refund. */
  begin(
    refund: Pick<Refund, 'id' | 'orderId' | 'amountMinor' | 'actor' | 'reason' | 'at'>,
    spending: BonusSpending,
  ): Promise<RefundBegun>
  /**
   * Records the provider's result; `failed` returns the money, except what a dispute lost meanwhile claims of it. False
   * if the refund had ended before.
   */
  end(
    id: string,
    how: 'done' | 'failed',
    failure: string | null,
    at: number,
    spending?: BonusSpending,
  ): Promise<boolean>
  /** Refunds requested before a time and not known to be done, oldest first; `after`: only later ones than this. */
  pending(place: {
    readonly before: number
    readonly after: Pick<Refund, 'at' | 'id'> | null
    readonly limit: number
  }): Promise<readonly Refund[]>
  /** Refunds completed since a time, newest first. */
  done(since: number, limit: number): Promise<readonly Refund[]>
}

/** A payment that the payer disputes with the bank, as the provider last reported it. */
export interface Dispute {
  /** The provider's id of the dispute. */
  readonly id: string
  /** The id of the disputed payment. */
  readonly transactionId: string
  readonly amountMinor: number
  /** The reason as the provider gives it. */
  readonly reason: string
  /** `lost`: the provider took the money from the operator for good. */
  readonly state: 'open' | 'won' | 'lost'
  /** For a lost dispute, the part that the account had already spent. */
  readonly lossNano: Nano
  readonly at: number
  readonly endedAt: number | null
}

export interface DisputeSeen extends Omit<Dispute, 'lossNano' | 'endedAt'> {
  readonly provider: PaymentProvider
  readonly mode: PaymentMode
}

/** `unknown_payment`: no such payment was credited here. `known`: the message adds nothing to the stored dispute. */
export type DisputeNoted =
  | { readonly outcome: 'noted' | 'known'; readonly orderId: string }
  | { readonly outcome: 'unknown_payment' }
  | Leased

export interface DisputeTable {
  /**
   * The order is `disputed` until its disputes are won. A lost amount is taken back like a refund, as far as the
   * account has it; the rest is written off.
   */
  note(seen: DisputeSeen, spending: BonusSpending): Promise<DisputeNoted>
}
