// Alipay's gateway from a merchant's view: trades, queries, refunds, bills and notifications.
import { billAddress, billArchive } from './alipay-bill.ts'
import {
  type AlipayCall,
  AlipayFault,
  type AlipayMethod,
  amountOf,
  businessFault,
  type Fields,
  faultTexts,
  textOf,
  tradeOf,
} from './alipay-call.ts'
import { queryRefund, refund } from './alipay-refunds.ts'
import { isSignedBy, signedReply, withSignature } from './alipay-signing.ts'
import { createKeyPair } from './keys.ts'
import type { MessageFlaws } from './misbehaviour.ts'
import {
  chinaTime,
  chinaTimeMs,
  decimalOf,
  type Incoming,
  newTransactionId,
  type ProviderSide,
  payerId,
  type Simulation,
} from './simulation.ts'
import { type Notification, type Payment, statusOf, sumMinor } from './state.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Methods that open a page in the payer's browser, with their product. */
const pages: ReadonlyMap<string, { product: string; code: string }> = new Map(
  Object.entries({
    'alipay.trade.page.pay': { product: 'page', code: 'FAST_INSTANT_TRADE_PAY' },
    'alipay.trade.wap.pay': { product: 'wap', code: 'QUICK_WAP_WAY' },
  }),
)

const methods: ReadonlyMap<string, AlipayMethod> = new Map(
  Object.entries({
    'alipay.trade.precreate': precreate,
    'alipay.trade.query': query,
    'alipay.trade.close': close,
    'alipay.trade.refund': refund,
    'alipay.trade.fastpay.refund.query': queryRefund,
    'alipay.data.dataservice.bill.downloadurl.query': billAddress,
  }),
)

export function createAlipay(simulation: Simulation): ProviderSide {
  const { provider } = simulation.state.keys.alipay
  return {
    retriesMs: [4 * minuteMs, 10 * minuteMs, 10 * minuteMs, ...[1, 2, 6, 15].map(inHours)],
    acknowledgedWithinMs: 5000,
    answer(request) {
      if (request.path !== '/gateway.do') return billArchive(simulation, request)
      const parameters = parametersOf(request)
      const method = parameters.get('method') ?? ''
      return pages.has(method)
        ? openPage(simulation, request, parameters)
        : answerMethod(simulation, request, parameters)
    },
    async message(notification, payment, flaws) {
      const { privateKey } = flaws.forged ? await createKeyPair() : provider
      const fields = notificationFields(simulation, { notification, payment, flaws })
      const body = new URLSearchParams([...withSignature(fields, privateKey, flaws.signType)])
      return {
        url: notification.url,
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
        body: body.toString(),
      }
    },
    acknowledges: (status, body) => status === 200 && body === 'success',
    returnAddress: (payment) => returnAddress(simulation, payment),
  }
}

function inHours(count: number): number {
  return count * hourMs
}

/** Parameters of the URL and the form together, since merchants split them between both. */
function parametersOf({ query: inAddress, body, method }: Incoming): Map<string, string> {
  return new Map([...inAddress, ...(method === 'POST' ? new URLSearchParams(body) : [])])
}

function answerMethod(
  simulation: Simulation,
  request: Incoming,
  parameters: ReadonlyMap<string, string>,
): Response {
  const method = parameters.get('method') ?? ''
  const { privateKey } = simulation.state.keys.alipay.provider
  const name = methods.has(method) ? `${method.replaceAll('.', '_')}_response` : 'error_response'
  const headers = { 'content-type': 'text/html;charset=utf-8' }
  try {
    const run = methods.get(method)
    if (run === undefined) throw new AlipayFault('40002', 'isv.invalid-method', '不存在的方法名')
    const call = callOf(simulation, request, parameters)
    const content = { code: '10000', msg: 'Success', ...run(call) }
    return new Response(signedReply(name, content, privateKey), { headers })
  } catch (error) {
    return new Response(signedReply(name, faultContent(error), privateKey), { headers })
  }
}

function faultContent(error: unknown): Fields {
  if (!(error instanceof AlipayFault)) throw error
  const { code, subCode, message } = error
  const [, msg = ''] = Object.entries(faultTexts).find(([one]) => one === code) ?? []
  return { code, msg, sub_code: subCode, sub_msg: message }
}

