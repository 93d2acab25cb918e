// An offline simulator of payment providers, for tests and play money: real signatures, no mocks, no real money.
import { createAlipay } from './alipay.ts'
import { createPlatformCertificate } from './keys.ts'
import { createMisbehaviours, type Misbehaviour } from './misbehaviour.ts'
import { type Delivery, Notifier } from './notifier.ts'
import { answerPayPage, type PayPage } from './page.ts'
import { type Clock, type Incoming, newTransactionId, type Simulation } from './simulation.ts'
import { type KeptState, openState, type Payment } from './state.ts'
import { createStripe } from './stripe.ts'
import { createDisputes, type Disputes } from './stripe-disputes.ts'
import { createWechatBrowser, type WechatAccount, wechatAccount } from './wechat-browser.ts'
import { createWechatpay, type WechatpayMode } from './wechatpay.ts'

export interface PaysimOptions {
  /** The URL at which it is reached, without a trailing slash: `http://127.0.0.1:8787/paysim`. */
  readonly baseUrl: string
  /** Stores keys and state there (mode 0600, written atomically), so a restart loses nothing; absent: in memory. */
  readonly directory?: string
  /** The time in Unix ms, and timers; tests control them. */
  readonly clock: Clock
  /** Sends notifications. */
  readonly send: (request: Request) => Promise<Response>
  /** How WeChat Pay signs: with its public key, as for new merchants, or with platform certificates. */
  readonly wechatpayMode?: WechatpayMode
  /** The webhook URL that the merchant registered with Stripe; absent: none. */
  readonly stripeWebhookUrl?: string
}

export interface Paysim {
  /** Answers every request below its base address. */
  fetch(request: Request): Promise<Response>
  /** Values for the merchant's configuration. */
  readonly merchant: Merchant
  /** The official account for payments inside WeChat's browser; `wechatpay.mp` of a configuration. */
  readonly mp: WechatAccount
  /** Lets tests control the simulator. */
  readonly control: PaysimControl
  /** Opens and closes disputes of Stripe's payments; for tests. */
  readonly disputes: Disputes
  /** Stops sending notifications. */
  stop(): void
}

/** The merchant's credentials. Keys are PEM. */
interface Merchant {
  readonly alipay: {
    readonly appId: string
    readonly sellerId: string
    readonly privateKey: string
    readonly alipayPublicKey: string
    readonly gateway: string
  }
  readonly wechatpay: {
    readonly mchid: string
    readonly appid: string
    readonly serial: string
    readonly privateKey: string
    readonly apiV3Key: string
    /** Absent with platform certificates. */
    readonly publicKeyId?: string
    readonly publicKey?: string
    readonly baseUrl: string
  }
  readonly stripe: {
    readonly secretKey: string
    readonly webhookSecret: string
    readonly baseUrl: string
  }
}

interface PaysimControl {
  /**
   * Pays an order (named by the merchant's number, or the pay page's id) whatever its state: a paid one gets a second
   * transaction. Resolves when the first notification is answered. Throws where there is no such order.
   */
  pay(orderId: string, how?: { payer?: string; amountMinor?: number }): Promise<void>
  /** Makes faults in the `next` notification and the next API request, or in all before `behave`. */
  misbehave(how: Misbehaviour, until?: 'next' | 'cleared'): void
  behave(): void
  /** Creates a new platform certificate for WeChat Pay's signatures; the previous one stays listed. */
  rotate(): Promise<void>
  payments(): readonly Payment[]
  /** Requests to the simulated APIs, oldest first; the last 1,000. */
  received(): readonly Received[]
  /** Attempts to deliver notifications, oldest first; the last 10,000. */
  deliveries(): readonly Delivery[]
}

interface Received {
  readonly at: number
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly body: string
  readonly status: number
}

const mostReceived = 1000
const largestBody = 64 * 1024
const certificateMs = 5 * 365 * 24 * 3_600_000

