// WeChat Pay v3 from a merchant's view: orders, queries, refunds, certificates and notifications.

import { randomBytes } from 'node:crypto'
import { createKeyPair, createPlatformCertificate, type PlatformCertificate } from './keys.ts'
import type { MessageFlaws } from './misbehaviour.ts'
import {
  chinaTime,
  type Incoming,
  type Message,
  type ProviderSide,
  payerId,
  type Simulation,
} from './simulation.ts'
import { type Notification, type Payment, statusOf } from './state.ts'
import { wechatAccount } from './wechat-browser.ts'
import { billFile, billOffer } from './wechatpay-bill.ts'
import {
  integerOf,
  recordOf,
  textOf,
  timeText,
  type WechatpayCall,
  WechatpayFault,
  type WechatpayReply,
} from './wechatpay-call.ts'
import { createRefund, queryRefund, refundView } from './wechatpay-refunds.ts'
import { encrypted, type Signer, signatureFault, signedHeaders } from './wechatpay-signing.ts'

/** How the provider signs: with its single public key, as for new merchants, or with platform certificates. */
export type WechatpayMode = 'public-key' | 'certificate'

/** 24 h 4 min in total. */
const retriesMs = [
  15, 15, 30, 180, 600, 1200, 1800, 1800, 1800, 3600, 10_800, 10_800, 10_800, 21_600, 21_600,
].map((seconds) => seconds * 1000)
const defaultExpiryMs = 2 * 3_600_000

const routes: readonly (readonly [
  method: string,
  path: RegExp,
  run: (call: WechatpayCall) => WechatpayReply | Response,
])[] = [
  ['POST', /^\/v3\/pay\/transactions\/(native|h5|jsapi)$/, createOrder],
  ['GET', /^\/v3\/pay\/transactions\/(out-trade-no|id)\/([^/]+)$/, queryOrder],
  ['POST', /^\/v3\/pay\/transactions\/out-trade-no\/([^/]+)\/close$/, closeOrder],
  ['POST', /^\/v3\/refund\/domestic\/refunds$/, createRefund],
  ['GET', /^\/v3\/refund\/domestic\/refunds\/([^/]+)$/, queryRefund],
  ['GET', /^\/v3\/bill\/tradebill$/, billOffer],
  ['GET', /^\/v3\/billdownload\/file$/, billFile],
]

export function createWechatpay(simulation: Simulation, mode: WechatpayMode): ProviderSide {
  const keys = simulation.state.keys.wechatpay
  const signerFor = (serial: string | null): Signer => {
    const publicKey = { serial: keys.publicKeyId, privateKey: keys.provider.privateKey }
    if (mode === 'public-key') return publicKey
    return serial === keys.publicKeyId ? publicKey : signing(keys.certificates)
  }
  return {
    retriesMs,
    acknowledgedWithinMs: 5000,
    answer(request) {
      if (!request.path.startsWith('/v3/')) return undefined
      const signer = signerFor(request.headers.get('wechatpay-serial'))
      const reply = replyTo(simulation, request, mode)
      if (reply instanceof Response) return reply
      const body = reply.body === undefined ? '' : JSON.stringify(reply.body)
      const headers = {
        ...(body !== '' && { 'content-type': 'application/json; charset=utf-8' }),
        ...signedHeaders(body, signer, simulation.clock.now()),
      }
      return new Response(body === '' ? null : body, { status: reply.status, headers })
    },
    async message(notification, payment, flaws) {
      const signer = await flawedSigner(simulation, signerFor(null), flaws)
      return messageOf(simulation, { notification, payment, flaws, signer })
    },
    acknowledges: (status) => status === 200 || status === 204,
    returnAddress(payment, query) {
      return payment.product === 'h5' ? (query.get('redirect_url') ?? undefined) : undefined
    },
  }
}

/** The newest certificate is used to sign. */
function signing(certificates: readonly PlatformCertificate[]): PlatformCertificate {
  const [newest] = certificates
  if (newest === undefined) throw new Error('no platform certificate')
  return newest
}

