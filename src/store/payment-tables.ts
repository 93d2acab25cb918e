// Payments as they are kept: orders, what was paid, what providers sent, bonuses and refunds; the contract both engines pass.

import type { Nano } from '../money.ts'
import type { OrderState } from './order-state.ts'

export type PaymentProvider = 'alipay' | 'wechatpay' | 'stripe'
/** Play: of the simulator, apart from all real money. */
export type PaymentMode = 'play' | 'live'

/** Times in Unix milliseconds; `minor`: in the smallest unit of the provider's currency. */
export interface PaymentOrder {
  /** What the provider knows it by. */
  readonly id: string
  readonly account: string
  /** Who ordered, as the journal names people. */
  readonly person: string
  readonly provider: PaymentProvider
  readonly mode: PaymentMode
  /** How it is paid there: `page`, `wap`, `qr`, ... */
  readonly method: string
  readonly amountMinor: number
  readonly currency: string
  /** The rate at the time of the order: nano-units of the deployment's currency. */
  readonly nanoPerMinor: Nano
  readonly creditNano: Nano
  /** Offered with it, where nobody has had it before. */
  readonly bonusNano: Nano
  readonly state: OrderState
  /** What an operator should look at: `late`, `second`, `partial`, `over`, `disputed`. */
  readonly flag: string | null
  /** The provider's own number of what was paid first; null: nothing was. */
  readonly transactionId: string | null
  readonly attempt: string
  /** What the customer pays by, as the provider's file wrote it. */
  readonly instructions: unknown
  readonly createdAt: number
  readonly expiresAt: number
  readonly shownAt: number | null
  readonly creditedAt: number | null
  readonly endedAt: number | null
  /** When its provider is asked next; null: no more. */
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
  /** Only those an operator should look at. */
  readonly flagged?: boolean | undefined
  readonly method?: string | undefined
  /** Only those that were credited. */
  readonly paid?: boolean | undefined
  /** Only those that have not ended, made until then. */
  readonly stuckBefore?: number | undefined
  /** The order's own, or the provider's of what was paid. */
  readonly number?: string | undefined
  /** Only older ones than this. */
  readonly before?: { readonly at: number; readonly id: string } | undefined
  readonly limit: number
}

export interface PaymentOrderTable {
  /** The order as it is kept: the one made first where the account has used the attempt before. */
  create(order: NewOrder): Promise<PaymentOrder>
  find(id: string): Promise<PaymentOrder | null>
  /** Newest first. */
  list(filter: OrderFilter): Promise<readonly PaymentOrder[]>
  /** False where it is no more open. */
  show(id: string, instructions: unknown, at: number): Promise<boolean>
  /** False where it is no more open: paid, say. */
  end(id: string, how: 'expire' | 'close', at: number): Promise<boolean>
  /**
   * Orders to ask their providers about, each given to one caller: its next time is that of `scheduleMs` after its
   * creation which lies ahead, or never again.
   */
  takeDue(
    at: number,
    scheduleMs: readonly number[],
    limit: number,
  ): Promise<readonly PaymentOrder[]>
  /** Credited since then, after they had ended; the newest first. */
  late(since: number, limit: number): Promise<readonly PaymentOrder[]>
}

/** What a provider says was paid, judged to be the provider's word. */
export interface PaidTransaction {
  readonly provider: PaymentProvider
  readonly mode: PaymentMode
  /** The provider's own id of it. */
  readonly id: string
  readonly amountMinor: number
  readonly currency: string
  /** Of whoever paid; null: the provider does not say. */
  readonly payerHash: string | null
  readonly paidAt: number
}

export interface BonusGrant {
  readonly amountNano: Nano
  readonly expiresAt: number | null
}

/**
 * `late`: after the order had ended. `second`: another payment of it. `partial`, `over`: less or more than was ordered;
 * what was paid is credited. All of these are flagged. `unknown_order`: no order of ours, or of another provider, mode or
 * currency: nothing has changed, so that its own order may still be credited. `known`: came before; nothing has changed.
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
  /** The provider's own id of the message. */
  readonly eventId: string | null
  readonly orderId: string | null
  /** As it came. */
  readonly raw: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  /** Why it was refused; null: it was not. */
  readonly problem: string | null
  readonly at: number
}

/** What became of an order, oldest first. */
export interface OrderDetails {
  readonly transactions: readonly KeptTransaction[]
  readonly events: readonly Pick<ProviderEvent, 'eventId' | 'problem' | 'at'>[]
  readonly refunds: readonly Refund[]
  readonly disputes: readonly Dispute[]
  /** What its first payment was given on top; null: nothing. */
  readonly bonusNano: Nano | null
}

/** Which of a wallet's money is spent first where some of it is a bonus. */
export type BonusSpending = 'first' | 'last'

/** What of a wallet was paid and what was given. */
export interface Standing {
  readonly paidNano: Nano
  readonly refundedNano: Nano
  /** Of the balance, what is a bonus. */
  readonly bonusNano: Nano
  /** The first moment at which some of it expires. */
  readonly bonusExpiresAt: number | null
  /** min(paid - refunded, balance - bonus), at least 0. */
  readonly refundableNano: Nano
  /** Whether it could still have a first bonus. */
  readonly isFirst: boolean
}

