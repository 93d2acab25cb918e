// WeChat Pay v3: native QR, H5 and JSAPI, with the cryptography of its SDK; verifies by public key or certificates.

import { createHash, type KeyObject, randomBytes, X509Certificate } from 'node:crypto'
import { readPrivateKey, readPublicKey } from '../config/rsa-keys.ts'
import type { PaymentSettings } from '../config/types.ts'
import { requirePackage } from '../installation.ts'
import type { PaymentOrder, Refund } from '../store/payment-tables.ts'
import { payerHash } from './amount.ts'
import { type BillRow, BillUnreadable, billAmount, type Cells, tableOf } from './bill.ts'
import { needKey } from './keys.ts'
import {
  CallerRefused,
  checkTime,
  type Instructions,
  type Notified,
  NotVerified,
  type Provider,
  type ProviderMessage,
  ProviderRefused,
  type ProviderReply,
  type Send,
  type StartDetails,
  undecided,
} from './provider.ts'

type Settings = NonNullable<PaymentSettings['wechatpay']>
type Fields = Readonly<Record<string, unknown>>

const currency = 'CNY'
const leastPauseMs = 30_000
const probe = 'WECHATPAY/SIGNTEST/'
const unreadable = 'the message cannot be read'

type Library = typeof import('wechatpay-axios-plugin')

export async function openWechatPay(settings: Settings, send: Send): Promise<Provider> {
  const privateKey = needKey(readPrivateKey(settings.privateKey), 'wechatpay.privateKey')
  const keys = new Map<string, KeyObject>()
  const { publicKey, publicKeyId } = settings
  if (publicKey !== null && publicKeyId !== null)
    keys.set(publicKeyId, needKey(readPublicKey(publicKey), 'wechatpay.publicKey'))
  const library = requirePackage('wechatpay-axios-plugin') as Library
  return new WechatPay(new Wire({ settings, send, library, privateKey, keys }))
}

interface WireParts {
  readonly settings: Settings
  readonly send: Send
  readonly library: Library
  readonly privateKey: KeyObject
  /** By serial number of the certificate, or id of the public key. */
  readonly keys: Map<string, KeyObject>
}

/** Signs, verifies and encrypts the traffic with WeChat Pay. */
class Wire {
  readonly settings: Settings
  readonly #parts: WireParts
  #fetchedAt = 0

  constructor(parts: WireParts) {
    this.#parts = parts
    this.settings = parts.settings
  }

  open(resource: Fields): string {
    const { ciphertext, nonce, associated_data: associated = '' } = resource
    const { settings, library } = this.#parts
    if (resource['algorithm'] !== undefined && resource['algorithm'] !== 'AEAD_AES_256_GCM')
      throw new NotVerified('the resource is encrypted in another way')
    const [key, text] = [settings.apiV3Key, String(ciphertext)]
    try {
      return library.Aes.AesGcm.decrypt(text, key, String(nonce), String(associated))
    } catch {
      throw new NotVerified('the resource cannot be decrypted with apiV3Key')
    }
  }

