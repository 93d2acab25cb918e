// The section of the file on payments: amounts, the first bonus, and the merchant's account at each provider.

import { z } from 'zod'
import { readPrivateKey, readPublicKey } from './rsa-keys.ts'
import { baseUrlExpected, isBaseUrl, withoutTrailingSlash } from './rules.ts'
import {
  checkedText,
  choice,
  decimal,
  key,
  pairs,
  section,
  text,
  wholeNumber,
  yesOrNo,
} from './schema-parts.ts'

/** A secret or a key in PEM. It may be empty where the environment has none: the provider is then off. */
function keyText(description: string) {
  return z
    .string('expected text, or { file: PATH }')
    .max(65_536, 'expected at most 65536 characters')
    .meta({ description, fromFile: true })
}

function privateKeyText(description: string) {
  return keyText(description).refine(
    (text) => text === '' || readPrivateKey(text) !== null,
    'expected an RSA private key: PEM, or its Base64 part alone',
  )
}

function publicKeyText(description: string) {
  return keyText(description).refine(
    (text) => text === '' || readPublicKey(text) !== null,
    'expected an RSA public key or its certificate: PEM, or its Base64 part alone',
  )
}

const address = checkedText(baseUrlExpected, isBaseUrl).transform(withoutTrailingSlash)

const alipay = section({
  appId: text().meta({ description: 'Id of the application at Alipay.' }),
  privateKey: privateKeyText('RSA private key of the application: PEM, or its Base64 part alone.'),
  alipayPublicKey: publicKeyText(
    'RSA public key of Alipay, not of the application: PEM, or its Base64 part alone.',
  ),
  sellerId: key(
    text(),
    'Id of the merchant (2088...); payments to any other are refused. Left out: not checked.',
  ),
  gateway: key(address, "Address of the provider's API.", 'https://openapi.alipay.com/gateway.do'),
})

const mp = section({
  appid: text().meta({
    description: "Id of the merchant's official account, in which WeChat opens the pay page.",
  }),
  secret: z
    .string('expected text, or { file: PATH }')
    .max(256, 'expected at most 256 characters')
    .meta({ description: 'AppSecret of the official account.', fromFile: true }),
  authorizeUrl: key(
    address,
    "Address to which a customer's browser is sent to be identified by WeChat.",
    'https://open.weixin.qq.com/connect/oauth2/authorize',
  ),
  baseUrl: key(
    address,
    "Address of the API that exchanges WeChat's code for the customer's identity.",
    'https://api.weixin.qq.com',
  ),
})

const wechatpay = section({
  mchid: text().meta({ description: 'Merchant number.' }),
  appid: text().meta({ description: 'Id of the application for which payments are made.' }),
  serial: text().meta({
    description: "Serial number of the merchant's API certificate, hexadecimal.",
  }),
  privateKey: privateKeyText('RSA private key of the merchant, PEM.'),
  apiV3Key: z
    .string('expected text, or { file: PATH }')
    .regex(/^(.{32})?$/, 'expected 32 characters')
    .meta({ description: 'APIv3 key, 32 characters.', fromFile: true }),
  publicKeyId: key(
    text(),
    "Id of the public key with which WeChat Pay's signatures are checked (PUB_KEY_ID_...); required with publicKey.",
  ),
  publicKey: key(
    publicKeyText(
      "Public key with which WeChat Pay's signatures are checked, PEM; left out: the platform certificates are fetched.",
    ),
    "Public key with which WeChat Pay's signatures are checked, PEM; left out: the platform certificates are fetched.",
  ),
  baseUrl: key(address, "Address of the provider's API.", 'https://api.mch.weixin.qq.com'),
  mp: key(
    mp,
    "Official account for payments inside WeChat's own browser (JSAPI); left out: that method is not offered.",
  ),
}).refine(({ publicKeyId, publicKey }) => (publicKeyId === null) === (publicKey === null), {
  path: ['publicKey'],
  error: 'must be set together with publicKeyId',
})