function replyTo(
  simulation: Simulation,
  request: Incoming,
  mode: WechatpayMode,
): WechatpayReply | Response {
  try {
    const keys = simulation.state.keys.wechatpay
    const fault = signatureFault(request, keys, simulation.clock.now())
    if (fault !== undefined) throw new WechatpayFault(401, 'SIGN_ERROR', fault)
    if (request.method === 'GET' && request.path === '/v3/certificates') {
      return certificates(simulation, mode)
    }
    for (const [method, pattern, run] of routes) {
      const match = pattern.exec(request.path)
      if (match === null || method !== request.method) continue
      const caught = match.slice(1).map(decodeURIComponent)
      return run({ simulation, request, caught, body: jsonOf(request) })
    }
    throw new WechatpayFault(404, 'NOT_FOUND', '接口不存在')
  } catch (error) {
    if (!(error instanceof WechatpayFault)) throw error
    const { status, code, message, field } = error
    const detail =
      field === undefined ? {} : { detail: { location: 'body', field, issue: message } }
    return { status, body: { code, message, ...detail } }
  }
}

function jsonOf({ method, body }: Incoming): Record<string, unknown> {
  if (method === 'GET') return {}
  try {
    return recordOf(JSON.parse(body), '')
  } catch {
    throw new WechatpayFault(400, 'PARAM_ERROR', '请求体不是合法的JSON')
  }
}

/** Lists the platform certificates; merchants that use the public key have none. */
function certificates(simulation: Simulation, mode: WechatpayMode): WechatpayReply {
  const keys = simulation.state.keys.wechatpay
  if (mode === 'public-key') {
    const message = '无可用的平台证书，请在商户平台-API安全申请使用微信支付公钥'
    throw new WechatpayFault(404, 'RESOURCE_NOT_EXISTS', message)
  }
  const data = keys.certificates.map((one) => ({
    serial_no: one.serial,
    effective_time: timeText(one.effectiveAt),
    expire_time: timeText(one.expiresAt),
    encrypt_certificate: encrypted(one.certificate, keys.apiV3Key, 'certificate'),
  }))
  return { status: 200, body: { data } }
}

function createOrder({ simulation, caught: [product = ''], body }: WechatpayCall): WechatpayReply {
  const { state, clock } = simulation
  const keys = state.keys.wechatpay
  const now = clock.now()
  const order = orderOf(body, product, now)
  const appids = [keys.appid, wechatAccount(keys, simulation.baseUrl).appid]
  const appid = appids.find((one) => one === body['appid'])
  if (appid === undefined || body['mchid'] !== keys.mchid) {
    throw new WechatpayFault(400, 'APPID_MCHID_NOT_MATCH', '商户号和appid不匹配')
  }
  const known = state.payments.find((one) => isOrder(one, order.orderId))
  if (known !== undefined) refuseOther(known, order, now)
  const payment = known ?? { ...order, id: newOrderId(now), appid }
  if (known === undefined) {
    state.payments.push(payment)
    simulation.save()
  }
  const page = `${simulation.baseUrl}/pay/wechatpay/${payment.id}`
  if (product === 'jsapi') return { status: 200, body: { prepay_id: payment.id } }
  // The URL has a query, because merchants append &redirect_url=.
  if (product === 'h5') return { status: 200, body: { h5_url: `${page}?prepay_id=${payment.id}` } }
  return { status: 200, body: { code_url: page } }
}

