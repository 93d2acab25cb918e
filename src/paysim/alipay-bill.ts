// Alipay's daily bill of trades: its download URL, and the archive with its two files.
import { type AlipayCall, businessFault, type Fields, textOf } from './alipay-call.ts'
import { atOf, type BillRow, billRows, finishedDay } from './bill-rows.ts'
import type { InterfaceFlaws } from './misbehaviour.ts'
import { chinaTime, decimalOf, type Incoming, payerId, type Simulation } from './simulation.ts'
import { sumMinor } from './state.ts'
import { gbk, zip } from './zip.ts'

const path = '/alipay/bill.zip'
const columns =
  '支付宝交易号,商户订单号,业务类型,商品名称,创建时间,完成时间,门店编号,门店名称,操作员,终端号,对方账户,订单金额（元）,商家实收（元）,支付宝红包（元）,集分宝（元）,支付宝优惠（元）,商家优惠（元）,券核销金额（元）,券名称,商家红包消费金额（元）,卡消费金额（元）,退款批次号/请求号,服务费（元）,分润（元）,备注'

/** The URL contains what was asked, and needs no signature, as with the real provider. */
export function billAddress({ simulation, request, content }: AlipayCall): Fields {
  const type = textOf(content, 'bill_type', 20)
  if (type !== 'trade') throw businessFault('isp.invalid-bill-type', '账单类型不支持')
  const date = textOf(content, 'bill_date', 15)
  const rows = rowsOf(simulation, date, request.flaws.bill)
  if (rows === undefined) throw businessFault('isp.bill_not_exist', '账单不存在')
  const query = new URLSearchParams({ date, flaw: request.flaws.bill ?? '' })
  return { bill_download_url: `${simulation.baseUrl}${path}?${query}` }
}

/** Undefined for any other path. */
export function billArchive(simulation: Simulation, request: Incoming): Response | undefined {
  if (request.path !== path) return undefined
  const date = request.query.get('date') ?? ''
  const flaws = ['unknown', 'missing', 'amount'] as const
  const flaw = flaws.find((one) => one === request.query.get('flaw'))
  const rows = rowsOf(simulation, date, flaw)
  if (rows === undefined) return new Response('Not Found', { status: 404 })
  const { sellerId } = simulation.state.keys.alipay
  const name = `${sellerId}0156_${date.replaceAll('-', '')}`
  const archive = zip([
    { name: gbk(`${name}_业务明细.csv`), content: gbk(details(simulation, date, rows)) },
    { name: gbk(`${name}_业务明细(汇总).csv`), content: gbk(summary(simulation, date, rows)) },
  ])
  return new Response(new Uint8Array(archive), { headers: { 'content-type': 'application/zip' } })
}

/** Undefined where there is no bill: the day is not over, or had no payments. */
function rowsOf(
  { state, clock }: Simulation,
  date: string,
  flaw: InterfaceFlaws['bill'],
): BillRow[] | undefined {
  const start = finishedDay(date, clock.now())
  if (start === undefined) return undefined
  const hasAny = billRows(state, { provider: 'alipay', start, flaw: undefined }).length > 0
  return hasAny ? billRows(state, { provider: 'alipay', start, flaw }) : undefined
}

function details(simulation: Simulation, date: string, rows: readonly BillRow[]): string {
  const lines = [
    ...head(simulation, '业务明细查询', date),
    '#-----------------------------------------业务明细列表----------------------------------------',
    columns,
    ...rows.map((row) => cells(row).join(',')),
    '#-----------------------------------------业务明细列表结束------------------------------------',
    `#交易合计：${sumText(rows.filter(isTrade))}`,
    `#退款合计：${sumText(rows.filter((row) => !isTrade(row)))}`,
    `#导出时间：[${dateText(chinaTime(simulation.clock.now()))}]`,
  ]
  return lines.map((line) => `${line}\r\n`).join('')
}

function summary(simulation: Simulation, date: string, rows: readonly BillRow[]): string {
  const trades = rows.filter(isTrade)
  const refunds = rows.filter((row) => !isTrade(row))
  const net = sumMinor(trades) - sumMinor(refunds)
  const lines = [
    ...head(simulation, '业务汇总查询', date),
    '#-----------------------------------------业务汇总列表----------------------------------------',
    '门店编号,门店名称,交易订单总笔数,退款订单总笔数,订单金额（元）,商家实收（元）',
    `合计,,${trades.length},${refunds.length},${signed(net)},${signed(net)}`,
    '#-----------------------------------------业务汇总列表结束------------------------------------',
    `#导出时间：[${dateText(chinaTime(simulation.clock.now()))}]`,
  ]
  return lines.map((line) => `${line}\r\n`).join('')
}

function head({ state }: Simulation, title: string, date: string): string[] {
  const day = dateText(`${date} 00:00:00`)
  const end = dateText(chinaTime(Date.parse(`${date}T00:00:00+08:00`) + 24 * 3_600_000))
  return [
    `#支付宝${title}`,
    `#账号：[${state.keys.alipay.sellerId}0156]`,
    `#起始日期：[${day}]   终止日期：[${end}]`,
  ]
}

/** Formats a time like `2026年11月23日 09:30:00`. */
function dateText(time: string): string {
  return time.replace(/^(\d+)-(\d+)-(\d+)/, '$1年$2月$3日')
}

function isTrade({ refund }: BillRow): boolean {
  return refund === undefined
}

function sumText(rows: readonly BillRow[]): string {
  return `${rows.length}笔，商家实收共${decimalOf(sumMinor(rows))}元，商家优惠共0.00元`
}

/** Numbers end in a tab, so that a spreadsheet keeps them as text; a refund's amounts are negative. */
function cells(row: BillRow): string[] {
  const { payment, transaction, refund } = row
  const amount = `${refund === undefined ? '' : '-'}${decimalOf(row.amountMinor)}`
  return [
    `${transaction.id}\t`,
    `${payment.orderId}\t`,
    refund === undefined ? '交易' : '退款',
    payment.subject.replaceAll(/[,\t\r\n]/g, ' '),
    chinaTime(payment.createdAt),
    chinaTime(atOf(row)),
    '',
    '',
    '',
    '',
    `${payerId('alipay', transaction.payer)}\t`,
    amount,
    amount,
    ...Array.from({ length: 5 }, () => '0.00'),
    '',
    '0.00',
    '0.00',
    refund?.number ?? '',
    '0.00',
    '0.00',
    '',
  ]
}

function signed(minor: number): string {
  return `${minor < 0 ? '-' : ''}${decimalOf(Math.abs(minor))}`
}
