// Providers' own keys and signatures, made with node:crypto alone and no code of the product.

import {
  createCipheriv,
  createHmac,
  createSign,
  createVerify,
  generateKeyPairSync,
  randomBytes,
} from 'node:crypto'

const pair = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

export const merchantKeys = pair()
export const providerKeys = pair()
export const apiV3Key = 'k'.repeat(32)
export const webhookSecret = 'whsec_test'

export function signed(text: string, algorithm = 'RSA-SHA256', key = providerKeys): string {
  return createSign(algorithm).update(text).sign(key.privateKey, 'base64')
}

const alipayText = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields)
    .filter(([name]) => name !== 'sign' && name !== 'sign_type')
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')

/** A notification of Alipay; `late` is added after it was signed. */
export function alipayNotification(
  order: { readonly id: string; readonly amount: string },
  change: Readonly<Record<string, string>> = {},
  late: Readonly<Record<string, string>> = {},
): string {
  const fields: Record<string, string> = {
    app_id: 'app-1',
    seller_id: '2088',
    notify_id: 'n-1',
    out_trade_no: order.id,
    trade_no: `trade-${order.id}`,
    trade_status: 'TRADE_SUCCESS',
    total_amount: order.amount,
    buyer_id: 'buyer-1',
    subject: '100% credit',
    gmt_payment: '2026-11-23 12:00:00',
    sign_type: 'RSA2',
    ...change,
  }
  const algorithm = fields['sign_type'] === 'RSA' ? 'RSA-SHA1' : 'RSA-SHA256'
  const sign = signed(alipayText(fields), algorithm)
  return new URLSearchParams({ ...fields, sign, ...late }).toString()
}

/** A reply of Alipay's gateway. */
export function alipayReply(method: string, reply: object): string {
  const text = JSON.stringify(reply)
  return `{"${method.replaceAll('.', '_')}_response":${text},"sign":"${signed(text)}"}`
}

/** Whether the merchant's own key signed the query of this address. */
export function isSignedByMerchant(url: URL): boolean {
  const fields = Object.fromEntries(url.searchParams)
  const text = Object.keys(fields)
    .filter((name) => name !== 'sign')
    .sort()
    .map((name) => `${name}=${fields[name]}`)
    .join('&')
  return createVerify('RSA-SHA256')
    .update(text)
    .verify(merchantKeys.publicKey, fields['sign'] ?? '', 'base64')
}

export const wechatSerial = 'PUB_KEY_ID_0001'

export function wechatHeaders(
  body: string,
  change: { readonly atMs?: number; readonly serial?: string; readonly signature?: string } = {},
): Record<string, string> {
  const timestamp = String(Math.floor((change.atMs ?? Date.now()) / 1_000))
  const nonce = randomBytes(16).toString('hex')
  return {
    'wechatpay-timestamp': timestamp,
    'wechatpay-nonce': nonce,
    'wechatpay-serial': change.serial ?? wechatSerial,
    'wechatpay-signature': change.signature ?? signed(`${timestamp}\n${nonce}\n${body}\n`),
  }
}

/** The body of a notification of WeChat Pay. */
export function wechatNotification(
  order: { readonly id: string; readonly amountMinor: number },
  change: Readonly<Record<string, unknown>> = {},
): string {
  const trade = {
    mchid: 'mch-1',
    appid: 'wx-1',
    out_trade_no: order.id,
    transaction_id: `wx-${order.id}`,
    trade_state: 'SUCCESS',
    success_time: '2026-11-23T12:00:00+08:00',
    payer: { openid: 'open-1' },
    amount: { total: order.amountMinor, currency: 'CNY' },
    ...change,
  }
  const nonce = 'n'.repeat(12)
  const cipher = createCipheriv('aes-256-gcm', apiV3Key, nonce)
  cipher.setAAD(Buffer.from('transaction'))
  const sealed = Buffer.concat([cipher.update(JSON.stringify(trade)), cipher.final()])
  return JSON.stringify({
    id: 'e-1',
    event_type: 'TRANSACTION.SUCCESS',
    resource: {
      algorithm: 'AEAD_AES_256_GCM',
      nonce,
      associated_data: 'transaction',
      ciphertext: Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64'),
    },
  })
}

export function stripeSignature(body: string, secret = webhookSecret, atMs = Date.now()): string {
  const time = Math.floor(atMs / 1_000)
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`
}

export function stripeNotification(
  order: { readonly id: string; readonly amountMinor: number },
  change: object = {},
): string {
  const object = {
    id: 'cs_1',
    client_reference_id: order.id,
    metadata: { checkout_order: order.id },
    payment_status: 'paid',
    payment_intent: `pi_${order.id}`,
    amount_total: order.amountMinor,
    currency: 'usd',
    customer_details: { email: 'Ann@Example.com' },
    ...change,
  }
  return JSON.stringify({ id: 'evt_1', type: 'checkout.session.completed', data: { object } })
}
