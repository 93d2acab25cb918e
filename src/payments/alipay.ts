// Alipay: requests are signed and replies verified by its own SDK, with additional checks for what the SDK accepts.

import type { AlipaySdk } from 'alipay-sdk'
import { readPrivateKey, readPublicKey } from '../config/rsa-keys.ts'
import type { PaymentSettings } from '../config/types.ts'
import { requirePackage } from '../installation.ts'
import type { PaymentOrder, Refund } from '../store/payment-tables.ts'
import { minorText, parseMinor, payerHash } from './amount.ts'
import { type BillRow, BillUnreadable, billAmount, type Cells, tableOf, unzip } from './bill.ts'
import { chinaTime, readChinaTime } from './china-time.ts'
import { needKey } from './keys.ts'
import {
  CallerRefused,
  type Instructions,
  type Notified,
  NotVerified,
  type Provider,
  type ProviderMessage,
  ProviderRefused,
  type Send,
  type StartDetails,
  undecided,
} from './provider.ts'

type Settings = NonNullable<PaymentSettings['alipay']>
type Reply = Readonly<Record<string, unknown>>

const currency = 'CNY'
const methods = ['page', 'qr', 'wap'] as const

export async function openAlipay(settings: Settings, send: Send): Promise<Provider> {
  const { AlipaySdk } = requirePackage('alipay-sdk') as typeof import('alipay-sdk')
  const privateKey = needKey(readPrivateKey(settings.privateKey), 'alipay.privateKey')
  const publicKey = needKey(readPublicKey(settings.alipayPublicKey), 'alipay.alipayPublicKey')
  const sdk = new AlipaySdk({
    appId: settings.appId,
    privateKey: privateKey.export({ type: 'pkcs1', format: 'der' }).toString('base64'),
    alipayPublicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    keyType: 'PKCS1',
    gateway: settings.gateway,
  })
  return new Alipay(settings, sdk, send)
}

class Alipay implements Provider {
  readonly currency = currency
  readonly automatic = null
  readonly methods = methods
  readonly #settings: Settings
  readonly #sdk: AlipaySdk
  readonly #send: Send

  constructor(settings: Settings, sdk: AlipaySdk, send: Send) {
    this.#settings = settings
    this.#sdk = sdk
    this.#send = send
  }

