// Orders for credit: offer, create, check and cancel.

import { randomBytes } from 'node:crypto'
import type { PaymentSettings } from '../config/types.ts'
import { formatUnits } from '../money.ts'
import { minorText, nanoPerMinor, parseMinor } from '../payments/amount.ts'
import { bonusOf } from '../payments/bonus.ts'
import { bonusSpending } from '../payments/bonus-spending.ts'
import { type Payments, type PaymentsOptions, queryScheduleMs } from '../payments/payments.ts'
import {
  CallerRefused,
  callbackAddress,
  type Instructions,
  ProviderRefused,
  type StartDetails,
} from '../payments/provider.ts'
import { isOpen } from '../store/order-state.ts'
import type { OrderDetails, PaymentMode, PaymentOrder, Refund } from '../store/payment-tables.ts'
import { type Page, pageByTime, timePlace } from './page.ts'
import { refundableMinor } from './refund-amount.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

/** What orders need of the running process. */
export interface OrderDesk {
  readonly payments: Payments
  readonly settings: PaymentSettings
  readonly mode: PaymentMode
  /** This deployment's address for browsers and callbacks, without a slash at its end. */
  readonly address: string
  /** Receives what a provider says about the operator, which is not for customers. */
  readonly onProblem: PaymentsOptions['onProblem']
}

interface Owned {
  /** Where given, orders of other accounts are not found. */
  readonly owner: string | undefined
}

const minuteMs = 60_000
/** Open orders older than this should have ended. */
export const stuckAfterMs = 2 * minuteMs

/** The payment methods open to the account, and the credit and bonus it would get. */
export async function readOffer(
  { store, nowMs, currency }: AdminContext,
  { payments, settings, mode }: OrderDesk,
  { account, amount }: Input<'account'> & { readonly amount?: string | undefined },
) {
  const spending = bonusSpending(settings)
  const standing = await store.payments.standing(account, mode, spending)
  if (standing === null)
    throw new AdminError('not_found', 'account', `there is no account ${JSON.stringify(account)}`)
  const rule = standing.isFirst ? (settings.bonus?.firstTopUp ?? null) : null
  const rateOf = (given: string) => settings.rates?.[given] ?? '1'
  const offered = await payments.offered()
  const creditOf = (given: string, currencyOfIt: string) => {
    const creditNano = BigInt(parseMinor(given) ?? 0) * nanoPerMinor(rateOf(currencyOfIt))
    const bonusNano = bonusOf(rule, creditNano, nowMs)?.amountNano ?? 0n
    return { amount: given, creditNano: String(creditNano), bonusNano: String(bonusNano) }
  }
  return {
    account,
    currency: await currency(),
    mode,
    minimum: settings.minimum,
    maximum: settings.maximum,
    orderMinutes: settings.orderMinutes,
    providers: offered.map(({ name, provider }) => ({
      name,
      currency: provider.currency,
      methods: [...provider.methods],
      rate: rateOf(provider.currency),
      presets: settings.presets.map((each) => creditOf(each, provider.currency)),
      asked: amount === undefined ? null : creditOf(amount, provider.currency),
    })),
    bonus: rule && { ...rule, tiers: [...rule.tiers] },
    paidNano: String(standing.paidNano),
    bonusNano: String(standing.bonusNano),
    bonusExpiresAt: standing.bonusExpiresAt === null ? null : timeText(standing.bonusExpiresAt),
    refundableNano: String(standing.refundableNano),
  }
}

interface Ordering extends Visit {
  readonly account: string
  /** The caller's own account; null for a program that has none. */
  readonly self: string | null
}

/** The customer's visit, as the request tells it. */
interface Visit {
  /** This deployment's address as the customer's browser knows it, without a slash at its end. */
  readonly origin: string
  readonly clientAddress: string | null
  /** A hash that names the signed-in browser; null: the caller is a program. */
  readonly browser: string | null
}

/** Returns the same order for the same attempt. Throws AdminError naming the field. */
export async function createOrder(
  admin: AdminContext,
  desk: OrderDesk,
  input: Input<'createOrder'> & Ordering,
): Promise<OrderView> {
  const { provider, amountMinor, method } = await judged(desk, input)
  const { settings, mode } = desk
  const { store, nowMs, actor } = admin
  const rate = nanoPerMinor(settings.rates?.[provider.provider.currency] ?? '1')
  const creditNano = BigInt(amountMinor) * rate
  const standing = await store.payments.standing(input.account, mode, 'last')
  const rule = standing?.isFirst === true ? settings.bonus?.firstTopUp : null
  const order = await store.paymentOrders.create({
    id: `tg${nowMs.toString(36)}${randomBytes(10).toString('hex')}`,
    account: input.account,
    person: actor,
    provider: provider.name,
    mode,
    method,
    amountMinor,
    currency: provider.provider.currency,
    nanoPerMinor: rate,
    creditNano,
    bonusNano: bonusOf(rule, creditNano, nowMs)?.amountNano ?? 0n,
    attempt: input.attempt,
    createdAt: nowMs,
    expiresAt: nowMs + settings.orderMinutes * minuteMs,
    queryAt: nowMs + (queryScheduleMs[0] ?? minuteMs),
  })
  if (order.provider !== provider.name || order.amountMinor !== amountMinor)
    throw new AdminError('conflict', 'attempt', 'was used for another order')
  if (order.state !== 'created') return view(order)
  await show(desk, order, input)
  return showOrderView(admin, order.id)
}

