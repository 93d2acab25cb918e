// A statement as a file: CSV, and a page to print, in which names in any script stay as they are.

import { hash } from 'node:crypto'
import { formatUnits } from '../money.ts'
import { type Cell, csvLine } from './csv.ts'
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
    time: 'Time (UTC)',
    kind: 'Kind',
    reason: 'Reason',
    key: 'Key',
    model: 'Model',
    requests: 'Requests',
    amount: 'Amount',
    total: 'Total',
    none: 'None',
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
    time: '时间（UTC）',
    kind: '类型',
    reason: '说明',
    key: '密钥',
    model: '模型',
    requests: '请求数',
    amount: '金额',
    total: '合计',
    none: '无',
  },
} as const

type StatementLanguage = keyof typeof labels

const style = `@page { size: A4; margin: 18mm }
body { font: 10pt/1.5 system-ui, "Noto Sans SC", "PingFang SC", "Microsoft YaHei", sans-serif; color: #111; max-width: 174mm; margin: 8mm auto }
h1 { font-size: 18pt; margin: 0 0 4mm }
h2 { font-size: 11pt; margin: 8mm 0 2mm }
table { width: 100%; border-collapse: collapse }
th, td { text-align: left; padding: 1mm 2mm 1mm 0; border-bottom: 1px solid #ddd; overflow-wrap: anywhere; vertical-align: top }
thead { display: table-header-group }
tr { break-inside: avoid }
.amount { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; padding-right: 0 }
tfoot td, .balance td { font-weight: 600 }
@media print { body { margin: 0; max-width: none } }`

/** What the page may load: nothing but its own style. It may be shown within a page of the gateway's own. */
export const statementPolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`

/** For a browser to print, also as PDF. */
export function statementPage(
  statement: StatementView,
  language: StatementLanguage,
  escape: (text: string) => string,
): string {
  const says = labels[language]
  const { account, name, month, timeZone, currency } = statement
  const row = (cells: readonly string[], tag = 'td') =>
    `<tr>${cells
      .map(
        (cell, at) =>
          `<${tag}${at === cells.length - 1 ? ' class="amount"' : ''}>${escape(cell)}</${tag}>`,
      )
      .join('')}</tr>`
  const table = (head: readonly string[], rows: readonly (readonly string[])[], total: string) =>
    rows.length === 0
      ? `<p>${escape(says.none)}</p>`
      : `<table><thead>${row(head, 'th')}</thead><tbody>${rows.map((cells) => row(cells)).join('')}</tbody><tfoot>${row(
          [says.total, ...head.slice(2).map(() => ''), total],
        )}</tfoot></table>`
  const amount = `${says.amount} (${currency})`
  const facts = [
    [says.account, name === '' ? account : `${name} (${account})`],
    [says.period, `${month} (${timeZone})`],
    [says.asOf, statement.asOf ?? ''],
  ]
  const balance = (label: string, nano: string) =>
    `<table class="balance"><tbody>${row([label, `${units(nano)} ${currency}`])}</tbody></table>`
  const entries = statement.entries.map((each) => [
    each.at ?? '',
    each.code,
    each.reason ?? '',
    units(each.effectNano),
  ])
  const charges = statement.charges.map((each) => [
    each.keyName ?? each.key,
    each.model,
    String(each.requests),
    units(`-${each.chargeNano}`),
  ])
  return `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(`${says.title} ${month} ${account}`)}</title><style>${style}</style></head>
<body><h1>${escape(says.title)} ${month}</h1>
<table><tbody>${facts.map((cells) => row(cells)).join('')}</tbody></table>
${statement.open ? `<p>${escape(says.open)}</p>` : ''}
<h2>${escape(says.opening)}</h2>${balance(says.opening, statement.openingNano)}
<h2>${escape(says.entries)}</h2>${table([says.time, says.kind, says.reason, amount], entries, units(statement.entriesNano))}
<h2>${escape(says.charges)}</h2>${table([says.key, says.model, says.requests, amount], charges, units(negative(statement.chargesNano)))}
<h2>${escape(says.closing)}</h2>${balance(says.closing, statement.closingNano)}
</body></html>
`
}

function negative(nano: string): string {
  return String(-BigInt(nano))
}