  async #request(method: 'GET' | 'POST', path: string, body?: object): Promise<ProviderReply> {
    const { settings, library, privateKey, send } = this.#parts
    const { Formatter, Rsa } = library
    const { mchid, serial, publicKeyId, baseUrl } = settings
    const text = body === undefined ? '' : JSON.stringify(body)
    const [nonce, time] = [Formatter.nonce(), String(Math.floor(Date.now() / 1_000))]
    const url = new URL(`${baseUrl}${path}`)
    const shown = Formatter.request(method, `${url.pathname}${url.search}`, time, nonce, text)
    const signature = Rsa.sign(shown, privateKey)
    return send({
      method,
      url: url.href,
      headers: {
        accept: 'application/json',
        authorization: Formatter.authorization(mchid, nonce, signature, time, serial),
        ...(publicKeyId !== null && { 'wechatpay-serial': publicKeyId }),
        ...(text !== '' && { 'content-type': 'application/json' }),
      },
      ...(text !== '' && { body: text }),
    })
  }

  /** Two certificates are valid while one replaces the other. */
  async #fetchCertificates(): Promise<void> {
    this.#fetchedAt = Date.now()
    const reply = await this.#request('GET', '/v3/certificates')
    if (reply.status !== 200) throw new Error(`the certificates were answered with ${reply.status}`)
    const { data = [] } = JSON.parse(reply.text) as { data?: readonly Fields[] }
    for (const each of data) {
      const pem = this.open(each['encrypt_certificate'] as Fields)
      const { publicKey, validTo } = new X509Certificate(pem)
      if (Date.parse(validTo) > Date.now())
        this.#parts.keys.set(String(each['serial_no']), publicKey)
    }
    this.#verify({ body: reply.text, header: reply.header }, Date.now())
  }

  #verify({ body, header }: ProviderMessage, nowMs: number): void {
    const { Formatter, Rsa } = this.#parts.library
    const timestamp = header('wechatpay-timestamp') ?? ''
    const signature = header('wechatpay-signature') ?? ''
    const key = this.#parts.keys.get(header('wechatpay-serial') ?? '')
    const text = Formatter.response(timestamp, header('wechatpay-nonce') ?? '', body)
    if (signature.startsWith(probe)) throw new NotVerified('it is a probe of the signature')
    if (key === undefined) throw new NotVerified('it is signed with a key that is not known')
    if (!Rsa.verify(text, signature, key)) throw new NotVerified('the signature does not fit')
    checkTime(Number(timestamp) * 1_000, nowMs)
  }

  /** An unknown serial may be that of a new certificate, so the certificates are fetched again. */
  async #learn({ header }: ProviderMessage, pauseMs: number): Promise<void> {
    const serial = header('wechatpay-serial') ?? ''
    if (this.settings.publicKey !== null || this.#parts.keys.has(serial)) return
    if (/^[0-9A-F]{8,64}$/i.test(serial) && Date.now() - this.#fetchedAt >= pauseMs)
      await this.#fetchCertificates()
  }

  /** Throws NotVerified. */
  async verify(message: ProviderMessage, nowMs: number): Promise<void> {
    // The pause prevents invented serial numbers from causing a request each.
    await this.#learn(message, leastPauseMs)
    this.#verify(message, nowMs)
  }

  /** The customer's openid, by the code the browser brought back. Throws ProviderRefused; no error has the secret. */
  async openid(mp: NonNullable<Settings['mp']>, code: string): Promise<string> {
    const { appid, secret, baseUrl } = mp
    const query = new URLSearchParams({ appid, secret, code, grant_type: 'authorization_code' })
    const url = `${baseUrl}/sns/oauth2/access_token?${query}`
    const reply = await this.#parts
      .send({ method: 'GET', url, headers: { accept: 'application/json' } })
      .catch(() => null)
    if (reply?.status !== 200) throw new Error('WeChat does not say who the customer is')
    const fields = JSON.parse(reply.text) as Fields
    if (typeof fields['openid'] === 'string') return fields['openid']
    throw new ProviderRefused(`WeChat does not say who the customer is: ${fields['errcode']}`)
  }

  /** The signed fields for the browser's script (https://pay.weixin.qq.com/doc/v3/merchant/4012791857). */
  bridge(appId: string, prepayId: string): Readonly<Record<string, string>> {
    const { Formatter, Rsa } = this.#parts.library
    const timeStamp = String(Math.floor(Date.now() / 1_000))
    const nonceStr = Formatter.nonce()
    const prepay = `prepay_id=${prepayId}`
    const text = Formatter.joinedByLineFeed(appId, timeStamp, nonceStr, prepay)
    const paySign = Rsa.sign(text, this.#parts.privateKey)
    return { appId, timeStamp, nonceStr, package: prepay, signType: 'RSA', paySign }
  }

  /** Downloads a file from an address in a reply: the request is signed, its reply is not. */
  async download(address: string): Promise<ProviderReply> {
    const { pathname, search } = new URL(address)
    const path = pathname.slice(pathname.indexOf('/v3/'))
    return this.#request('GET', `${path}${search}`)
  }

  /** Throws ProviderRefused. */
  async call(method: 'GET' | 'POST', path: string, body?: object): Promise<Fields> {
    const reply = await this.#request(method, path, body)
    const { status, text, header } = reply
    const fields = text === '' ? {} : (JSON.parse(text) as Fields)
    // 429: too many calls, which decides nothing.
    if (status >= 400 && status < 500 && status !== 429) {
      const reason = `${String(fields['code'])}: ${String(fields['message'])}`
      const isOfCaller = status === 401 || (status > 402 && !refusedItself.test(reason))
      throw isOfCaller ? new CallerRefused(reason) : new ProviderRefused(reason)
    }
    if (status >= 300) throw new Error(`WeChat Pay answered ${status}`)
    await this.#learn({ body: text, header }, 0)
    this.#verify({ body: text, header }, Date.now())
    return fields
  }
}

class WechatPay implements Provider {
  readonly currency = currency
  readonly automatic = null
  readonly methods: readonly string[]
  readonly #wire: Wire

  constructor(wire: Wire) {
    this.#wire = wire
    this.methods = ['native', 'h5', ...(wire.settings.mp === null ? [] : ['jsapi'])]
  }

  async start(order: PaymentOrder, details: StartDetails): Promise<Instructions> {
    const { mchid, appid } = this.#wire.settings
    const path = `/v3/pay/transactions/${order.method}`
    if (order.method === 'jsapi') return this.#startInside(path, order, details)
    const content = startContent(order, details, { mchid, appid })
    return instructionsOf(await this.#wire.call('POST', path, content), details.returnUrl)
  }

  /** First sends the browser to WeChat to identify the customer; the code it brings back creates the payment. */
  async #startInside(path: string, order: PaymentOrder, details: StartDetails) {
    const { mchid, mp } = this.#wire.settings
    const { browser = null, returned, notifyUrl } = details
    if (mp === null) throw new ProviderRefused('payments inside WeChat are not configured')
    if (browser === null) throw new ProviderRefused('it is paid in a browser that is signed in')
    const before = (order.instructions ?? {}) as Partial<InsideInstructions>
    if (before.bridge !== undefined) return before as Instructions
    if (returned === undefined) {
      const state = `${order.id}.${randomBytes(16).toString('hex')}`
      const uri = encodeURIComponent(new URL('openid', notifyUrl).href)
      const url = `${mp.authorizeUrl}?appid=${mp.appid}&redirect_uri=${uri}&response_type=code&scope=snsapi_base&state=${state}#wechat_redirect`
      return { kind: 'redirect' as const, url, state: stateHash(state, browser) }
    }
    if (before.state !== stateHash(returned.state, browser))
      throw new ProviderRefused('the answer is of another browser, or of another order')
    const openid = await this.#wire.openid(mp, returned.code)
    const merchant = { mchid, appid: mp.appid }
    const content = { ...startContent(order, details, merchant), payer: { openid } }
    const { prepay_id: prepay } = await this.#wire.call('POST', path, content)
    if (typeof prepay !== 'string') throw new Error('WeChat Pay answered without a prepay_id')
    return { kind: 'bridge' as const, url: '', bridge: this.#wire.bridge(mp.appid, prepay) }
  }

  async readNotification(message: ProviderMessage, nowMs: number): Promise<Notified> {
    await this.#wire.verify(message, nowMs)
    const fields = parsed(message.body)
    const trade = parsed(this.#wire.open((fields['resource'] ?? {}) as Fields))
    const isSuccess = fields['event_type'] === 'TRANSACTION.SUCCESS' && isPaid(trade)
    const orderId = trade['out_trade_no']
    return {
      eventId: String(fields['id']),
      orderId: typeof orderId === 'string' ? orderId : null,
      paid: isSuccess ? paidOf(trade, this.#wire.settings) : null,
    }
  }

  acknowledge(isTaken: boolean) {
    const body = isTaken ? taken : notTaken
    return { status: isTaken ? 200 : 400, contentType: 'application/json', body }
  }

  async query(order: PaymentOrder) {
    const { mchid } = this.#wire.settings
    const path = `/v3/pay/transactions/out-trade-no/${order.id}?mchid=${mchid}`
    try {
      const trade = await this.#wire.call('GET', path)
      if (trade['out_trade_no'] !== order.id) throw new NotVerified('the reply is of another order')
      // It went back, in part or whole, before it was credited: how much of it, the reply does not say.
      const isGone = trade['trade_state'] === 'REFUND' && order.creditedAt === null
      return { paid: isPaid(trade) && !isGone ? paidOf(trade, this.#wire.settings) : null }
    } catch (error) {
      if (error instanceof ProviderRefused && unknownThere.test(error.message))
        return { paid: null }
      throw error
    }
  }

  async close(order: PaymentOrder): Promise<void> {
    const { mchid } = this.#wire.settings
    await this.#wire.call('POST', `/v3/pay/transactions/out-trade-no/${order.id}/close`, { mchid })
  }

  async refund(refund: Refund, order: PaymentOrder): Promise<'done' | 'pending'> {
    const { status } = (await this.#madeRefund(refund)) ?? (await this.#makeRefund(refund, order))
    if (status === 'CLOSED' || status === 'ABNORMAL')
      throw new ProviderRefused(`the refund is ${status}`)
    return status === 'SUCCESS' ? 'done' : 'pending'
  }

  /** Numbers of refunds are the merchant's, which may have other systems that make them. Throws ProviderRefused. */
  async #madeRefund(refund: Refund): Promise<Fields | null> {
    const path = `/v3/refund/domestic/refunds/${encodeURIComponent(refund.id)}`
    const query = this.#wire.call('GET', path).catch((error: unknown) => {
      if (error instanceof ProviderRefused && unknownThere.test(error.message)) return null
      return undecided('WeChat Pay does not say whether the refund is made')(error)
    })
    const made = await query
    if (made === null) return null
    const amount = (made['amount'] ?? {}) as { readonly refund?: number }
    const isOurs =
      made['transaction_id'] === refund.transactionId && amount.refund === refund.amountMinor
    if (!isOurs) throw new ProviderRefused(`the merchant has another refund ${refund.id}`)
    return made
  }

  async #makeRefund(refund: Refund, order: PaymentOrder): Promise<Fields> {
    const path = `/v3/pay/transactions/id/${refund.transactionId}`
    const query = this.#wire.call('GET', `${path}?mchid=${this.#wire.settings.mchid}`)
    const trade = await query.catch(undecided('WeChat Pay does not show the payment'))
    const { total } = (trade['amount'] ?? {}) as { readonly total?: number }
    return this.#wire.call('POST', '/v3/refund/domestic/refunds', {
      transaction_id: refund.transactionId,
      out_refund_no: refund.id,
      reason: refund.reason.slice(0, 80),
      amount: { refund: refund.amountMinor, total: total ?? order.amountMinor, currency },
    })
  }

  async bill(day: string): Promise<readonly BillRow[]> {
    const path = `/v3/bill/tradebill?bill_date=${day}&bill_type=ALL`
    const offer = await this.#wire.call('GET', path).catch((error: unknown) => {
      if (error instanceof ProviderRefused && /^NO_STATEMENT_EXIST/.test(error.message)) return null
      throw error
    })
    if (offer === null) return []
    const { status, text, bytes } = await this.#wire.download(String(offer['download_url']))
    if (status !== 200) throw new Error(`WeChat Pay answered ${status} where its bill should be`)
    if (createHash('sha1').update(bytes).digest('hex') !== offer['hash_value'])
      throw new BillUnreadable('the hash of the bill does not fit')
    return tableOf(text, firstColumn, '商品名称').flatMap(rowOf)
  }
}