/**
 * Continues an order with the code that the customer's browser brings back from the provider; returns the order's id.
 * Throws AdminError.
 */
export async function continueOrder(
  admin: AdminContext,
  desk: OrderDesk,
  input: Visit & Owned & { readonly returned: { readonly code: string; readonly state: string } },
): Promise<string> {
  const [id = ''] = input.returned.state.split('.')
  const order = await findOrder(admin, { id, owner: input.owner })
  if (isOpen(order.state)) await show(desk, order, input)
  return order.id
}

async function show(
  desk: OrderDesk,
  order: PaymentOrder,
  input: Visit & Pick<StartDetails, 'returned'>,
): Promise<void> {
  const { payments, mode, address } = desk
  const { origin, clientAddress, browser, returned } = input
  try {
    await payments.start(order, {
      returnUrl: `${mode === 'play' ? origin : address}/console/billing/top-up?order=${order.id}`,
      notifyUrl: callbackAddress(address, order.provider),
      subject: `Credit of ${minorText(order.amountMinor)} ${order.currency}`,
      clientAddress,
      browser,
      ...(returned !== undefined && { returned }),
    })
  } catch (error) {
    const isOfOrder = error instanceof ProviderRefused && !(error instanceof CallerRefused)
    if (!isOfOrder) throw unreachable(desk, order, error)
    throw new AdminError('conflict', 'provider', `refuses the order: ${error.message}`)
  }
}

async function judged(
  { payments, settings }: OrderDesk,
  input: Input<'createOrder'> & Pick<Ordering, 'account' | 'self'>,
) {
  const offered = await payments.offered()
  const provider = offered.find(({ name }) => name === input.provider)
  if (provider === undefined) {
    const names = offered.map(({ name }) => name).join(', ') || 'none is configured'
    throw new AdminError('invalid', 'provider', `is not offered; offered: ${names}`)
  }
  const { methods, automatic, currency } = provider.provider
  const method = input.method ?? methods[0] ?? ''
  if (!methods.includes(method) && method !== automatic?.agree)
    throw new AdminError('invalid', 'method', `expected one of ${methods.join(', ')}`)
  // Whoever pays leaves a card at the account's disposal, so nobody does it for somebody else.
  if (method === automatic?.agree && input.self !== input.account)
    throw new AdminError('invalid', 'account', 'must be your own to agree to automatic payments')
  const amountMinor = parseMinor(input.amount)
  const [least, most] = [settings.minimum, settings.maximum]
  if (amountMinor === null)
    throw new AdminError('invalid', 'amount', 'expected plain digits such as 12.50')
  if (amountMinor < (parseMinor(least) ?? 100))
    throw new AdminError('invalid', 'amount', `expected at least ${least} ${currency}`)
  if (amountMinor > (parseMinor(most) ?? 0))
    throw new AdminError('invalid', 'amount', `expected at most ${most} ${currency}`)
  return { provider, amountMinor, method }
}

function unreachable(
  { onProblem }: OrderDesk,
  { id, provider }: PaymentOrder,
  error: unknown,
): AdminError {
  onProblem(error, { provider, order: id })
  const message = `${provider} cannot be reached now`
  return new AdminError('conflict', 'provider', message, 'provider_unreachable')
}

export async function listOrders(
  { store, nowMs }: AdminContext,
  input: Input<'listOrders'>,
): Promise<Page<OrderView>> {
  const { account, provider, state, flagged, stuck, number, limit = 50, cursor } = input
  const before = timePlace(cursor)
  const orders = await store.paymentOrders.list({
    account,
    provider,
    state,
    flagged,
    stuckBefore: stuck === true ? nowMs - stuckAfterMs : undefined,
    number,
    before,
    limit: limit + 1,
  })
  return pageByTime(orders, limit, view)
}

/** Throws AdminError. */
export async function findOrder(
  { store }: AdminContext,
  { id, owner }: Input<'order'> & Owned,
): Promise<PaymentOrder> {
  const order = await store.paymentOrders.find(id)
  if (order !== null && (owner === undefined || order.account === owner)) return order
  throw new AdminError('not_found', 'id', `there is no order ${JSON.stringify(id)}`)
}