const stripe = section({
  secretKey: keyText('Secret key (sk_...).').refine(
    (value) => !value.startsWith('pk_'),
    'expected the secret key (sk_... or rk_...), not the publishable one',
  ),
  webhookSecret: keyText('Signing secret of the webhook (whsec_...).'),
  currency: key(
    z.string().regex(/^[A-Z]{3}$/, 'expected three capital letters such as USD'),
    "Currency in which payers are charged; it must have two decimals. Left out: the deployment's currency.",
  ),
  baseUrl: key(address, "Address of the provider's API.", 'https://api.stripe.com'),
})

const money = decimal(2, '10')

const firstTopUp = section({
  percent: key(decimal(4, '10'), 'Bonus in percent of the payment.'),
  amount: key(money, "Fixed bonus in the deployment's currency, in place of percent."),
  tiers: key(
    z.array(
      section({
        from: money.meta({
          description: "Smallest payment of the tier, in the deployment's currency.",
        }),
        percent: decimal(4, '20').meta({ description: 'Bonus in percent of the payment.' }),
      }),
      'expected a list of tiers',
    ),
    'Other percentages for larger payments; the highest tier reached applies.',
    [],
  ),
  max: key(money, "Largest bonus, in the deployment's currency; left out: no limit."),
  minimum: key(money, "Smallest payment that earns a bonus, in the deployment's currency.", '0'),
  days: key(
    wholeNumber(1, 3_650),
    'Days after which the rest of the bonus is removed from the wallet; left out: never.',
  ),
  spent: key(
    choice(['first', 'last']),
    'Whether the bonus is spent before (first) or after (last) the rest of the balance.',
    'last',
  ),
}).refine(
  ({ percent, amount, tiers }) => (amount === null) !== (percent === null && tiers.length === 0),
  {
    path: ['percent'],
    error: 'expected percent (with or without tiers) or amount, one of them',
  },
)

export const payments = section({
  minimum: key(
    money.refine((least) => Number(least) >= 1, 'expected at least 1'),
    "Smallest amount of one order, in the provider's currency.",
    '1',
  ),
  maximum: key(
    money.refine((most) => Number(most) >= 1, 'expected at least 1'),
    "Largest amount of one order, in the provider's currency.",
    '10000',
  ),
  presets: key(
    z.array(money, 'expected a list of amounts').max(12, 'expected at most 12 amounts'),
    "Amounts offered to choose from, in the provider's currency.",
    ['10', '50', '100', '500'],
  ),
  orderMinutes: key(wholeNumber(5, 1_440), 'Minutes after which an unpaid order expires.', 15),
  queryBeforeCredit: key(
    yesOrNo,
    "Whether a payment is credited only after a query to its provider confirms it, for the case that a provider's key has leaked; false: a signed notification of the ordered amount is enough.",
    false,
  ),
  issuer: key(text(), 'Seller of the credit, as printed on receipts.'),
  simulator: key(
    yesOrNo,
    'Whether customers can pay with play money while no provider is configured and only this machine can reach the gateway.',
    true,
  ),
  rates: key(
    pairs(
      z.string().regex(/^[A-Z]{3}$/, 'expected three capital letters such as CNY'),
      decimal(7, '0.14').refine((rate) => Number(rate) > 0, 'expected more than 0'),
    ),
    'Credit in the deployment\'s currency for one unit of a provider\'s currency: { CNY: "0.14" }; left out: 1, whatever the currency.',
  ),
  bonus: key(
    section({
      firstTopUp: key(
        firstTopUp,
        'Bonus on the first payment, given once for each account and once for each payer.',
      ),
    }),
    'Credit given in addition to payments.',
  ),
  alipay: key(alipay, 'Alipay; not offered if left out or if a key is empty.'),
  wechatpay: key(wechatpay, 'WeChat Pay (API v3); not offered if left out or if a key is empty.'),
  stripe: key(stripe, 'Stripe Checkout; not offered if left out or if a secret is empty.'),
}).refine(({ minimum, maximum }) => Number(minimum) <= Number(maximum), {
  path: ['maximum'],
  error: 'expected at least minimum',
})
