// Payments of this process: built of the configuration at first use, and looked after while the server runs.

import type { OrderDesk } from '../admin/orders.ts'
import type { PaymentsOptions } from '../payments/payments.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import { askWithHeader } from '../upstream/ask.ts'
import type { State } from './state.ts'

type Parts = Pick<State, 'dialer' | 'current'>

const bounds = { maxBytes: 1_048_576, timeoutMs: 10_000 }
const mode = 'live'

/** What routes and the sweeper use; another configuration makes another. */
export function openOrderDesk(state: Parts, store: Store, log: Log): () => Promise<OrderDesk> {
  let made: { readonly settings: unknown; readonly desk: Promise<OrderDesk> } | null = null
  return () => {
    const { payments } = state.current.config
    if (made?.settings !== payments)
      made = { settings: payments, desk: makeDesk(state, store, log) }
    return made.desk
  }
}

async function makeDesk({ dialer, current }: Parts, store: Store, log: Log): Promise<OrderDesk> {
  const { createPayments } = await import('../payments/payments.ts')
  const { payments: settings, currency, server } = current.config
  const options: PaymentsOptions = {
    store,
    settings,
    currency,
    mode,
    send: (request) => askWithHeader({ dialer, ...bounds }, request),
    onProblem: (error, of) => log.warn({ err: error, ...of }, 'a payment needs attention'),
  }
  const address = server.publicUrl ?? (await store.deployment.address()) ?? 'http://127.0.0.1:8787'
  return { payments: createPayments(options), settings, mode, address }
}

const firstMs = 9_000
const everyMs = 15_000

/** Asks about orders that are not settled; where no provider is configured, nothing of it is loaded. */
export function keepPayments(
  state: Parts & Pick<State, 'store'>,
  log: Log,
  onError: (error: unknown) => void,
): { close(): void } {
  const desk = openOrderDesk(state, state.store, log)
  let closed = false
  let timer = setTimeout(run, firstMs).unref()

  async function run(): Promise<void> {
    try {
      const { alipay, wechatpay, stripe } = state.current.config.payments
      if (alipay ?? wechatpay ?? stripe) await (await desk()).payments.sweep(Date.now())
    } catch (error) {
      if (!closed) onError(error)
    }
    if (!closed) timer = setTimeout(run, everyMs).unref()
  }

  return {
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