interface InsideInstructions extends Instructions {
  readonly state: string
}

/** Binds the returned code to the browser and order for which it was requested. */
function stateHash(state: string, browser: string): string {
  return createHash('sha256').update(`${state} ${browser}`).digest('hex')
}

const firstColumn = '交易时间'

/** A refund's row names its payment as well. */
function rowOf(cell: Cells): BillRow[] {
  const refundId = cell('商户退款单号')
  const isRefund = cell('交易状态') === 'REFUND'
  if (!isRefund && cell('交易状态') !== 'SUCCESS') return []
  return [
    {
      transactionId: cell('微信订单号'),
      orderId: cell('商户订单号'),
      refundId: isRefund ? refundId : null,
      amountMinor: billAmount(cell(isRefund ? '退款金额' : '应结订单金额')),
    },
  ]
}

const taken = '{"code":"SUCCESS","message":""}'
const notTaken = '{"code":"FAIL","message":"The notification was not taken"}'
const unknownThere = /^(ORDER_?NOT_?EXIST|RESOURCE_NOT_EXISTS)/
/** Codes with status 403 or 404 that are about the order or refund; others with these are about the merchant. */
const refusedItself =
  /^(ORDER_?NOT_?EXIST|RESOURCE_NOT_EXISTS|NOT_ENOUGH|USER_ACCOUNT_ABNORMAL|OUT_TRADE_NO_USED)/

