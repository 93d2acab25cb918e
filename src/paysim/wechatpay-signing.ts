// WeChat Pay v3's cryptography on both sides: verifies requests, and signs and encrypts replies and notifications.
// https://pay.weixin.qq.com/doc/v3/merchant/4012365342 and related pages.
import { createCipheriv, randomBytes, sign, verify } from 'node:crypto'
import type { Keys } from './keys.ts'
import type { Incoming } from './simulation.ts'

/** A signing key; its serial is sent with each signature. */
export interface Signer {
  readonly serial: string
  readonly privateKey: string
}

const furthestSeconds = 300

/** Why the request's `authorization` is not the merchant's; undefined where it is. */
export function signatureFault(
  request: Incoming,
  keys: Keys['wechatpay'],
  now: number,
): string | undefined {
  const [scheme = '', fields = ''] = (request.headers.get('authorization') ?? '').split(/ (.*)/s)
  if (scheme !== 'WECHATPAY2-SHA256-RSA2048') return 'Http头Authorization值格式错误'
  const given = new Map(
    [...fields.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
  const of = (name: string): string => given.get(name) ?? ''
  if (of('mchid') !== keys.mchid) return '商户号不存在'
  if (of('serial_no') !== keys.serial) return '商户证书序列号有误'
  const seconds = Number(of('timestamp'))
  if (!(Math.abs(now / 1000 - seconds) <= furthestSeconds))
    return 'Http头Authorization中的timestamp与发起请求的时间不得超过5分钟'
  const text = lines(request.method, request.target, of('timestamp'), of('nonce_str'), request.body)
  const valid = verify(
    'sha256',
    text,
    keys.merchant.publicKey,
    Buffer.from(of('signature'), 'base64'),
  )
  return valid ? undefined : '签名错误'
}

/** The signature headers for `body`. */
export function signedHeaders(body: string, signer: Signer, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000))
  const nonce = randomBytes(16).toString('hex')
  const signature = sign('sha256', lines(timestamp, nonce, body), signer.privateKey)
  return {
    'wechatpay-timestamp': timestamp,
    'wechatpay-nonce': nonce,
    'wechatpay-serial': signer.serial,
    'wechatpay-signature': signature.toString('base64'),
    'wechatpay-signature-type': 'WECHATPAY2-SHA256-RSA2048',
  }
}

function lines(...parts: readonly string[]): Buffer {
  return Buffer.from(parts.map((part) => `${part}\n`).join(''))
}

/** Encrypts by AEAD_AES_256_GCM with the APIv3 key: the tag is the last 16 bytes. */
export function encrypted(text: string, apiV3Key: string, associatedData: string) {
  const nonce = randomBytes(6).toString('hex')
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(apiV3Key), Buffer.from(nonce))
  cipher.setAAD(Buffer.from(associatedData))
  const parts = [cipher.update(text), cipher.final(), cipher.getAuthTag()]
  return {
    algorithm: 'AEAD_AES_256_GCM',
    nonce,
    associated_data: associatedData,
    ciphertext: Buffer.concat(parts).toString('base64'),
  }
}
