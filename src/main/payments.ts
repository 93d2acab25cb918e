// Payments of this process: set up from the configuration at first use, and maintained while the server runs.

import type { OrderDesk } from '../admin/orders.ts'
import type { Config } from '../config/types.ts'
import { endBonuses } from '../payments/end-bonuses.ts'
import type { PaymentsOptions } from '../payments/payments.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import { askWithHeader } from '../upstream/ask.ts'
import { createBillWatch } from './payment-bills.ts'
import type { PlayMoney } from './play-money.ts'
import { knownAddress } from './sign-in-link.ts'
import type { State } from './state.ts'

type Parts = Pick<State, 'dialer' | 'current' | 'metrics'>

/** Sized for a day's bill, the largest reply of a provider. */
const bounds = { maxBytes: 32 * 1_048_576, timeoutMs: 10_000 }

interface DeskOptions {
  readonly log: Log
  readonly play: PlayMoney
}

/** Gives routes and the sweeper their order desk; a changed configuration makes a new one. */
export function openOrderDesk(
  state: Parts,
  store: Store,
  options: DeskOptions,
): () => Promise<OrderDesk> {
  let made: { readonly config: unknown; readonly desk: Promise<OrderDesk> } | null = null
  return () => {
    const { config } = state.current
    if (made?.config === config) return made.desk
    const desk = makeDesk(state, store, options)
    made = { config, desk }
    // The store may have been unavailable: the next use tries again.
    desk.catch(() => {
      if (made?.desk === desk) made = null
    })
    return desk
  }
}

async function makeDesk(
  state: Parts,
  store: Store,
  { log, play }: DeskOptions,
): Promise<OrderDesk> {
  const { createPayments } = await import('../payments/payments.ts')
  const { dialer, current, metrics } = state
  const { payments: configured, currency } = current.config
  const isPlay = play.isOn()
  const address = await knownAddress(current.config, store)
  const settings = isPlay ? await play.settings(address) : configured
  const mode = isPlay ? 'play' : 'live'
  const onProblem: PaymentsOptions['onProblem'] = (error, of) =>
    log.warn({ err: error, ...of }, 'a payment needs attention')
  const options: PaymentsOptions = {
    store,
    settings,
    currency,
    mode,
    metrics,
    send: isPlay ? play.send : (request) => askWithHeader({ dialer, ...bounds }, request),
    onProblem,
  }
  return { payments: createPayments(options), settings, mode, address, onProblem }
}

/** Currencies without a configured rate, which are credited one to one. */
export function rateWarnings({ payments, currency }: Config): readonly string[] {
  const { alipay, wechatpay, stripe, rates } = payments
  const paidIn = [alipay && 'CNY', wechatpay && 'CNY', stripe && (stripe.currency ?? currency)]
  const found = new Set(paidIn.filter((each) => each !== null && each !== currency))
  return [...found]
    .filter((each) => each !== null && rates?.[each] === undefined)
    .map(
      (each) =>
        `payments.rates says nothing of ${each}: 1 ${each} that is paid is credited as 1 ${currency}`,
    )
}

const firstMs = 9_000
const everyMs = 15_000

/** Ends bonuses and checks unsettled orders with their providers, whose code is loaded where there are any. */
export function keepPayments(
  state: Parts & Pick<State, 'store'>,
  options: DeskOptions,
  onError: (error: unknown) => void,
): { close(): void } {
  const desk = openOrderDesk(state, state.store, options)
  const bills = createBillWatch({ store: state.store, log: options.log, desk })
  let closed = false
  let timer = setTimeout(run, firstMs).unref()

  async function run(): Promise<void> {
    try {
      const { alipay, wechatpay, stripe } = state.current.config.payments
      const isPlayed = options.play.isOn() && options.play.isUsed()
      const isLive = Boolean(alipay ?? wechatpay ?? stripe)
      // Also those of providers that were removed since.
      await endBonuses(state.store, state.current.config.payments, Date.now())
      if (isPlayed || isLive) await (await desk()).payments.sweep(Date.now())
      if (isPlayed || isLive) await topUp()
      if (isLive) await bills.look(Date.now())
    } catch (error) {
      if (!closed) onError(error)
    }
    if (!closed) timer = setTimeout(run, everyMs).unref()
  }

  async function topUp(): Promise<void> {
    const { topUpAccounts } = await import('../admin/auto-top-up-run.ts')
    const currency = async () => state.current.config.currency
    const admin = { store: state.store, actor: 'automatic top-up', nowMs: Date.now(), currency }
    await topUpAccounts(admin, await desk(), (error, account) =>
      options.log.warn({ err: error, account }, 'an automatic top-up is tried again'),
    )
  }

  return {
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