function orderOf(body: WechatpayCall['body'], product: string, now: number): Omit<Payment, 'id'> {
  const amount = recordOf(body['amount'], 'amount')
  const currency = amount['currency'] ?? 'CNY'
  if (currency !== 'CNY')
    throw new WechatpayFault(400, 'PARAM_ERROR', '只支持CNY', 'amount.currency')
  const expires = body['time_expire'] === undefined ? undefined : textOf(body, 'time_expire', 64)
  const expiresAt = expires === undefined ? now + defaultExpiryMs : Date.parse(expires)
  if (!(expiresAt > now)) throw new WechatpayFault(400, 'PARAM_ERROR', '时间不正确', 'time_expire')
  if (product === 'jsapi') textOf(recordOf(body['payer'], 'payer'), 'openid', 128)
  if (product === 'h5') {
    const scene = recordOf(body['scene_info'], 'scene_info')
    textOf(scene, 'payer_client_ip', 45)
    textOf(recordOf(scene['h5_info'], 'scene_info.h5_info'), 'type', 32)
  }
  const orderId = textOf(body, 'out_trade_no', 32)
  if (!/^[\w\-|*@]{6,32}$/.test(orderId)) {
    throw new WechatpayFault(400, 'PARAM_ERROR', '商户订单号格式不正确', 'out_trade_no')
  }
  const notifyUrl = textOf(body, 'notify_url', 255)
  if (!URL.canParse(notifyUrl))
    throw new WechatpayFault(400, 'PARAM_ERROR', '回调地址不合法', 'notify_url')
  const attach = body['attach'] === undefined ? '' : textOf(body, 'attach', 128)
  return {
    provider: 'wechatpay',
    orderId,
    product,
    subject: textOf(body, 'description', 127),
    amountMinor: integerOf(amount, 'total', 'amount.total'),
    currency: 'CNY',
    createdAt: now,
    expiresAt,
    notifyUrl,
    returnUrl: '',
    cancelUrl: '',
    attached: attach === '' ? {} : { attach },
    opened: false,
    transactions: [],
    refunds: [],
  }
}

/** The same order may be created again while it is open; a different one with its number may not. */
function refuseOther(known: Payment, order: Omit<Payment, 'id'>, now: number): void {
  const status = statusOf(known, now)
  if (status === 'closed') throw new WechatpayFault(400, 'ORDER_CLOSED', '订单已关闭')
  if (status !== 'open') throw new WechatpayFault(400, 'ORDERPAID', '该订单已支付')
  const same = (['amountMinor', 'product', 'subject', 'notifyUrl'] as const).every(
    (field) => known[field] === order[field],
  )
  if (!same) throw new WechatpayFault(403, 'OUT_TRADE_NO_USED', '商户订单号重复')
}

function newOrderId(now: number): string {
  return `wx${chinaTime(now).replace(/\D/g, '')}${randomBytes(10).toString('hex')}`
}

function isOrder(payment: Payment, orderId: string): boolean {
  return payment.provider === 'wechatpay' && payment.orderId === orderId
}

function queryOrder({
  simulation,
  request,
  caught: [by, number = ''],
}: WechatpayCall): WechatpayReply {
  requireMerchant(simulation, request.query.get('mchid'))
  const payment = simulation.state.payments.find((one) =>
    by === 'id'
      ? one.provider === 'wechatpay' && one.transactions.some(({ id }) => id === number)
      : isOrder(one, number),
  )
  if (payment === undefined) throw new WechatpayFault(404, 'ORDER_NOT_EXIST', '订单不存在')
  const transactionId = by === 'id' ? number : payment.transactions[0]?.id
  return { status: 200, body: transactionView(simulation, payment, transactionId, {}) }
}

function closeOrder({ simulation, caught: [number = ''], body }: WechatpayCall): WechatpayReply {
  requireMerchant(simulation, textOf(body, 'mchid', 32))
  const payment = simulation.state.payments.find((one) => isOrder(one, number))
  if (payment === undefined) throw new WechatpayFault(404, 'ORDER_NOT_EXIST', '订单不存在')
  if (payment.transactions.length > 0) throw new WechatpayFault(400, 'ORDERPAID', '该订单已支付')
  payment.closedAt ??= simulation.clock.now()
  simulation.save()
  return { status: 204 }
}

function requireMerchant({ state }: Simulation, mchid: string | null): void {
  if (mchid === state.keys.wechatpay.mchid) return
  throw new WechatpayFault(400, 'PARAM_ERROR', '商户号不正确', 'mchid')
}