function isPaid(trade: Fields): boolean {
  return trade['trade_state'] === 'SUCCESS' || trade['trade_state'] === 'REFUND'
}

function paidOf(trade: Fields, { mchid, appid, mp }: Settings) {
  const { total, currency: given = currency } = (trade['amount'] ?? {}) as Fields
  if (trade['mchid'] !== mchid) throw new NotVerified('mchid is another')
  if (trade['appid'] !== appid && (mp === null || trade['appid'] !== mp.appid))
    throw new NotVerified('appid is another')
  if (typeof total !== 'number' || !Number.isSafeInteger(total) || total <= 0)
    throw new NotVerified('the amount cannot be read')
  const payer = trade['payer'] as { readonly openid?: string } | undefined
  const paidAt = Date.parse(String(trade['success_time']))
  return {
    id: String(trade['transaction_id']),
    amountMinor: total,
    currency: String(given),
    payerHash: payerHash('wechatpay', payer?.openid),
    paidAt: Number.isNaN(paidAt) ? Date.now() : paidAt,
  }
}

function startContent(
  order: PaymentOrder,
  details: StartDetails,
  merchant: { readonly mchid: string; readonly appid: string },
) {
  return {
    ...merchant,
    description: details.subject,
    out_trade_no: order.id,
    time_expire: new Date(order.expiresAt).toISOString().replace(/\.\d+Z$/, '+00:00'),
    notify_url: details.notifyUrl,
    amount: { total: order.amountMinor, currency },
    ...(order.method === 'h5' && {
      scene_info: {
        payer_client_ip: details.clientAddress ?? '127.0.0.1',
        h5_info: { type: 'Wap' },
      },
    }),
  }
}

/** H5 sends the customer back to the address in `redirect_url`, which the merchant appends. */
function instructionsOf(reply: Fields, returnUrl: string): Instructions {
  const { code_url: code, h5_url: page } = reply
  if (typeof code === 'string') return { kind: 'qr', url: code }
  if (typeof page === 'string') {
    const url = new URL(page)
    url.searchParams.set('redirect_url', returnUrl)
    return { kind: 'redirect', url: url.href }
  }
  throw new Error('WeChat Pay answered without an address to pay at')
}

function parsed(body: string): Fields {
  try {
    const fields: unknown = JSON.parse(body)
    if (typeof fields === 'object' && fields !== null) return fields as Fields
  } catch {
    throw new NotVerified(unreadable)
  }
  throw new NotVerified(unreadable)
}
