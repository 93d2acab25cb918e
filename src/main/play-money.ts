// Payments in play money: the simulator stands in for the providers where none is configured and nobody else can reach it.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config, PaymentSettings } from '../config/types.ts'
import { isLoopback } from '../identity/session-cookie.ts'
import type { Send } from '../payments/provider.ts'
import type { Paysim } from '../paysim/paysim.ts'
import { knownAddress } from './sign-in-link.ts'
import type { State } from './state.ts'

export interface PlayMoney {
  /** Whether there is play money under the configuration in force. */
  isOn(): boolean
  /** Whether an order may wait for it: it is loaded, or was used before. */
  isUsed(): boolean
  /** What is configured, with the simulator as each provider. `address`: this deployment's, without a slash at its end. */
  settings(address: string): Promise<PaymentSettings>
  /** To the simulator, which is in this process. */
  readonly send: Send
  /** Below `/paysim`; null where there is no play money. */
  handle(request: Request): Promise<Response | null>
  close(): void
}

interface PlayMoneyOptions {
  /** Several processes would each have a simulator of its own. */
  readonly isAlone: boolean
  /** Takes the simulator's notifications. */
  readonly notify: (request: Request) => Promise<Response>
}

const clock = {
  now: () => Date.now(),
  after(ms: number, run: () => void) {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
}

export function openPlayMoney(
  state: Pick<State, 'current' | 'store'>,
  { isAlone, notify }: PlayMoneyOptions,
): PlayMoney {
  let opened: Promise<Paysim> | null = null
  const config = () => state.current.config
  const directory = () => join(config().dataDir, 'paysim')
  const isOn = () => isAlone && isPlayable(config())

  const open = (at: string): Promise<Paysim> => {
    if (opened !== null) return opened
    opened = import('../paysim/paysim.ts').then(({ createPaysim }) =>
      createPaysim({
        baseUrl: `${at}/paysim`,
        directory: directory(),
        clock,
        stripeWebhookUrl: `${at}/api/payments/stripe/notify`,
        send: (request) => (isOn() ? notify(request) : Promise.resolve(notFound())),
      }),
    )
    opened.catch(() => {
      opened = null
    })
    return opened
  }
  return {
    isOn,
    isUsed: () => opened !== null || existsSync(join(directory(), 'paysim.json')),
    async settings(at) {
      const { merchant } = await open(at)
      const { alipay, wechatpay, stripe } = merchant
      const { publicKeyId = null, publicKey = null } = wechatpay
      return {
        ...config().payments,
        alipay,
        wechatpay: { ...wechatpay, publicKeyId, publicKey, mp: null },
        stripe: { ...stripe, currency: null },
      }
    },
    async send({ url, method, headers, body }) {
      const init = { method, headers, ...(body !== undefined && { body }) }
      const reply = await (await open(new URL(url).origin)).fetch(new Request(url, init))
      const bytes = new Uint8Array(await reply.arrayBuffer())
      const text = new TextDecoder().decode(bytes)
      return { status: reply.status, text, bytes, header: (name) => reply.headers.get(name) }
    },
    async handle(request) {
      if (!isOn()) return null
      const address = await knownAddress(config(), state.store)
      const paysim = await open(address)
      // However the browser calls this machine, the simulator knows itself by one name.
      const { pathname, search } = new URL(request.url)
      const url = new URL(`${pathname}${search}`, address)
      return paysim.fetch(new Request(url, request))
    },
    close() {
      void opened?.then((paysim) => paysim.stop())
    },
  }
}

/** Play money buys real requests: only whoever is at this machine may have it. */
function isPlayable({ payments, server, identity }: Config): boolean {
  if (!payments.simulator || !isLoopback(server.host)) return false
  // Without an address of its own it may stand behind a proxy, where strangers sign in.
  if (server.publicUrl === null) return identity.providers.length === 0
  return isLoopback(new URL(server.publicUrl).hostname)
}

function notFound(): Response {
  return new Response('Not Found', { status: 404 })
}