/** Of one provider. */
export interface CallbackHealth {
  /** When messages were last taken and refused, to a few seconds; why the latter. */
  readonly takenAt: number | null
  readonly refusedAt: number | null
  readonly problem: string | null
  /** When an order was last credited, however that was found. */
  readonly creditedAt: number | null
  /** Orders that have not ended. */
  readonly open: number
  /** Of these, the old ones. */
  readonly stuck: number
}

type ProviderMode = Pick<PaymentOrder, 'provider' | 'mode'>

export interface CallbackTable {
  /** One row a provider: a later message takes the place of an earlier one. */
  note(message: ProviderMode & Pick<ProviderEvent, 'problem' | 'at'>): Promise<void>
  /** `stuckBefore`: orders made until then that have not ended are stuck. */
  health(asked: ProviderMode & { readonly stuckBefore: number }): Promise<CallbackHealth>
}

/** Of a provider's payments and refunds, what may stand in its bill of some days. */
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
  /** The only way money is credited: once for each transaction, in the transaction of the journal's entries. */
  markPaid(
    orderId: string,
    paid: PaidTransaction,
    bonus: BonusGrant | null,
    at: number,
  ): Promise<PaidOutcome>
  /** Keeps the message once; of refused ones at most 1,000 an hour and provider. */
  keepEvent(event: ProviderEvent): Promise<void>
  details(orderId: string): Promise<OrderDetails>
  /** null where the account has no wallet. */
  standing(account: string, mode: PaymentMode, spending: BonusSpending): Promise<Standing | null>
  /** Takes what is left of expired bonuses out of the wallets, as far as it is free; returns how many ended. */
  expireBonuses(at: number, spending: BonusSpending): Promise<number>
  /** Payments that were made, and refunds that were asked for, in that time. */
  booked(filter: BookedFilter): Promise<Booked>
}

export interface Refund {
  /** What the provider knows it by. */
  readonly id: string
  readonly orderId: string
  readonly account: string
  readonly provider: PaymentProvider
  readonly transactionId: string
  readonly amountMinor: number
  readonly amountNano: Nano
  /** Of the bonus, taken back with it. */
  readonly clawbackNano: Nano
  /** `failed`: the provider refused it; the money is in the wallet again. */
  readonly state: 'pending' | 'done' | 'failed'
  readonly actor: string
  readonly reason: string
  readonly failure: string | null
  readonly at: number
  readonly endedAt: number | null
}

/** It would be there if serving processes gave back what they lease of the account's money. */
export interface Leased {
  readonly outcome: 'leased'
  readonly account: string
}

export type RefundBegun =
  | { readonly outcome: 'begun' | 'known'; readonly refund: Refund }
  /** What is left of the payment, or what the account has to give back, is less. */
  | { readonly outcome: 'too_much'; readonly refundableNano: Nano }
  | Leased
  | { readonly outcome: 'not_paid' }
  /** Its provider holds the money until the dispute has ended. */
  | { readonly outcome: 'disputed' }

/** What a refund would take; it is not begun. */
export type RefundPlanned =
  | { readonly outcome: 'planned'; readonly amountNano: Nano; readonly clawbackNano: Nano }
  | Exclude<RefundBegun, Leased | { readonly refund: Refund }>

export interface RefundTable {
  plan(
    asked: Pick<Refund, 'orderId' | 'amountMinor'>,
    spending: BonusSpending,
  ): Promise<RefundPlanned>
  /** Takes the money out of the wallet before the provider is asked: the same id is one refund. */
  begin(
    refund: Pick<Refund, 'id' | 'orderId' | 'amountMinor' | 'actor' | 'reason' | 'at'>,
    spending: BonusSpending,
  ): Promise<RefundBegun>
  /** What the provider did; `failed` gives the money back. False where it has ended before. */
  end(id: string, how: 'done' | 'failed', failure: string | null, at: number): Promise<boolean>
  /** Asked for and not known to be done, the oldest first. */
  pending(before: number, limit: number): Promise<readonly Refund[]>
  /** Paid back since then; the newest first. */
  done(since: number, limit: number): Promise<readonly Refund[]>
}

/** What a payer disputes with the bank, as its provider told of it last. */
export interface Dispute {
  /** The provider's own. */
  readonly id: string
  /** The payment's. */
  readonly transactionId: string
  readonly amountMinor: number
  /** In the provider's words. */
  readonly reason: string
  /** `lost`: the provider took the money from the operator for good. */
  readonly state: 'open' | 'won' | 'lost'
  /** Of a lost one, what its account had spent. */
  readonly lossNano: Nano
  readonly at: number
  readonly endedAt: number | null
}

export interface DisputeSeen extends Omit<Dispute, 'lossNano' | 'endedAt'> {
  readonly provider: PaymentProvider
  readonly mode: PaymentMode
}

/** `unknown_payment`: it is about no payment that was credited here. `known`: it had ended before. */
export type DisputeNoted =
  | { readonly outcome: 'noted' | 'known'; readonly orderId: string }
  | { readonly outcome: 'unknown_payment' }
  | Leased

export interface DisputeTable {
  /**
   * The order is `disputed` until its disputes are won. What is lost is taken back as far as the account has it, as a
   * refund would be; what it has spent is written off.
   */
  note(seen: DisputeSeen, spending: BonusSpending): Promise<DisputeNoted>
}