/** A partly refunded order counts as refunded too. */
const tradeStates = {
  open: { trade_state: 'NOTPAY', trade_state_desc: '订单未支付' },
  paid: { trade_state: 'SUCCESS', trade_state_desc: '支付成功' },
  refunded: { trade_state: 'REFUND', trade_state_desc: '转入退款' },
  closed: { trade_state: 'CLOSED', trade_state_desc: '订单已关闭' },
} as const

/** The order with one of its transactions, as in queries and notifications. */
function transactionView(
  { state, clock }: Simulation,
  payment: Payment,
  transactionId: string | undefined,
  flaws: MessageFlaws,
) {
  const keys = state.keys.wechatpay
  const status = statusOf(payment, clock.now())
  const transaction = payment.transactions.find(({ id }) => id === transactionId)
  const total = (transaction?.amountMinor ?? payment.amountMinor) + (flaws.wrongAmount ? 1 : 0)
  const currency = flaws.wrongCurrency ? 'USD' : payment.currency
  const refunded = payment.refunds.some((one) => one.transactionId === transactionId)
  const shown = refunded ? 'refunded' : status
  return {
    appid: flaws.wrongApp ? 'wx0000000000000000' : (payment.appid ?? keys.appid),
    mchid: flaws.wrongSeller ? '1900000000' : keys.mchid,
    out_trade_no: payment.orderId,
    ...payment.attached,
    ...tradeStates[shown],
    ...(transaction && {
      transaction_id: transaction.id,
      trade_type: payment.product === 'h5' ? 'MWEB' : payment.product.toUpperCase(),
      bank_type: 'OTHERS',
      success_time: timeText(transaction.at),
      payer: { openid: payerId('wechatpay', transaction.payer) },
    }),
    amount: {
      total,
      currency,
      ...(transaction && { payer_total: total, payer_currency: currency }),
    },
  }
}

/** A forged key, or an expired certificate, which is listed from then on. */
async function flawedSigner(
  simulation: Simulation,
  signer: Signer,
  flaws: MessageFlaws,
): Promise<Signer> {
  if (flaws.forged) return { ...signer, privateKey: (await createKeyPair()).privateKey }
  if (!flaws.expiredCertificate) return signer
  const { certificates } = simulation.state.keys.wechatpay
  const now = simulation.clock.now()
  const known = certificates.find(({ expiresAt }) => expiresAt <= now)
  if (known !== undefined) return known
  const ended = await createPlatformCertificate(now - 10 * dayMs, now - dayMs)
  certificates.push(ended)
  simulation.save()
  return ended
}

const dayMs = 24 * 3_600_000

interface MessageInput {
  readonly notification: Notification
  readonly payment: Payment
  readonly flaws: MessageFlaws
  readonly signer: Signer
}

function messageOf(simulation: Simulation, input: MessageInput): Message {
  const { notification, payment, flaws, signer } = input
  const keys = simulation.state.keys.wechatpay
  const refund = payment.refunds.find(({ id }) => id === notification.subjectId)
  const type = refund === undefined ? 'transaction' : 'refund'
  const content =
    refund === undefined
      ? // Shows the state at payment, whatever happened since.
        {
          ...transactionView(simulation, payment, notification.subjectId, flaws),
          ...tradeStates.paid,
        }
      : { mchid: keys.mchid, ...refundView(payment, refund), refund_status: 'SUCCESS' }
  const body = JSON.stringify({
    id: notification.id,
    create_time: timeText(notification.createdAt),
    resource_type: 'encrypt-resource',
    event_type: `${type.toUpperCase()}.SUCCESS`,
    summary: refund === undefined ? '支付成功' : '退款成功',
    resource: { original_type: type, ...encrypted(JSON.stringify(content), keys.apiV3Key, type) },
  })
  const headers = signedHeaders(body, signer, simulation.clock.now())
  if (flaws.signTest)
    headers['wechatpay-signature'] = `WECHATPAY/SIGNTEST/${randomBytes(192).toString('base64')}`
  return {
    url: notification.url,
    headers: { 'content-type': 'application/json', ...headers },
    body,
  }
}