/** Throws where the file in the directory cannot be read. */
export async function createPaysim(options: PaysimOptions): Promise<Paysim> {
  const { baseUrl, clock, send } = options
  const kept = await openState(options.directory, clock.now())
  const misbehaviours = createMisbehaviours()
  const simulation: Simulation = {
    baseUrl,
    clock,
    state: kept.state,
    save: kept.save,
    notify: (payment, kind, subjectId) => notifier.notify(payment, kind, subjectId),
  }
  const mode = options.wechatpayMode ?? 'public-key'
  const payWhole = (payment: Payment, payer: string) =>
    pay(simulation, payment, { payer, amountMinor: payment.amountMinor })
  const wechat = createWechatBrowser(simulation, payWhole)
  const sides = {
    alipay: createAlipay(simulation),
    wechatpay: createWechatpay(simulation, mode),
    stripe: createStripe(simulation, options.stripeWebhookUrl ?? ''),
  }
  const notifier = new Notifier({ kept, clock, misbehaviours, sides, send })
  const pages: PayPage = { simulation, sides, pay: payWhole }
  notifier.resume()
  const received: Received[] = []
  const answer = async (request: Request) => {
    const read = await readRequest(request, baseUrl)
    if (read instanceof Response) return { response: read, target: request.url, body: '' }
    const flaws = misbehaviours.ofInterface()
    if (flaws.slowMs !== undefined) await elapsed(clock, flaws.slowMs)
    const inside = flaws.down ? undefined : await wechat({ ...read, flaws })
    return { response: inside ?? (await answerTo(pages, { ...read, flaws })), ...read }
  }
  return {
    merchant: merchantOf(kept, baseUrl, mode),
    mp: wechatAccount(kept.state.keys.wechatpay, baseUrl),
    async fetch(request) {
      const { response, target, body } = await answer(request)
      const { method } = request
      received.push({ at: clock.now(), method, target, body, status: response.status })
      if (received.length > mostReceived) received.shift()
      return response
    },
    control: {
      async pay(orderId, { payer = 'Wang Fang', amountMinor } = {}) {
        const payment = simulation.state.payments.findLast(
          (one) => one.orderId === orderId || one.id === orderId,
        )
        if (payment === undefined) throw new Error(`no order ${orderId}`)
        await pay(simulation, payment, { payer, amountMinor: amountMinor ?? payment.amountMinor })
      },
      misbehave: (how, until = 'next') => misbehaviours.set(how, until),
      behave: () => misbehaviours.clear(),
      async rotate() {
        const { certificates } = kept.state.keys.wechatpay
        const now = clock.now()
        certificates.unshift(await createPlatformCertificate(now, now + certificateMs))
        certificates.splice(2)
        kept.save()
      },
      payments: () => structuredClone(kept.state.payments),
      received: () => [...received],
      deliveries: () => notifier.deliveries(),
    },
    disputes: createDisputes(simulation),
    stop: () => notifier.stop(),
  }
}

function merchantOf(
  { state: { keys } }: KeptState,
  baseUrl: string,
  mode: WechatpayMode,
): Merchant {
  const { mchid, appid, serial, apiV3Key, merchant, publicKeyId, provider } = keys.wechatpay
  return {
    alipay: {
      appId: keys.alipay.appId,
      sellerId: keys.alipay.sellerId,
      privateKey: keys.alipay.merchant.privateKey,
      alipayPublicKey: keys.alipay.provider.publicKey,
      gateway: `${baseUrl}/gateway.do`,
    },
    wechatpay: {
      mchid,
      appid,
      serial,
      privateKey: merchant.privateKey,
      apiV3Key,
      ...(mode === 'public-key' && { publicKeyId, publicKey: provider.publicKey }),
      baseUrl,
    },
    stripe: { ...keys.stripe, baseUrl },
  }
}

async function readRequest(
  request: Request,
  baseUrl: string,
): Promise<Omit<Incoming, 'flaws'> | Response> {
  const { pathname, search, searchParams } = new URL(request.url)
  const base = new URL(baseUrl).pathname.replace(/\/$/, '')
  if (!pathname.startsWith(`${base}/`)) return notFound()
  if (Number(request.headers.get('content-length') ?? 0) > largestBody) return tooLarge()
  const body = await request.text()
  if (body.length > largestBody) return tooLarge()
  return {
    method: request.method,
    path: pathname.slice(base.length),
    target: `${pathname}${search}`,
    query: searchParams,
    headers: request.headers,
    body,
  }
}

async function answerTo(pages: PayPage, request: Incoming): Promise<Response> {
  const page = await answerPayPage(pages, request)
  if (page !== undefined) return page
  if (request.flaws.down) return new Response('Service Unavailable', { status: 503 })
  for (const side of Object.values(pages.sides)) {
    const response = side.answer(request)
    if (response !== undefined) return response
  }
  return notFound()
}

async function pay(
  { clock, save, notify }: Simulation,
  payment: Payment,
  { payer, amountMinor }: { payer: string; amountMinor: number },
): Promise<void> {
  const { provider, transactions } = payment
  const now = clock.now()
  // Alipay's trade has its number before it is paid.
  const isTrade = provider === 'alipay' && transactions.length === 0
  const id = isTrade ? payment.id : newTransactionId(provider, now)
  const transaction = { id, amountMinor, payer, at: now }
  payment.opened = true
  transactions.push(transaction)
  save()
  await notify(payment, 'paid', transaction.id)
}

function tooLarge(): Response {
  return new Response('Content Too Large', { status: 413 })
}

function notFound(): Response {
  return new Response('Not Found', { status: 404 })
}

function elapsed(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve)
  })
}
