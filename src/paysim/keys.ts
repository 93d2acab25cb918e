// The keys and ids of the simulator's merchant and of the simulated providers: real RSA-2048 key pairs.
import { generateKeyPair, randomBytes, randomInt } from 'node:crypto'
import { promisify } from 'node:util'
import { selfSignedCertificate } from './certificate.ts'

/** In PEM: PKCS #8 and SPKI. */
interface KeyPair {
  readonly privateKey: string
  readonly publicKey: string
}

/** A platform certificate of WeChat Pay with its private key; times in Unix ms. */
export interface PlatformCertificate {
  readonly serial: string
  readonly privateKey: string
  readonly certificate: string
  readonly effectiveAt: number
  readonly expiresAt: number
}

export interface Keys {
  readonly alipay: {
    readonly appId: string
    readonly sellerId: string
    readonly merchant: KeyPair
    readonly provider: KeyPair
  }
  readonly wechatpay: {
    readonly mchid: string
    readonly appid: string
    readonly serial: string
    readonly apiV3Key: string
    readonly merchant: KeyPair
    readonly publicKeyId: string
    readonly provider: KeyPair
    /** Newest first; the first is used to sign. */
    readonly certificates: PlatformCertificate[]
  }
  readonly stripe: { readonly secretKey: string; readonly webhookSecret: string }
}

const yearMs = 365 * 24 * 3_600_000

export async function createKeys(now: number): Promise<Keys> {
  const [alipay, alipayProvider, wechat, wechatProvider, certificate] = await Promise.all([
    createKeyPair(),
    createKeyPair(),
    createKeyPair(),
    createKeyPair(),
    createPlatformCertificate(now, now + 5 * yearMs),
  ])
  return {
    alipay: {
      appId: `2021${digits(12)}`,
      sellerId: `2088${digits(12)}`,
      merchant: alipay,
      provider: alipayProvider,
    },
    wechatpay: {
      mchid: `19${digits(8)}`,
      appid: `wx${randomBytes(8).toString('hex')}`,
      serial: newSerial(),
      apiV3Key: randomBytes(16).toString('hex'),
      merchant: wechat,
      publicKeyId: `PUB_KEY_ID_01${digits(30)}`,
      provider: wechatProvider,
      certificates: [certificate],
    },
    stripe: {
      secretKey: `sk_test_paysim${randomBytes(16).toString('hex')}`,
      webhookSecret: `whsec_paysim${randomBytes(16).toString('hex')}`,
    },
  }
}

/** Returns PEM without a final line break, with which alipay-sdk would not recognize it. */
export async function createKeyPair(): Promise<KeyPair> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { privateKey: privateKey.trim(), publicKey: publicKey.trim() }
}

export async function createPlatformCertificate(
  effectiveAt: number,
  expiresAt: number,
): Promise<PlatformCertificate> {
  const pair = await createKeyPair()
  const serial = newSerial()
  const certificate = selfSignedCertificate({
    ...pair,
    serial,
    effectiveAt,
    expiresAt,
    commonName: 'Paysim: no real money',
  })
  return { serial, privateKey: pair.privateKey, certificate, effectiveAt, expiresAt }
}

/** 40 hexadecimal digits; the first one keeps the number positive and of full length. */
function newSerial(): string {
  return `5${randomBytes(20).toString('hex').slice(1)}`.toUpperCase()
}

/** `count` random decimal digits. */
export function digits(count: number): string {
  return Array.from({ length: count }, () => randomInt(10)).join('')
}
