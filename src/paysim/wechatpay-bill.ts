// WeChat Pay's daily bill: its download URL and the file, plain or gzipped, as `tar_type` asks.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { atOf, type BillRow, billRows, finishedDay } from './bill-rows.ts'
import { chinaTime, decimalOf, payerId, type Simulation } from './simulation.ts'
import { sumMinor } from './state.ts'
import { type WechatpayCall, WechatpayFault, type WechatpayReply } from './wechatpay-call.ts'

const columns = `交易时间,公众账号ID,商户号,特约商户号,设备号,微信订单号,商户订单号,用户标识,交易类型,交易状态,付款银行,货币种类,应结订单金额,代金券金额,微信退款单号,商户退款单号,退款金额,充值券退款金额,退款类型,退款状态,商品名称,商户数据包,手续费,费率,订单金额,申请退款金额,费率备注`
const sums = `总交易单数,应结订单总金额,退款总金额,充值券退款总金额,手续费总金额,订单总金额,申请退款总金额`

/** The file's URL contains what was asked, so nothing has to be stored. */
export function billOffer({ simulation, request }: WechatpayCall): WechatpayReply {
  const date = request.query.get('bill_date') ?? ''
  const type = request.query.get('bill_type') ?? 'ALL'
  const packing = request.query.get('tar_type') ?? ''
  if (!['ALL', 'SUCCESS', 'REFUND'].includes(type)) {
    throw new WechatpayFault(400, 'PARAM_ERROR', '账单类型不正确', 'bill_type')
  }
  if (packing !== '' && packing !== 'GZIP') {
    throw new WechatpayFault(400, 'PARAM_ERROR', '压缩格式不正确', 'tar_type')
  }
  const flaw = request.flaws.bill ?? ''
  const text = billText(simulation, { date, type, flaw })
  const query = new URLSearchParams({ date, type, packing, flaw })
  return {
    status: 200,
    body: {
      hash_type: 'SHA1',
      hash_value: createHash('sha1').update(text).digest('hex'),
      download_url: `${simulation.baseUrl}/v3/billdownload/file?${query}`,
    },
  }
}

/** Unsigned, as with the real provider: its hash was announced with the URL. */
export function billFile({ simulation, request: { query } }: WechatpayCall): Response {
  const text = billText(simulation, {
    date: query.get('date') ?? '',
    type: query.get('type') ?? '',
    flaw: query.get('flaw') ?? '',
  })
  const packed = query.get('packing') === 'GZIP'
  return new Response(packed ? gzipSync(text) : text, {
    headers: { 'content-type': packed ? 'application/x-gzip' : 'text/plain; charset=utf-8' },
  })
}

function billText(
  simulation: Simulation,
  { date, type, flaw }: { date: string; type: string; flaw: string },
): string {
  const start = finishedDay(date, simulation.clock.now())
  if (start === undefined) throw new WechatpayFault(400, 'INVALID_REQUEST', '账单日期不正确')
  const known = (['unknown', 'missing', 'amount'] as const).find((one) => one === flaw)
  const rows = billRows(simulation.state, { provider: 'wechatpay', start, flaw: known }).filter(
    ({ refund }) => type === 'ALL' || (type === 'REFUND') === (refund !== undefined),
  )
  if (rows.length === 0) throw new WechatpayFault(400, 'NO_STATEMENT_EXIST', '账单文件不存在')
  const paid = decimalOf(sumMinor(rows.filter(({ refund }) => refund === undefined)))
  const refunded = decimalOf(sumMinor(rows.filter(({ refund }) => refund !== undefined)))
  const total = [String(rows.length), paid, refunded, '0.00', '0.00', paid, refunded]
  const lines = [columns, ...rows.map((row) => line(cells(simulation, row))), sums, line(total)]
  return `\uFEFF${lines.map((one) => `${one}\r\n`).join('')}`
}

/** Each cell begins with a backtick, so that a spreadsheet keeps long numbers as text. */
function line(values: readonly string[]): string {
  return values.map((value) => `\`${value.replaceAll(/[,`\r\n]/g, ' ')}`).join(',')
}

function cells({ state }: Simulation, row: BillRow): string[] {
  const { payment, transaction, refund } = row
  const keys = state.keys.wechatpay
  const amount = decimalOf(row.amountMinor)
  const paid = refund === undefined ? amount : '0.00'
  const back = refund === undefined ? '0.00' : amount
  return [
    chinaTime(atOf(row)),
    keys.appid,
    keys.mchid,
    '0',
    '',
    transaction.id,
    payment.orderId,
    payerId('wechatpay', transaction.payer),
    payment.product === 'h5' ? 'MWEB' : payment.product.toUpperCase(),
    refund === undefined ? 'SUCCESS' : 'REFUND',
    'OTHERS',
    payment.currency,
    paid,
    '0.00',
    refund?.id ?? '0',
    refund?.number ?? '0',
    back,
    '0.00',
    refund === undefined ? '' : 'ORIGINAL',
    refund === undefined ? '' : 'SUCCESS',
    payment.subject,
    payment.attached['attach'] ?? '',
    '0.00000',
    '0.60%',
    paid,
    back,
    '',
  ]
}
