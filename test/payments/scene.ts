// A deployment that is paid through the simulator: the product's own code on one side, the simulator's on the other.

import { auditLedger } from '../../src/admin/audit.ts'
import { loadConfiguration } from '../../src/admin/configuration.ts'
import type { OrderDesk } from '../../src/admin/orders.ts'
import type { PaymentSettings } from '../../src/config/types.ts'
import { createPayments, type Payments } from '../../src/payments/payments.ts'
import type { Store } from '../../src/store/store.ts'
import { makeDirectory, makeSchema } from '../contract/databases.ts'
import { type ControlStage, controlStage, origin, person } from '../support/control.ts'
import { type PaysimScene, startPaysim } from '../support/paysim.ts'

export interface PaymentScene {
  readonly stage: ControlStage
  readonly simulator: PaysimScene
  /** The providers by which this deployment may be paid. */
  readonly payments: Payments
  readonly settings: PaymentSettings
  /** Errors that were handled and reported while the deployment ran. */
  readonly problems: Error[]
  /** A second process, whose calls of the store and of providers pass through `around`. */
  deskOn(around: Around): OrderDesk & { readonly store: Store }
  /** An order of a new account. */
  order(wanted: Wanted): Promise<Ordered>
  /** Sends a notification of the simulator again: the last, unless `index` is given. */
  again(how?: { readonly path?: string; readonly index?: number }): Promise<number>
  audit(): Promise<readonly unknown[]>
  close(): Promise<void>
}

export type Around = <Result>(call: () => Promise<Result>) => Promise<Result>

interface Wanted {
  readonly provider: string
  readonly method?: string
  readonly amount?: string
  /** Left out: a new one. */
  readonly account?: string
}

export interface Ordered {
  readonly id: string
  readonly account: string
  readonly pay: { readonly kind: string; readonly url: string }
  /** With its timeline. */
  read(): Promise<ReturnType<typeof JSON.parse>>
  post(
    what: 'check' | 'cancel',
  ): Promise<{ readonly status: number; readonly json: ReturnType<typeof JSON.parse> }>
  refund(
    body: object,
  ): Promise<{ readonly status: number; readonly json: ReturnType<typeof JSON.parse> }>
  postedNano(): Promise<bigint | undefined>
}

interface SceneOptions {
  readonly databaseUrl: string | null
  readonly wechatpayMode?: 'public-key' | 'certificate'
  /** Added to the section `payments`. */
  readonly payments?: object
  /** WeChat Pay also has an official account. */
  readonly mp?: true
}

export async function startPaymentScene(options: SceneOptions): Promise<PaymentScene> {
  const { databaseUrl, wechatpayMode = 'public-key' } = options
  const directory = makeDirectory()
  const schema = databaseUrl === null ? null : await makeSchema(databaseUrl)
  const webhook = `${origin}/api/payments/stripe/notify`
  const simulator = await startPaysim({ base: '/paysim', wechatpayMode, stripeWebhookUrl: webhook })
  const { merchant, mp } = simulator.paysim
  const wechatpay = { ...merchant.wechatpay, ...(options.mp && { mp }) }
  const settings = await settingsOf(directory.path, simulator, { wechatpay, ...options.payments })
  const problems: Error[] = []
  const parts = {
    settings,
    currency: 'CNY',
    mode: 'live',
    noteEveryMs: 0,
    onProblem: (error: unknown) => {
      problems.push(error instanceof Error ? error : new Error(String(error)))
    },
  } as const
  let payments: Payments
  const desk = async () => ({ ...parts, payments, address: origin })
  const stage = await controlStage({ databaseUrl: schema?.url, services: { orders: { desk } } })
  payments = createPayments({ ...parts, store: stage.store, send: ask })
  const deliver = async (url: string, headers: Headers, body: string) =>
    stage.reply(null, new URL(url).pathname, { method: 'POST', headers, body })
  simulator.merchantAnswers = ({ url, headers, body }) => deliver(url, headers, body)
  let count = 0
  return {
    stage,
    simulator,
    payments,
    settings,
    problems,
    deskOn(around) {
      const store = storeAround(stage.store, around)
      const send: typeof ask = (request) => around(() => ask(request))
      return {
        ...{ ...parts, store, address: origin },
        payments: createPayments({ ...parts, store, send }),
      }
    },
    async order({ account = `payer-${++count}`, ...wanted }) {
      await stage.store.accounts.ensure(account, 1)
      return placeOrder(stage, account, wanted)
    },
    async again({ path, index = -1 } = {}) {
      const sent = simulator.notified.at(index)
      if (sent === undefined) throw new Error('nothing was sent')
      const url = path === undefined ? sent.url : `${origin}${path}`
      return (await deliver(url, sent.headers, sent.body)).status
    },
    audit: async () => (await auditLedger({ store: stage.store })).findings,
    async close() {
      await simulator.stop()
      await stage.close()
      await schema?.drop()
      directory.remove()
    },
  }
}

function storeAround(store: Store, around: Around): Store {
  const passing = (table: object) =>
    new Proxy(table, {
      get(of, name) {
        const member: unknown = Reflect.get(of, name)
        if (typeof member !== 'function') return member
        return (...given: unknown[]) => around(async () => member.apply(of, given))
      },
    })
  const tables = Object.entries(store).map(([name, table]) => {
    return [name, typeof table === 'object' ? passing(table) : table]
  })
  return Object.fromEntries(tables)
}

async function ask(request: {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}) {
  const { url, method, headers, body } = request
  const reply = await fetch(url, { method, headers, ...(body !== undefined && { body }) })
  const bytes = new Uint8Array(await reply.arrayBuffer())
  return {
    status: reply.status,
    text: new TextDecoder().decode(bytes),
    bytes,
    header: (name: string) => reply.headers.get(name),
  }
}

async function settingsOf(
  path: string,
  { paysim }: PaysimScene,
  more: object = {},
): Promise<PaymentSettings> {
  const file = `${path}/config.json`
  await Bun.write(
    file,
    JSON.stringify({ currency: 'CNY', payments: { ...paysim.merchant, ...more } }),
  )
  return (await loadConfiguration({ flags: { config: file, data: path }, env: {} })).payments
}

let attempts = 0

async function placeOrder(
  stage: ControlStage,
  account: string,
  { provider, method, amount = '10.00' }: Wanted,
): Promise<Ordered> {
  const [as, root] = [person(account), person('root', 'admin')]
  const attempt = `attempt-${++attempts}`
  const body = { provider, amount, attempt, ...(method !== undefined && { method }) }
  const { status, json } = await stage.send(as, 'POST', '/api/orders', { body })
  if (status !== 201) throw new Error(`${status}: ${JSON.stringify(json)}`)
  const path = `/api/orders/${json.id}`
  return {
    id: json.id,
    account,
    pay: json.pay,
    read: async () => (await stage.send(as, 'GET', path)).json,
    post: (what) => stage.send(as, 'POST', `${path}/${what}`),
    refund: (asked) => stage.send(root, 'POST', `${path}/refund`, { body: asked }),
    postedNano: async () => (await stage.store.journal.wallet(account))?.postedNano,
  }
}
