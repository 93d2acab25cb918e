// Tops up accounts whose balance is below their rule. A process may end at any step: the next run, in any process,
// continues from there.

import { randomBytes } from 'node:crypto'
import { formatUnits } from '../money.ts'
import { minorText } from '../payments/amount.ts'
import { CallerRefused, ProviderRefused } from '../payments/provider.ts'
import type { AutoTopUp } from '../store/auto-top-up.ts'
import { isOpen } from '../store/order-state.ts'
import type { PaymentOrder } from '../store/payment-tables.ts'
import { rulesOf, tell } from './alert-rules.ts'
import { automaticOf, automaticOrder, monthStart } from './auto-top-up.ts'
import { plain } from './notice.ts'
import type { OrderDesk } from './orders.ts'
import type { AdminContext } from './use-case.ts'

/** How long no other process takes the rule. This alone does not stop two processes from paying; `begin` does. */
const turnMs = 50_000
const mostAtOnce = 20

type Problem = (error: unknown, account: string) => void

/** `onProblem`: one account's top-up failed; the next run tries it again. */
export async function topUpAccounts(
  admin: AdminContext,
  desk: OrderDesk,
  onProblem: Problem,
): Promise<void> {
  const { store, nowMs } = admin
  const rules = await store.autoTopUps.take(nowMs, nowMs + turnMs, mostAtOnce)
  for (const rule of rules) {
    if (rule.mode !== desk.mode) continue
    await topUp(admin, desk, rule).catch((error: unknown) => onProblem(error, rule.account))
  }
}

async function topUp(admin: AdminContext, desk: OrderDesk, rule: AutoTopUp): Promise<void> {
  const { store, nowMs } = admin
  const id = rule.orderId ?? `tg${nowMs.toString(36)}${randomBytes(10).toString('hex')}`
  const isNew = rule.orderId === null
  if (isNew && !(await store.autoTopUps.begin(rule, id, monthStart(nowMs)))) return
  const automatic = await automaticOf(desk)
  if (automatic === null) return
  const asked = automaticOrder(desk, automatic, { rule, id, nowMs })
  const order = (await store.paymentOrders.find(id)) ?? (await store.paymentOrders.create(asked))
  try {
    if (isOpen(order.state)) await pay(admin, desk, { rule, order })
  } catch (error) {
    if (!(error instanceof ProviderRefused) || error instanceof CallerRefused) throw error
    // Another process, for one, may have paid it: the provider's own answer decides.
    await desk.payments.check((await store.paymentOrders.find(id)) ?? order)
    await stop(admin, desk, { rule, order }, error.message)
  }
  const kept = await store.paymentOrders.find(id)
  if (kept !== null && !isOpen(kept.state)) await store.autoTopUps.finish(id, null)
}

interface Crossing {
  readonly rule: AutoTopUp
  readonly order: PaymentOrder
}

/** Creates the order at the provider, stores it, pays it and credits it: each step where it is not done yet. */
async function pay(
  { store }: AdminContext,
  { payments, address }: OrderDesk,
  { rule, order }: Crossing,
): Promise<void> {
  const agreement = await store.paymentOrders.find(rule.agreement)
  if (agreement === null || agreement.state === 'disputed')
    throw new ProviderRefused('the payment by which it was agreed to is disputed')
  // The rule's amounts are in that currency.
  if (agreement.currency !== order.currency)
    throw new ProviderRefused(`it was agreed to in ${agreement.currency}, not ${order.currency}`)
  const details = {
    returnUrl: address,
    notifyUrl: `${address}/api/payments/${order.provider}/notify`,
    subject: `Automatic credit of ${minorText(order.amountMinor)} ${order.currency}`,
    clientAddress: null,
    agreement,
  }
  if (order.state === 'created') await payments.start(order, details)
  const made = await store.paymentOrders.find(order.id)
  if (made?.state === 'shown') await payments.start(made, details)
  if (made !== null) await payments.check((await store.paymentOrders.find(order.id)) ?? made)
}

/** Turns automatic top-up off until the account's payer turns it on again, and writes a notice. */
async function stop(
  admin: AdminContext,
  { payments }: OrderDesk,
  { rule: { account }, order }: Crossing,
  why: string,
): Promise<void> {
  const { store } = admin
  const kept = await store.paymentOrders.find(order.id)
  if (kept === null || !isOpen(kept.state)) return
  const currency = await admin.currency()
  const text = `The automatic top-up of ${formatUnits(order.creditNano)} ${currency} was not paid (${why}) and is off now.`
  const facts = {
    ...plain,
    rule: 'top_up_stopped' as const,
    currency,
    text,
    valueNano: String(order.creditNano),
    orderId: order.id,
  }
  // In this order, since each step may be the last: the notice is written once only, a rule not marked as finished is
  // tried again, and the unpaid order is ended last.
  await tell(
    admin,
    { account, subject: order.id, facts },
    rulesOf(await store.alerts.setting(account)),
  )
  await store.autoTopUps.finish(order.id, why)
  await payments.end(kept, 'close')
}
