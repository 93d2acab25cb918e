// The page on which a payer pays or cancels: plain HTML without scripts, in English or Chinese.
import { createHash } from 'node:crypto'
import type { Incoming, ProviderSide, Simulation } from './simulation.ts'
import { type Payment, type PaymentStatus, type Provider, statusOf } from './state.ts'

export interface PayPage {
  readonly simulation: Simulation
  readonly sides: Readonly<Record<Provider, ProviderSide>>
  readonly pay: (payment: Payment, payer: string) => Promise<void>
}

const payers = ['Wang Fang', 'Li Wei', 'Zhang Min', 'Alex Smith']

const texts = {
  en: {
    title: 'Simulated payment: no real money',
    to: 'Order',
    amount: 'Amount',
    payer: 'Pay as',
    pay: 'Pay',
    cancel: 'Cancel',
    paid: 'Paid. You may close this page.',
    refunded: 'Paid, and refunded since.',
    closed: 'This order is closed and can no longer be paid.',
    open: 'Not paid. You may close this page, or open it again to pay.',
    unknown: 'There is no such order.',
    down: 'Temporarily unavailable.',
  },
  zh: {
    title: '模拟支付：不涉及真实资金',
    to: '订单',
    amount: '金额',
    payer: '付款人',
    pay: '支付',
    cancel: '取消',
    paid: '支付成功，可以关闭此页面。',
    refunded: '已支付，之后已退款。',
    closed: '订单已关闭，无法支付。',
    open: '尚未支付。可以关闭此页面，或重新打开后支付。',
    unknown: '订单不存在。',
    down: '暂时无法使用。',
  },
} as const

type Texts = (typeof texts)['en'] | (typeof texts)['zh']

const names = {
  alipay: { en: 'Alipay', zh: '支付宝' },
  wechatpay: { en: 'WeChat Pay', zh: '微信支付' },
  stripe: { en: 'Stripe', zh: 'Stripe' },
} as const

const style = `
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #111; background: #f5f5f5 }
main { max-width: 26rem; margin: 8vh auto; padding: 1.5rem; background: #fff; border: 1px solid #ddd }
h1 { margin: 0 0 1rem; font-size: 1.75rem; line-height: 1.2; color: #b42318 }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; overflow-wrap: anywhere }
dd { margin: 0 }
label { display: block; margin: 1rem 0 }
select, button { font: inherit; min-height: 2.75rem; width: 100%; margin-top: .5rem }
button[value=pay] { background: #111; color: #fff; border: 0 }
`
const styleHash = createHash('sha256').update(style).digest('base64')

/** Undefined where the path is not a pay page. */
export async function answerPayPage(
  { simulation, sides, pay }: PayPage,
  request: Incoming,
): Promise<Response | undefined> {
  const [, provider, id] = /^\/pay\/(alipay|wechatpay|stripe)\/(\w+)$/.exec(request.path) ?? []
  if (id === undefined) return undefined
  const language = languageOf(request.headers.get('accept-language') ?? '')
  const text = texts[language]
  if (request.flaws.down) return page(language, 503, '', `<p>${text.down}</p>`)
  const payment = simulation.state.payments.find((one) => {
    return one.id === id && one.provider === provider
  })
  if (payment === undefined) return page(language, 404, '', `<p>${text.unknown}</p>`)
  if (!payment.opened) {
    payment.opened = true
    simulation.save()
  }
  const side = sides[payment.provider]
  const origin = webAddress(side.returnAddress(payment, request.query) ?? payment.cancelUrl)?.origin
  const status = statusOf(payment, simulation.clock.now())
  if (request.method !== 'POST') {
    return page(language, 200, origin ?? '', summary(language, payment) + content(text, status))
  }
  const form = new URLSearchParams(request.body)
  if (form.get('action') === 'pay' && status === 'open') {
    await pay(payment, form.get('payer') ?? '')
    return leave(side.returnAddress(payment, request.query)) ?? done(language, payment, 'paid')
  }
  const left = form.get('action') === 'cancel' ? leave(payment.cancelUrl) : undefined
  return left ?? done(language, payment, status)
}

function languageOf(accepted: string): 'en' | 'zh' {
  const [chinese, english] = [/\bzh\b/i.exec(accepted), /\ben\b/i.exec(accepted)]
  if (chinese === null) return 'en'
  return english === null || chinese.index < english.index ? 'zh' : 'en'
}

/** Undefined where it is not a web address. The form policy must allow its origin, since it also covers redirects. */
function webAddress(address: string): URL | undefined {
  const url = URL.parse(address)
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined
}

/** Redirects to the merchant's URL or, with WeChat Pay's H5, the request's; undefined where it is no web address. */
function leave(address = ''): Response | undefined {
  const to = webAddress(address)
  return to && new Response(null, { status: 303, headers: { location: to.href } })
}

function done(language: 'en' | 'zh', payment: Payment, status: PaymentStatus): Response {
  const text = `<p>${texts[language][status]}</p>`
  return page(language, 200, '', summary(language, payment) + text)
}

function content(text: Texts, status: PaymentStatus): string {
  if (status !== 'open') return `<p>${text[status]}</p>`
  const options = payers.map((payer) => `<option>${payer}</option>`).join('')
  return `<form method="post">
<label>${text.payer} <select name="payer">${options}</select></label>
<button name="action" value="pay">${text.pay}</button>
<button name="action" value="cancel">${text.cancel}</button>
</form>`
}

function summary(language: 'en' | 'zh', payment: Payment): string {
  const text = texts[language]
  const amount = new Intl.NumberFormat(language, { style: 'currency', currency: payment.currency })
  const places = amount.resolvedOptions().maximumFractionDigits ?? 2
  return `<p>${names[payment.provider][language]}: ${escaped(payment.subject)}</p>
<dl><dt>${text.amount}</dt><dd>${escaped(amount.format(payment.amountMinor / 10 ** places))}</dd>
<dt>${text.to}</dt><dd>${escaped(payment.orderId)}</dd></dl>`
}

function page(language: 'en' | 'zh', status: number, origin: string, body: string): Response {
  const { title } = texts[language]
  const html = `<!doctype html>
<html lang="${language === 'zh' ? 'zh-CN' : 'en'}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${style}</style></head>
<body><main><h1>${title}</h1>
${body}
</main></body></html>
`
  return new Response(html, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self' ${origin}; base-uri 'none'; frame-ancestors 'none'`,
    },
  })
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