/** The order with its timeline, oldest first. */
export async function showOrder(admin: AdminContext, input: Input<'order'> & Owned) {
  const order = await findOrder(admin, input)
  const details = await admin.store.payments.details(order.id)
  return {
    ...view(order),
    refundable: minorText(refundableMinor(order, details)),
    payments: details.transactions.map(({ id, amountMinor, creditNano, outcome, at }) => ({
      id,
      amount: minorText(amountMinor),
      creditNano: String(creditNano),
      outcome,
      at: timeText(at),
    })),
    refunds: details.refunds.map((refund) => {
      const { actor: _, ...shown } = refundView(refund)
      return shown
    }),
    givenBonusNano: String(details.bonusNano ?? 0n),
    timeline: timelineOf(order, details),
  }
}

/** Asks the provider now. */
export async function checkOrder(
  admin: AdminContext,
  desk: OrderDesk,
  input: Input<'order'> & Owned,
): Promise<OrderView> {
  const order = await findOrder(admin, input)
  await desk.payments.check(order).catch((error: unknown) => {
    throw unreachable(desk, order, error)
  })
  return showOrderView(admin, order.id)
}

/** Ends the order; where it was paid meanwhile, it is credited. */
export async function cancelOrder(
  admin: AdminContext,
  desk: OrderDesk,
  input: Input<'order'> & Owned,
): Promise<OrderView> {
  const order = await findOrder(admin, input)
  if (!isOpen(order.state))
    throw new AdminError(
      'conflict',
      'id',
      `the order is ${order.state} and cannot be cancelled`,
      'order_closed',
    )
  await desk.payments.end(order, 'close').catch((error: unknown) => {
    throw unreachable(desk, order, error)
  })
  return showOrderView(admin, order.id)
}

type OrderView = ReturnType<typeof view>

async function showOrderView(admin: AdminContext, id: string): Promise<OrderView> {
  return view(await findOrder(admin, { id, owner: undefined }))
}

/** null: the customer has nothing to open. */
function shownOf(shown: Instructions | null) {
  if (shown === null || shown.kind === 'none') return null
  const { kind, url, bridge } = shown
  return { kind, url, ...(bridge !== undefined && { bridge }) }
}

function view(order: PaymentOrder) {
  const { instructions } = order
  const shown = instructions as Instructions | null
  return {
    id: order.id,
    account: order.account,
    provider: order.provider,
    mode: order.mode,
    method: order.method,
    amount: minorText(order.amountMinor),
    currency: order.currency,
    creditNano: String(order.creditNano),
    bonusNano: String(order.bonusNano),
    state: order.state,
    flag: order.flag,
    tradeNumber: order.transactionId,
    pay: isOpen(order.state) ? shownOf(shown) : null,
    createdAt: timeText(order.createdAt),
    expiresAt: timeText(order.expiresAt),
    creditedAt: timeText(order.creditedAt),
    endedAt: timeText(order.endedAt),
    revision: order.revision,
  }
}

export function refundView(refund: Refund) {
  const { id, state, reason, actor, at, endedAt, failure, amountMinor } = refund
  return {
    id,
    state,
    amount: minorText(amountMinor),
    amountNano: String(refund.amountNano),
    clawbackNano: String(refund.clawbackNano),
    reason,
    actor,
    at: timeText(at),
    endedAt: timeText(endedAt),
    failure,
  }
}

/** The order's timeline for people; of refused messages it shows only that they were refused. */
function timelineOf(order: PaymentOrder, details: OrderDetails) {
  const entries = [
    { at: order.createdAt, what: 'created', detail: null as string | null },
    ...(order.shownAt === null ? [] : [{ at: order.shownAt, what: 'shown', detail: null }]),
    ...(order.endedAt === null
      ? []
      : [
          {
            at: order.endedAt,
            what: order.endedAt < order.expiresAt ? 'closed' : 'expired',
            detail: null,
          },
        ]),
    ...details.events.map(({ at, problem }) => ({
      at,
      what: problem === null ? 'notified' : 'notification_refused',
      detail: problem,
    })),
    ...details.transactions.map(({ at, outcome, id }) => ({ at, what: outcome, detail: id })),
    ...details.disputes.flatMap(({ at, endedAt, state, reason, lossNano }) => [
      { at, what: 'disputed', detail: reason },
      ...(endedAt === null
        ? []
        : [
            {
              at: endedAt,
              what: `dispute_${state}`,
              detail: lossNano === 0n ? null : `${formatUnits(lossNano)} had been spent`,
            },
          ]),
    ]),
    ...details.refunds.flatMap(({ at, endedAt, state, amountMinor }) => [
      { at, what: 'refund_begun', detail: minorText(amountMinor) },
      ...(endedAt === null
        ? []
        : [{ at: endedAt, what: `refund_${state}`, detail: minorText(amountMinor) }]),
    ]),
  ]
  return entries
    .toSorted((one, other) => one.at - other.at)
    .map(({ at, ...entry }) => ({ at: timeText(at), ...entry }))
}

/** The part of the balance that is unspent bonus; decimal string of nano-units. */
export async function readBonus(
  { store }: AdminContext,
  settings: PaymentSettings,
  account: string,
): Promise<string> {
  const spending = bonusSpending(settings)
  const standing = await store.payments.standing(account, 'live', spending)
  return String(standing?.bonusNano ?? 0n)
}