/** Throws an AlipayFault where the request is not the merchant's. */
function callOf(
  simulation: Simulation,
  request: Incoming,
  parameters: ReadonlyMap<string, string>,
): AlipayCall {
  const { appId, merchant } = simulation.state.keys.alipay
  for (const [name, subCode] of [
    ['app_id', 'isv.missing-app-id'],
    ['sign', 'isv.missing-signature'],
    ['sign_type', 'isv.missing-signature-type'],
    ['timestamp', 'isv.missing-timestamp'],
    ['version', 'isv.missing-version'],
  ] as const) {
    if (!parameters.get(name)) throw new AlipayFault('40001', subCode, `缺少参数：${name}`)
  }
  if (parameters.get('app_id') !== appId) {
    throw new AlipayFault('40002', 'isv.invalid-app-id', '无效的AppID参数')
  }
  if (parameters.get('sign_type') !== 'RSA2') {
    throw new AlipayFault('40002', 'isv.invalid-signature-type', '无效的签名类型')
  }
  if (!isSignedBy(parameters, merchant.publicKey)) {
    throw new AlipayFault(
      '40002',
      'isv.invalid-signature',
      '验签出错，建议检查签名字符串或签名私钥与应用公钥是否匹配',
    )
  }
  const sentAt = chinaTimeMs(parameters.get('timestamp') ?? '')
  if (!(Math.abs(sentAt - simulation.clock.now()) <= dayMs)) {
    throw new AlipayFault('40002', 'isv.invalid-timestamp', '非法的时间戳参数')
  }
  return { simulation, request, parameters, content: contentOf(parameters) }
}

function contentOf(parameters: ReadonlyMap<string, string>): Record<string, unknown> {
  try {
    const content: unknown = JSON.parse(parameters.get('biz_content') ?? '{}')
    if (typeof content === 'object' && content !== null) return { ...content }
  } catch {
    // Reported below, like a value that is not an object.
  }
  throw new AlipayFault('40002', 'isv.invalid-parameter', '参数无效：biz_content')
}

/** Redirects the payer's browser to the pay page; an error is shown as text. */
function openPage(
  simulation: Simulation,
  request: Incoming,
  parameters: ReadonlyMap<string, string>,
): Response {
  try {
    const call = callOf(simulation, request, parameters)
    const page = pages.get(parameters.get('method') ?? '')
    if (call.content['product_code'] !== page?.code) {
      throw businessFault('ACQ.INVALID_PARAMETER', '参数无效：product_code')
    }
    const payment = orderOf(call, page?.product ?? '')
    return Response.redirect(pageAddress(simulation, payment), 302)
  } catch (error) {
    const { sub_code: code, sub_msg: text } = faultContent(error)
    const headers = { 'content-type': 'text/plain; charset=utf-8' }
    return new Response(`${code}: ${text}`, { status: 400, headers })
  }
}

function pageAddress({ baseUrl }: Simulation, { id }: Payment): string {
  return `${baseUrl}/pay/alipay/${id}`
}

function precreate(call: AlipayCall): Fields {
  const payment = orderOf(call, 'precreate')
  return { out_trade_no: payment.orderId, qr_code: pageAddress(call.simulation, payment) }
}

/** The same order may be created again while it is open. */
function orderOf({ simulation, content, parameters }: AlipayCall, product: string): Payment {
  const { state, clock } = simulation
  const orderId = textOf(content, 'out_trade_no', 64)
  if (!/^\w+$/.test(orderId)) throw businessFault('ACQ.INVALID_PARAMETER', '参数无效：out_trade_no')
  const amountMinor = amountOf(content, 'total_amount')
  const subject = textOf(content, 'subject', 256)
  const now = clock.now()
  const known = state.payments.find((one) => one.provider === 'alipay' && one.orderId === orderId)
  if (known !== undefined) {
    const status = statusOf(known, now)
    if (status === 'closed') throw businessFault('ACQ.TRADE_HAS_CLOSE', '交易已经关闭')
    if (status !== 'open') throw businessFault('ACQ.TRADE_HAS_SUCCESS', '交易已被支付')
    if (known.amountMinor === amountMinor && known.subject === subject) return known
    throw businessFault('ACQ.CONTEXT_INCONSISTENT', '交易信息被篡改')
  }
  const attached = content['passback_params']
  const payment: Payment = {
    id: newTransactionId('alipay', now),
    provider: 'alipay',
    orderId,
    product,
    subject,
    amountMinor,
    currency: 'CNY',
    createdAt: now,
    expiresAt: expiryOf(content, now),
    notifyUrl: addressOf(parameters, 'notify_url'),
    returnUrl: addressOf(parameters, 'return_url'),
    cancelUrl: typeof content['quit_url'] === 'string' ? content['quit_url'] : '',
    attached: typeof attached === 'string' ? { passback_params: attached } : {},
    opened: false,
    transactions: [],
    refunds: [],
  }
  state.payments.push(payment)
  simulation.save()
  return payment
}

/** `time_expire` is a time in China; `timeout_express` is a duration: `90m`, `2h`, `1d`. */
function expiryOf(content: Fields, now: number): number {
  const { time_expire: at, timeout_express: span } = content
  if (at !== undefined) {
    const expiresAt = chinaTimeMs(String(at))
    if (expiresAt > now) return expiresAt
    throw businessFault('ACQ.INVALID_PARAMETER', '参数无效：time_expire')
  }
  if (span === undefined) return now + 15 * dayMs
  const [, count = '', unit = ''] = /^(\d{1,5})([mhd])$/.exec(String(span)) ?? []
  const unitMs = { m: minuteMs, h: hourMs, d: dayMs }[unit]
  if (unitMs !== undefined && Number(count) > 0) return now + Number(count) * unitMs
  throw businessFault('ACQ.INVALID_PARAMETER', '参数无效：timeout_express')
}

