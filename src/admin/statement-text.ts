// A statement as a file: CSV, or a page to print, which shows names in any script.

import { formatUnits } from '../money.ts'
import { buyerRows } from './buyer.ts'
import { type Cell, csvLine } from './csv.ts'
import { type PageLanguage, printedPage, rowsOf, timesIn } from './printed-page.ts'
import type { StatementView } from './statements.ts'

const units = (nano: string) => formatUnits(BigInt(nano))

/** One line for each balance, entry and charge: the amounts add up to the closing balance. */
export function statementCsv(statement: StatementView): string {
  const { month, openingNano, closingNano, entries, charges, currency } = statement
  const line = (kind: string, nano: string, more: Readonly<Record<string, Cell>> = {}) =>
    csvLine([
      month,
      kind,
      ...['at', 'id', 'key', 'keyName', 'model', 'requests', 'reason'].map(
        (column) => more[column] ?? null,
      ),
      { units: units(nano) },
      currency,
    ])
  return [
    csvLine('month,kind,at,id,key,key_name,model,requests,reason,amount,currency'.split(',')),
    line('opening_balance', openingNano),
    ...entries.map(({ effectNano, code, ...entry }) => line(code, effectNano, entry)),
    ...charges.map(({ chargeNano, ...charge }) => line('usage', `-${chargeNano}`, charge)),
    line('closing_balance', closingNano),
  ].join('')
}

const labels = {
  en: {
    title: 'Statement',
    account: 'Account',
    period: 'Period',
    asOf: 'As of',
    open: 'The month is not over: this is what is known until now.',
    opening: 'Opening balance',
    entries: 'Credits and adjustments',
    charges: 'Requests',
    closing: 'Closing balance',
    time: 'Time',
    kind: 'Kind',
    reason: 'Reason',
    order: 'Order',
    key: 'Key',
    model: 'Model',
    requests: 'Requests',
    amount: 'Amount',
    total: 'Total',
    none: 'None',
    kinds: {
      opening: 'Opening credit',
      topup: 'Top-up',
      bonus: 'Bonus',
      adjust: 'Adjustment',
      refund: 'Refund',
      refund_undone: 'Refund taken back',
      clawback: 'Bonus taken back',
      clawback_undone: 'Bonus given again',
      expiry: 'Bonus expired',
      redeem: 'Redeemed code',
    },
  },
  'zh-CN': {
    title: '对账单',
    account: '账户',
    period: '账期',
    asOf: '截至',
    open: '本月尚未结束，以下为截至目前的数据。',
    opening: '期初余额',
    entries: '充值与调整',
    charges: '请求',
    closing: '期末余额',
    time: '时间',
    kind: '类型',
    reason: '说明',
    order: '订单',
    key: '密钥',
    model: '模型',
    requests: '请求数',
    amount: '金额',
    total: '合计',
    none: '无',
    kinds: {
      opening: '开户额度',
      topup: '充值',
      bonus: '赠送',
      adjust: '调整',
      refund: '退款',
      refund_undone: '退款撤回',
      clawback: '赠送收回',
      clawback_undone: '赠送恢复',
      expiry: '赠送过期',
      redeem: '兑换码',
    },
  },
} as const

/** For a browser to print, also as PDF. */
export function statementPage(
  statement: StatementView,
  language: PageLanguage,
  escape: (text: string) => string,
): string {
  const says = labels[language]
  const { account, name, month, timeZone, currency } = statement
  const { row, table } = rowsOf(says, escape)
  const time = timesIn(timeZone)
  const kinds = new Map<string, string>(Object.entries(says.kinds))
  const amount = `${says.amount} (${currency})`
  const facts = [
    [says.account, name === '' ? account : `${name} (${account})`],
    ...buyerRows(statement.buyer, language),
    [says.period, `${month} (${timeZone})`],
    [says.asOf, `${time(statement.asOf)} (${timeZone})`],
  ]
  const balance = (label: string, nano: string) =>
    `<table class="balance"><tbody>${row([label, `${units(nano)} ${currency}`])}</tbody></table>`
  const entries = statement.entries.map((each) => [
    time(each.at),
    kinds.get(each.code) ?? each.code,
    // The journal names an order in English.
    (each.reason ?? '').replace(/^order (?=\w+$)/, `${says.order} `),
    units(each.effectNano),
  ])
  const charges = statement.charges.map((each) => [
    each.keyName ?? each.key,
    each.model,
    String(each.requests),
    units(`-${each.chargeNano}`),
  ])
  const body = `<table><tbody>${facts.map((cells) => row(cells, 'td', 0)).join('')}</tbody></table>
${statement.open ? `<p>${escape(says.open)}</p>` : ''}
<h2>${escape(says.opening)}</h2>${balance(says.opening, statement.openingNano)}
<h2>${escape(says.entries)}</h2>${table([`${says.time} (${timeZone})`, says.kind, says.reason, amount], entries, units(statement.entriesNano))}
<h2>${escape(says.charges)}</h2>${table([says.key, says.model, says.requests, amount], charges, units(negative(statement.chargesNano)), 2)}
<h2>${escape(says.closing)}</h2>${balance(says.closing, statement.closingNano)}`
  const heading = `${says.title} ${month}`
  return printedPage({ language, title: `${heading} ${account}`, heading, body }, escape)
}

function negative(nano: string): string {
  return String(-BigInt(nano))
}
