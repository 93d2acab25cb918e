// The receipt of a credited order: payments, credit and refunds, as JSON and as a page to print.

import { formatUnits } from '../money.ts'
import { buyerOf, buyerRows } from './buyer.ts'
import { type OrderDesk, showOrder } from './orders.ts'
import { type PageLanguage, printedPage, rowsOf, timesIn } from './printed-page.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

type ReceiptView = Awaited<ReturnType<typeof readOrderReceipt>>

/** Throws AdminError `not_found`, and `conflict` where nothing was paid. */
export async function readOrderReceipt(
  admin: AdminContext,
  { settings }: Pick<OrderDesk, 'settings'>,
  input: { readonly id: string; readonly owner: string | undefined },
) {
  const order = await showOrder(admin, input)
  const { id, account, provider, mode, state, createdAt, payments } = order
  if (payments.length === 0)
    throw new AdminError('conflict', 'id', `the order is ${state}: nothing of it was paid`)
  const person = await admin.store.people.find(account)
  const refunds = order.refunds.filter((each) => each.state !== 'failed')
  const sum = (amounts: readonly string[]) =>
    amounts.reduce((total, amount) => total + BigInt(amount), 0n)
  const creditNano = sum(payments.map((each) => each.creditNano))
  return {
    number: id,
    issuer: settings.issuer,
    account,
    name: person?.name ?? '',
    buyer: await buyerOf(admin, account),
    provider,
    mode,
    state,
    createdAt,
    asOf: timeText(admin.nowMs),
    currency: order.currency,
    payments,
    paid: minorSum(payments.map((each) => each.amount)),
    refunds,
    refunded: minorSum(refunds.map((each) => each.amount)),
    creditCurrency: await admin.currency(),
    creditNano: String(creditNano),
    bonusNano: order.givenBonusNano,
    takenNano: String(
      sum(refunds.flatMap(({ amountNano, clawbackNano }) => [amountNano, clawbackNano])),
    ),
  }
}

/** Sums amounts such as 12.50. */
function minorSum(amounts: readonly string[]): string {
  const minor = amounts.reduce((total, amount) => total + BigInt(amount.replace('.', '')), 0n)
  return `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`
}

const labels = {
  en: {
    title: 'Receipt',
    play: 'Play money: no real money was paid.',
    issuer: 'Issued by',
    number: 'Number',
    account: 'Account',
    ordered: 'Ordered (UTC)',
    asOf: 'As of (UTC)',
    provider: 'Paid by',
    payments: 'Payments',
    credit: 'Credit',
    bought: 'Bought',
    bonus: 'Bonus',
    taken: 'Taken back by refunds',
    refunds: 'Refunds',
    time: 'Time (UTC)',
    trade: 'Trade number',
    refund: 'Refund number',
    pending: 'not confirmed yet',
    amount: 'Amount',
    total: 'Total',
    none: 'None',
    alipay: 'Alipay',
    wechatpay: 'WeChat Pay',
    stripe: 'Card (Stripe)',
  },
  'zh-CN': {
    title: '收据',
    play: '模拟资金：未支付真实货币。',
    issuer: '开具方',
    number: '编号',
    account: '账户',
    ordered: '下单时间（UTC）',
    asOf: '截至（UTC）',
    provider: '支付方式',
    payments: '付款',
    credit: '入账额度',
    bought: '购买',
    bonus: '赠送',
    taken: '因退款收回',
    refunds: '退款',
    time: '时间（UTC）',
    trade: '交易号',
    refund: '退款号',
    pending: '尚未确认',
    amount: '金额',
    total: '合计',
    none: '无',
    alipay: '支付宝',
    wechatpay: '微信支付',
    stripe: '银行卡 (Stripe)',
  },
} as const

/** For a browser to print, also as PDF. */
export function orderReceiptPage(
  receipt: ReceiptView,
  language: PageLanguage,
  escape: (text: string) => string,
): string {
  const says = labels[language]
  const { row, table } = rowsOf(says, escape)
  const time = timesIn('UTC')
  const { number, issuer, account, name, currency, creditCurrency } = receipt
  const facts = [
    ...(issuer === null ? [] : [[says.issuer, issuer]]),
    [says.number, number],
    [says.account, name === '' ? account : `${name} (${account})`],
    ...buyerRows(receipt.buyer, language),
    [says.provider, says[receipt.provider]],
    [says.ordered, time(receipt.createdAt)],
    [says.asOf, time(receipt.asOf)],
  ]
  const amount = `${says.amount} (${currency})`
  const payments = receipt.payments.map((each) => [time(each.at), each.id, each.amount])
  const refunds = receipt.refunds.map((each) => [
    time(each.at),
    each.state === 'pending' ? `${each.id} (${says.pending})` : each.id,
    `-${each.amount}`,
  ])
  const units = (nano: string) => formatUnits(BigInt(nano))
  const credit = [
    [says.bought, '', units(receipt.creditNano)],
    ...(receipt.bonusNano === '0' ? [] : [[says.bonus, '', units(receipt.bonusNano)]]),
    ...(receipt.takenNano === '0' ? [] : [[says.taken, '', units(`-${receipt.takenNano}`)]]),
  ]
  const left = String(
    BigInt(receipt.creditNano) + BigInt(receipt.bonusNano) - BigInt(receipt.takenNano),
  )
  const body = `<table><tbody>${facts.map((cells) => row(cells, 'td', 0)).join('')}</tbody></table>
${receipt.mode === 'play' ? `<p>${escape(says.play)}</p>` : ''}
<h2>${escape(says.payments)}</h2>${table([says.time, says.trade, amount], payments, receipt.paid)}
<h2>${escape(says.refunds)}</h2>${table([says.time, says.refund, amount], refunds, `-${receipt.refunded}`)}
<h2>${escape(says.credit)}</h2>${table([says.credit, '', `${says.amount} (${creditCurrency})`], credit, units(left))}`
  return printedPage(
    { language, title: `${says.title} ${number}`, heading: says.title, body },
    escape,
  )
}