function addressOf(parameters: ReadonlyMap<string, string>, name: string): string {
  const address = parameters.get(name) ?? ''
  if (address === '' || /^https?:/.test(URL.parse(address)?.protocol ?? '')) return address
  throw new AlipayFault('40002', 'isv.invalid-parameter', `参数无效：${name}`)
}

const tradeStatuses = {
  open: 'WAIT_BUYER_PAY',
  paid: 'TRADE_SUCCESS',
  refunded: 'TRADE_CLOSED',
  closed: 'TRADE_CLOSED',
} as const

function query(call: AlipayCall): Fields {
  const { payment, number, transaction } = tradeOf(call)
  const total = decimalOf(transaction?.amountMinor ?? payment.amountMinor)
  return {
    trade_no: number,
    out_trade_no: payment.orderId,
    trade_status: tradeStatuses[statusOf(payment, call.simulation.clock.now())],
    total_amount: total,
    ...(transaction && {
      buyer_user_id: payerId('alipay', transaction.payer),
      send_pay_date: chinaTime(transaction.at),
      receipt_amount: total,
      buyer_pay_amount: total,
      invoice_amount: total,
      point_amount: '0.00',
    }),
  }
}

function close(call: AlipayCall): Fields {
  const { payment, number } = tradeOf(call)
  const now = call.simulation.clock.now()
  if (statusOf(payment, now) !== 'open') {
    throw businessFault('ACQ.REASON_TRADE_STATUS_INVALID', '交易状态不合法')
  }
  payment.closedAt = now
  call.simulation.save()
  return { trade_no: number, out_trade_no: payment.orderId }
}

interface NotificationInput {
  readonly notification: Notification
  readonly payment: Payment
  readonly flaws: MessageFlaws
}

function notificationFields(
  simulation: Simulation,
  { notification, payment, flaws }: NotificationInput,
): Map<string, string> {
  const { appId, sellerId } = simulation.state.keys.alipay
  const refunded = payment.refunds.find(({ id }) => id === notification.subjectId)
  const about = refunded?.transactionId ?? notification.subjectId
  const transaction = payment.transactions.find(({ id }) => id === about)
  const paidMinor = (transaction?.amountMinor ?? 0) + (flaws.wrongAmount ? 1 : 0)
  const total = decimalOf(paidMinor)
  const app = flaws.wrongApp ? '2021000000000000' : appId
  const now = simulation.clock.now()
  const status = refunded === undefined ? 'paid' : statusOf(payment, now)
  return new Map(
    Object.entries({
      notify_time: chinaTime(now),
      notify_type: 'trade_status_sync',
      notify_id: notification.id.replaceAll('-', ''),
      charset: 'utf-8',
      version: '1.0',
      app_id: app,
      auth_app_id: app,
      seller_id: flaws.wrongSeller ? '2088000000000000' : sellerId,
      buyer_id: payerId('alipay', transaction?.payer ?? ''),
      trade_no: about,
      out_trade_no: payment.orderId,
      trade_status: tradeStatuses[status],
      subject: payment.subject,
      total_amount: total,
      receipt_amount: total,
      buyer_pay_amount: total,
      invoice_amount: total,
      point_amount: '0.00',
      fund_bill_list: JSON.stringify([{ amount: total, fundChannel: 'ALIPAYACCOUNT' }]),
      gmt_create: chinaTime(payment.createdAt),
      gmt_payment: chinaTime(transaction?.at ?? now),
      ...payment.attached,
      ...(refunded && {
        out_biz_no: refunded.number,
        refund_fee: decimalOf(
          sumMinor(payment.refunds.filter((one) => one.transactionId === about)),
        ),
        gmt_refund: `${chinaTime(refunded.at)}.000`,
      }),
    }),
  )
}

/** The merchant's return URL with signed parameters, which contain the amount paid. */
function returnAddress(simulation: Simulation, payment: Payment): string | undefined {
  if (payment.returnUrl === '') return undefined
  const { appId, sellerId, provider } = simulation.state.keys.alipay
  const fields = new Map(
    Object.entries({
      charset: 'utf-8',
      version: '1.0',
      method: `alipay.trade.${payment.product}.pay.return`,
      app_id: appId,
      auth_app_id: appId,
      seller_id: sellerId,
      out_trade_no: payment.orderId,
      trade_no: payment.id,
      total_amount: decimalOf(payment.transactions[0]?.amountMinor ?? payment.amountMinor),
      timestamp: chinaTime(simulation.clock.now()),
    }),
  )
  const address = new URL(payment.returnUrl)
  for (const [name, value] of withSignature(fields, provider.privateKey)) {
    address.searchParams.append(name, value)
  }
  return address.href
}
