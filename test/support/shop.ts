// A deployment that sells credit, as real processes, and the payment simulator as its providers.

import { createManagementKey } from '../../src/admin/management-keys.ts'
import { adminOf } from './admin.ts'
import { type Deployment, deploy } from './deployment.ts'
import { type PaysimScene, startPaysim } from './paysim.ts'
import type { ServerProcess } from './server-process.ts'

type Json = ReturnType<typeof JSON.parse>

/** The simulator, which is told of orders; its notifications go to the nodes. */
const shopUrl = 'http://shop.test'

/** The bonus on the first payment of an account. */
const bonus = { firstTopUp: { percent: '10' } }

interface Wanted {
  readonly provider: 'alipay' | 'wechatpay' | 'stripe'
  readonly attempt: string
  /** It is made if there is none; only payments credit it. */
  readonly account: string
}

export interface Shop {
  readonly deployment: Deployment
  readonly simulator: PaysimScene
  /** The address of the node that is notified next; tests change it. */
  notified: () => string
  /** Calls the control API of a node as the operator. Rejects if the connection breaks. */
  ask(node: Pick<ServerProcess, 'url'>, method: string, path: string, body?: object): Promise<Json>
  /** Of 10.00 CNY. */
  order(node: Pick<ServerProcess, 'url'>, wanted: Wanted): Promise<Json>
  /** The events of an order. */
  follow(node: Pick<ServerProcess, 'url'>, id: string): Promise<Response>
  /**
   * As the account's customer does: opens the payment page, and pays. Resolves when the first notification has been
   * answered.
   */
  pay(order: Json): Promise<void>
  /** Unacknowledged notifications are sent again now, not in the minutes that the providers wait. */
  sendAgain(): void
  close(): Promise<void>
}

/** `databaseUrl` null: SQLite. */
export async function openShop(databaseUrl: string | null): Promise<Shop> {
  const clock = handClock()
  const stripeWebhookUrl = `${shopUrl}/api/payments/stripe/notify`
  const send = async (request: Request) => {
    const to = `${shop.notified()}${new URL(request.url).pathname}`
    const { headers, signal } = request
    return fetch(to, { method: 'POST', headers, signal, body: await request.text() })
  }
  const simulator = await startPaysim({ clock, send, stripeWebhookUrl })
  const deployment = await deploy({
    databaseUrl,
    credits: {},
    config: {
      publicUrl: shopUrl,
      currency: 'CNY',
      payments: { ...simulator.paysim.merchant, bonus },
    },
  })
  const admin = adminOf(deployment.store, { nowMs: Date.now() })
  const scopes = ['read' as const, 'write' as const]
  const { secret } = await createManagementKey(admin, { name: 'shop', account: null, scopes })
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const ask: Shop['ask'] = async ({ url }, method, path, body) => {
    const reply = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: reply.status, ...((await reply.json()) as object) }
  }
  const shop: Shop = {
    deployment,
    simulator,
    notified: () => {
      throw new Error('no node is notified')
    },
    ask,
    async order(node, wanted) {
      await deployment.store.accounts.ensure(wanted.account, Date.now())
      return ask(node, 'POST', '/api/orders', { amount: '10.00', ...wanted })
    },
    follow: ({ url }, id) => fetch(`${url}/api/orders/${id}/events`, { headers }),
    async pay({ id, account, pay }) {
      if (pay.kind === 'redirect') await (await fetch(pay.url)).text()
      await simulator.paysim.control.pay(id, { payer: account })
    },
    sendAgain: () => clock.run(),
    async close() {
      await simulator.stop()
      await deployment.remove()
    },
  }
  return shop
}

/** Returns the time, and runs due work when told to. */
function handClock() {
  const waiting = new Set<() => void>()
  return {
    now: () => Date.now(),
    after(_: number, run: () => void) {
      const one = () => run()
      waiting.add(one)
      return () => waiting.delete(one)
    },
    run() {
      const due = [...waiting]
      waiting.clear()
      for (const one of due) one()
    },
  }
}
