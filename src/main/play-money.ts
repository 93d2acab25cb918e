// Payments in play money: where no provider is configured and only this machine can connect, a simulator replaces them.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config, PaymentSettings } from '../config/types.ts'
import { isLoopback } from '../identity/session-cookie.ts'
import { pathUrlOf } from '../operations/path.ts'
import type { Send } from '../payments/provider.ts'
import type { Paysim } from '../paysim/paysim.ts'
import { knownAddress } from './sign-in-link.ts'
import type { State } from './state.ts'

export interface PlayMoney {
  /** Whether the configuration in force allows play money. */
  isOn(): boolean
  /** Whether an order may be waiting: the simulator is loaded, or was used before. */
  isUsed(): boolean
  /** Payment settings with the simulator as each provider. `address`: this deployment's, without a slash at its end. */
  settings(address: string): Promise<PaymentSettings>
  /** Sends a request to the simulator, which runs in this process. */
  readonly send: Send
  /** Answers below `/paysim`; null where there is no play money. */
  handle(request: Request): Promise<Response | null>
  close(): void
}

interface PlayMoneyOptions {
  /** Whether this is the only serving process: each of several would have its own simulator. */
  readonly isAlone: boolean
  /** Handles the simulator's notifications. */
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
      // The simulator knows one address only, whichever name for this machine the browser uses.
      const { pathname, search } = pathUrlOf(request.url)
      const url = new URL(`${pathname}${search}`, address)
      return paysim.fetch(new Request(url, request))
    },
    close() {
      void opened?.then((paysim) => paysim.stop())
    },
  }
}

/** Play money buys real requests, so only users of this machine may have it. */
function isPlayable({ payments, server, identity }: Config): boolean {
  if (!payments.simulator || !isLoopback(server.host)) return false
  // Without a public URL it may be behind a proxy; identity providers would then let strangers sign in.
  if (server.publicUrl === null) return identity.providers.length === 0
  return isLoopback(new URL(server.publicUrl).hostname)
}

function notFound(): Response {
  return new Response('Not Found', { status: 404 })
}