  /** Calls a method and returns its verified reply. Throws ProviderRefused if the reply refuses what was asked. */
  async #call(method: string, bizContent: object, notifyUrl?: string): Promise<Reply> {
    const notified = notifyUrl === undefined ? {} : { notifyUrl }
    const url = this.#sdk.pageExecute(method, 'GET', { ...notified, bizContent })
    const { status, text } = await this.#send({ method: 'GET', url, headers: {} })
    if (status !== 200) throw new Error(`Alipay answered ${status} to ${method}`)
    const name = `${method.replaceAll('.', '_')}_response`
    const { sign, [name]: reply, error_response: failed } = JSON.parse(text) as Reply
    const answer = (reply ?? failed) as Reply | undefined
    if (typeof sign === 'string') {
      try {
        this.#sdk.checkResponseSign(text, reply ? name : 'error_response', sign, '')
      } catch {
        throw new NotVerified(`the signature of the reply to ${method} does not fit`)
      }
      // Alipay does not sign its reply to a request whose signature it rejects.
    } else if (answer?.['code'] === '10000') throw new NotVerified('the reply has no signature')
    if (answer === undefined) throw new Error(`Alipay answered ${method} with something else`)
    if (answer['code'] === '10000') return answer
    const code = String(answer['sub_code'] ?? answer['code'])
    const reason = `${code}: ${String(answer['sub_msg'] ?? answer['msg'])}`
    // Alipay does not know the outcome itself then, and wants the same call again.
    if (answer['code'] === '20000' || code.endsWith('SYSTEM_ERROR')) throw new Error(reason)
    throw answer['code'] === '40004' ? new ProviderRefused(reason) : new CallerRefused(reason)
  }

  async start(order: PaymentOrder, details: StartDetails): Promise<Instructions> {
    const bizContent = startContent(order, details)
    const { returnUrl, notifyUrl } = details
    if (order.method === 'qr') {
      const { qr_code: code } = await this.#call('alipay.trade.precreate', bizContent, notifyUrl)
      return { kind: 'qr', url: String(code) }
    }
    const isPhone = order.method === 'wap'
    const productCode = isPhone ? 'QUICK_WAP_WAY' : 'FAST_INSTANT_TRADE_PAY'
    const method = isPhone ? 'alipay.trade.wap.pay' : 'alipay.trade.page.pay'
    const asked = { returnUrl, notifyUrl, bizContent: { ...bizContent, productCode } }
    return { kind: 'redirect', url: this.#sdk.pageExecute(method, 'GET', asked) }
  }

  async readNotification({ body }: ProviderMessage): Promise<Notified> {
    const { appId, sellerId } = this.#settings
    const fields = fieldsOf(body)
    // The SDK verifies by the algorithm that the message names, so SHA-1 must be rejected before it is called.
    if (fields['sign_type'] !== 'RSA2') throw new NotVerified('sign_type is not RSA2')
    if (!this.#sdk.checkNotifySignV2(fields)) throw new NotVerified('the signature does not fit')
    if (fields['app_id'] !== appId) throw new NotVerified('app_id is another')
    if (sellerId !== null && fields['seller_id'] !== sellerId)
      throw new NotVerified('seller_id is another')
    const orderId = fields['out_trade_no'] ?? null
    const isRefund = fields['refund_fee'] !== undefined || fields['gmt_refund'] !== undefined
    const paid = isPaid(fields) && !isRefund ? paidOf(fields, fields['gmt_payment']) : null
    return { eventId: fields['notify_id'] ?? null, orderId, paid }
  }

  acknowledge(isTaken: boolean) {
    const [status, body] = isTaken ? [200, 'success'] : [400, 'fail']
    return { status: Number(status), contentType: 'text/plain', body: String(body) }
  }

  async query(order: PaymentOrder) {
    try {
      const reply = await this.#call('alipay.trade.query', { outTradeNo: order.id })
      if (reply['out_trade_no'] !== order.id) throw new NotVerified('the reply is of another order')
      return { paid: isPaid(reply) ? paidOf(reply, reply['send_pay_date']) : null }
    } catch (error) {
      if (isUnknownThere(error)) return { paid: null }
      throw error
    }
  }

  async close(order: PaymentOrder): Promise<void> {
    try {
      await this.#call('alipay.trade.close', { outTradeNo: order.id })
    } catch (error) {
      if (!isUnknownThere(error)) throw error
    }
  }

  /** A query answers without `refund_status` where there is no such refund, or it failed. */
  async refund(refund: Refund): Promise<'done' | 'pending'> {
    const named = { tradeNo: refund.transactionId, outRequestNo: refund.id }
    const query = this.#call('alipay.trade.fastpay.refund.query', named)
    const made = await query.catch(undecided('Alipay does not say whether the refund is made'))
    if (made['refund_status'] === 'REFUND_SUCCESS') return 'done'
    const reply = await this.#call('alipay.trade.refund', {
      ...named,
      refundAmount: minorText(refund.amountMinor),
      refundReason: refund.reason.slice(0, 256),
    })
    // Otherwise the money has not moved by this call, and the next query decides.
    return reply['fund_change'] === 'Y' ? 'done' : 'pending'
  }

  async bill(day: string): Promise<readonly BillRow[]> {
    const asked = { billType: 'trade', billDate: day }
    const reply = await this.#call('alipay.data.dataservice.bill.downloadurl.query', asked).catch(
      (error: unknown) => {
        if (error instanceof ProviderRefused && /bill_not_exist/i.test(error.message)) return null
        throw error
      },
    )
    if (reply === null) return []
    const url = String(reply['bill_download_url'])
    const { status, bytes } = await this.#send({ method: 'GET', url, headers: {} })
    if (status !== 200) throw new Error(`Alipay answered ${status} where its bill should be`)
    const tables = unzip(bytes).map((file) => new TextDecoder('gbk').decode(file))
    const details = tables.find((text) => text.includes(`\n${firstColumn},`))
    if (details === undefined) throw new BillUnreadable(`the bill has no column ${firstColumn}`)
    return tableOf(details, firstColumn, '商品名称').map(rowOf)
  }
}

const firstColumn = '支付宝交易号'

function rowOf(cell: Cells): BillRow {
  return {
    transactionId: cell(firstColumn),
    orderId: cell('商户订单号'),
    refundId: cell('业务类型') === '退款' ? cell('退款批次号/请求号') : null,
    amountMinor: billAmount(cell('订单金额（元）')),
  }
}

/** Nobody has opened the payment page, so the trade does not exist at Alipay and nothing was paid. */
function isUnknownThere(error: unknown): boolean {
  return error instanceof ProviderRefused && error.message.includes('TRADE_NOT_EXIST')
}

function startContent(order: PaymentOrder, { subject }: StartDetails) {
  return {
    outTradeNo: order.id,
    totalAmount: minorText(order.amountMinor),
    subject,
    timeExpire: chinaTime(order.expiresAt),
  }
}

/** Rejects repeated names, which different parsers could read differently. */
function fieldsOf(body: string): Readonly<Record<string, string>> {
  const fields: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(body)) {
    if (name in fields) throw new NotVerified(`${name} is given twice`)
    fields[name] = value
  }
  return fields
}

function isPaid(fields: Reply): boolean {
  return fields['trade_status'] === 'TRADE_SUCCESS' || fields['trade_status'] === 'TRADE_FINISHED'
}

function paidOf(fields: Reply, paidAt: unknown) {
  const amountMinor = parseMinor(String(fields['total_amount']))
  const id = String(fields['trade_no'] ?? '')
  if (amountMinor === null || amountMinor === 0 || id === '')
    throw new NotVerified('the amount or the number of the trade cannot be read')
  const time = readChinaTime(String(paidAt))
  const payer = fields['buyer_id'] ?? fields['buyer_user_id'] ?? fields['buyer_open_id']
  return {
    id,
    amountMinor,
    currency,
    payerHash: payerHash('alipay', typeof payer === 'string' ? payer : null),
    paidAt: Number.isNaN(time) ? Date.now() : time,
  }
}
