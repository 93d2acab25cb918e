// Automatic top-up: an account's rule, and the orders made by it.

import { minorText, nanoPerMinor, parseMinor } from '../payments/amount.ts'
import type { Provider } from '../payments/provider.ts'
import type { AutoTopUp } from '../store/auto-top-up.ts'
import type { PaymentOrder, PaymentProvider } from '../store/payment-tables.ts'
import type { OrderDesk } from './orders.ts'
import type { Input } from './schema.ts'
import { type AdminContext, AdminError } from './use-case.ts'

interface Automatic {
  readonly name: PaymentProvider
  readonly currency: string
  readonly methods: NonNullable<Provider['automatic']>
}

/** null: no configured provider supports automatic payments. */
export async function automaticOf({ payments }: OrderDesk): Promise<Automatic | null> {
  for (const { name, provider } of await payments.offered())
    if (provider.automatic !== null)
      return { name, currency: provider.currency, methods: provider.automatic }
  return null
}

/** First moment of the calendar month, in UTC. */
export function monthStart(nowMs: number): number {
  const now = new Date(nowMs)
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
}

/** What the deployment offers the account, the payer's agreement, and the account's rule. */
export async function readAutoTopUp(
  { store, nowMs, currency }: AdminContext,
  desk: OrderDesk,
  { account }: Input<'account'>,
) {
  const automatic = await automaticOf(desk)
  const rule = await store.autoTopUps.find(account)
  const agreed = automatic && (await agreementOf(store, desk, { account, automatic }))
  const spent = await store.autoTopUps.ordered(account, monthStart(nowMs))
  return {
    account,
    provider: automatic?.name ?? null,
    agreeMethod: automatic?.methods.agree ?? null,
    isAgreed: agreed !== null,
    currency: await currency(),
    providerCurrency: automatic?.currency ?? null,
    state:
      rule === null
        ? ('off' as const)
        : rule.problem === null
          ? ('on' as const)
          : ('stopped' as const),
    problem: rule?.problem ?? null,
    thresholdNano: rule === null ? null : String(rule.thresholdNano),
    amount: rule === null ? null : minorText(rule.amountMinor),
    monthMost: rule === null ? null : minorText(rule.monthMinor),
    monthSpent: minorText(spent),
    revision: rule?.revision ?? 0,
  }
}

interface Agreeing {
  readonly account: string
  readonly automatic: Automatic
}

/** The latest order with which the account's payer agreed to automatic payments, in the current currency and mode. */
async function agreementOf(
  { paymentOrders }: AdminContext['store'],
  { mode }: OrderDesk,
  { account, automatic }: Agreeing,
): Promise<PaymentOrder | null> {
  const method = automatic.methods.agree
  const [order] = await paymentOrders.list({ account, method, paid: true, limit: 1 })
  const isGood =
    order?.mode === mode && order.currency === automatic.currency && order.state !== 'disputed'
  return order !== undefined && isGood ? order : null
}

/** Turns automatic top-up on, or changes its rule. Throws AdminError naming the field. */
export async function setAutoTopUp(
  admin: AdminContext,
  desk: OrderDesk,
  { account, revision, ...given }: Input<'setAutoTopUp'> & Input<'account'> & Revised,
) {
  const { settings, mode } = desk
  const automatic = await automaticOf(desk)
  if (automatic === null)
    throw new AdminError(
      'conflict',
      'account',
      'no payment provider of this deployment supports automatic payments',
    )
  const agreed = await agreementOf(admin.store, desk, { account, automatic })
  if (agreed === null)
    throw new AdminError(
      'conflict',
      'account',
      `the payer has not agreed to automatic payments: pay an order with the method ${automatic.methods.agree} first`,
    )
  const amountMinor = parseMinor(given.amount) ?? 0
  const monthMinor = parseMinor(given.monthMost) ?? 0
  const [least, most] = [settings.minimum, settings.maximum]
  if (amountMinor < (parseMinor(least) ?? 100) || amountMinor > (parseMinor(most) ?? 0))
    throw new AdminError('invalid', 'amount', `expected ${least} to ${most} ${automatic.currency}`)
  if (monthMinor < amountMinor)
    throw new AdminError('invalid', 'monthMost', 'expected at least the amount of one top-up')
  const before = await admin.store.autoTopUps.find(account)
  const known = before?.revision ?? 0
  const rule = { account, mode, agreement: agreed.id, amountMinor, monthMinor }
  const isPut =
    (revision ?? known) === known &&
    (await admin.store.autoTopUps.put({
      ...rule,
      thresholdNano: given.thresholdNano,
      revision: known,
    }))
  if (!isPut) throw new AdminError('stale', 'revision', 'the rule was changed since it was read')
  return readAutoTopUp(admin, desk, { account })
}

interface Revised {
  readonly revision?: number | undefined
}

/** An order that is under way may still be paid. The agreement remains valid, for turning it on again. */
export async function removeAutoTopUp(
  { store }: AdminContext,
  { account }: Input<'account'>,
): Promise<void> {
  if (!(await store.autoTopUps.remove(account)))
    throw new AdminError('not_found', 'account', 'has no automatic top-up')
}

/** The order for a rule's crossing; it is the same order for the same id. */
export function automaticOrder(
  { settings, mode }: OrderDesk,
  { name, currency, methods }: Automatic,
  { rule, id, nowMs }: { readonly rule: AutoTopUp; readonly id: string; readonly nowMs: number },
) {
  const rate = nanoPerMinor(settings.rates?.[currency] ?? '1')
  return {
    id,
    account: rule.account,
    person: 'automatic top-up',
    provider: name,
    mode,
    method: methods.pay,
    amountMinor: rule.amountMinor,
    currency,
    nanoPerMinor: rate,
    creditNano: BigInt(rule.amountMinor) * rate,
    // The bonus is for first payments, and the payer has paid before.
    bonusNano: 0n,
    attempt: id,
    createdAt: nowMs,
    expiresAt: nowMs + settings.orderMinutes * 60_000,
    queryAt: nowMs + 60_000,
  }
}
