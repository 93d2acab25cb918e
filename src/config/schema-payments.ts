// The section of the file on payments: amounts, the first bonus, and the merchant's account at each provider.

import { z } from 'zod'
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

const address = checkedText(baseUrlExpected, isBaseUrl).transform(withoutTrailingSlash)

const alipay = section({
  appId: text().meta({ description: 'The application at the provider.' }),
  privateKey: keyText("The application's RSA key: PEM, or its Base64 alone."),
  alipayPublicKey: keyText("The provider's RSA key, not the application's: PEM, or Base64 alone."),
  sellerId: key(
    text(),
    'The merchant (2088...): payments to another are refused; left out: not compared.',
  ),
  gateway: key(address, 'Where it is reached.', 'https://openapi.alipay.com/gateway.do'),
})

const mp = section({
  appid: text().meta({
    description: 'The official account whose pages WeChat opens; of the merchant.',
  }),
  secret: z
    .string('expected text, or { file: PATH }')
    .max(256, 'expected at most 256 characters')
    .meta({ description: 'Its AppSecret.', fromFile: true }),
  authorizeUrl: key(
    address,
    "Where a customer's browser is asked who it is.",
    'https://open.weixin.qq.com/connect/oauth2/authorize',
  ),
  baseUrl: key(address, 'Where its answer is exchanged.', 'https://api.weixin.qq.com'),
})

const wechatpay = section({
  mchid: text().meta({ description: 'The merchant.' }),
  appid: text().meta({ description: 'The application that is paid in.' }),
  serial: text().meta({ description: "Serial number of the merchant's certificate, hexadecimal." }),
  privateKey: keyText("The merchant's RSA key, PEM."),
  apiV3Key: z
    .string('expected text, or { file: PATH }')
    .regex(/^(.{32})?$/, 'expected 32 characters')
    .meta({ description: 'The APIv3 key: 32 characters.', fromFile: true }),
  publicKeyId: key(
    text(),
    'Id of the key the provider signs with (PUB_KEY_ID_...); with publicKey.',
  ),
  publicKey: key(
    keyText(
      'The key the provider signs with, PEM; left out: its platform certificates are fetched.',
    ),
    'The key the provider signs with, PEM; left out: its platform certificates are fetched.',
  ),
  baseUrl: key(address, 'Where it is reached.', 'https://api.mch.weixin.qq.com'),
  mp: key(mp, "For payments inside WeChat's own browser (JSAPI); left out: there are none."),
}).refine(({ publicKeyId, publicKey }) => (publicKeyId === null) === (publicKey === null), {
  path: ['publicKey'],
  error: 'goes with publicKeyId: one is of no use without the other',
})

const stripe = section({
  secretKey: keyText('The secret key (sk_...).'),
  webhookSecret: keyText("The webhook's signing secret (whsec_...)."),
  currency: key(
    z.string().regex(/^[A-Z]{3}$/, 'expected three capital letters such as USD'),
    "What is charged in, of two decimals; left out: the deployment's currency.",
  ),
  baseUrl: key(address, 'Where it is reached.', 'https://api.stripe.com'),
})

const money = decimal(2, '10')

const firstTopUp = section({
  percent: key(decimal(4, '10'), 'Of what is paid.'),
  amount: key(money, 'Fixed, in place of percent.'),
  tiers: key(
    z.array(
      section({
        from: money.meta({ description: 'For payments of at least this.' }),
        percent: decimal(4, '20').meta({ description: 'Of what is paid.' }),
      }),
      'expected a list of tiers',
    ),
    'Higher percentages for larger payments.',
    [],
  ),
  max: key(money, 'Most that is given.'),
  minimum: key(money, 'Least that must be paid for it.', '0'),
  days: key(wholeNumber(1, 3_650), 'It expires so long after; left out: never.'),
  spent: key(
    choice(['first', 'last']),
    'Whether it is spent before or after what was paid.',
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
    "Least that can be paid at once, in the provider's currency.",
    '1',
  ),
  maximum: key(
    money.refine((most) => Number(most) >= 1, 'expected at least 1'),
    "Most that can be paid at once, in the provider's currency.",
    '10000',
  ),
  presets: key(
    z.array(money, 'expected a list of amounts').max(12, 'expected at most 12 amounts'),
    'Amounts that are offered.',
    ['10', '50', '100', '500'],
  ),
  orderMinutes: key(wholeNumber(5, 1_440), 'An order can be paid for so long.', 15),
  queryBeforeCredit: key(
    yesOrNo,
    'A notification alone credits nothing: its provider is asked first, in case its key has leaked.',
    false,
  ),
  issuer: key(text(), 'Who sells the credit: stands on receipts.'),
  simulator: key(
    yesOrNo,
    'Payments in play money, as long as no provider is configured and only this machine reaches the gateway.',
    true,
  ),
  rates: key(
    pairs(
      z.string().regex(/^[A-Z]{3}$/, 'expected three capital letters such as CNY'),
      decimal(7, '0.14').refine((rate) => Number(rate) > 0, 'expected more than 0'),
    ),
    'What one unit of a provider\'s currency is credited as, in the deployment\'s: { CNY: "0.14" }; left out: one to one.',
  ),
  bonus: key(
    section({ firstTopUp: key(firstTopUp, 'Once for each account, and once for each payer.') }),
    'What is given beside what is paid.',
  ),
  alipay: key(alipay, 'Alipay; left out, or with an empty key: not offered.'),
  wechatpay: key(wechatpay, 'WeChat Pay (API v3); left out, or with an empty key: not offered.'),
  stripe: key(stripe, 'Stripe Checkout; left out, or with an empty secret: not offered.'),
}).refine(({ minimum, maximum }) => Number(minimum) <= Number(maximum), {
  path: ['maximum'],
  error: 'expected at least minimum',
})
