// Checks alerts once a minute, and prunes counters of limited actions that no longer matter. The code for alerts is
// loaded once an account or the configuration asks for any.

import { setTimeout as delay } from 'node:timers/promises'
import type { Alert } from '../admin/operation-alerts.ts'
import type { Config } from '../config/types.ts'
import { encryptionKey } from '../identity/encryption-key.ts'
import { createSecretBox } from '../identity/secret-box.ts'
import { postTo } from '../safe-fetch/safe-fetch.ts'
import type { Log } from '../telemetry/log.ts'
import type { Mailer } from '../upstream/mail.ts'
import { knownAddress } from './sign-in-link.ts'
import type { State } from './state.ts'

const firstMs = 7_000
const everyMs = 60_000
const reportsMs = 2_500
const bounds = { maxBytes: 65_536, timeoutMs: 10_000 }

export function keepAlerts(state: State, log: Log): { close(): void } {
  let closed = false
  let timer = setTimeout(run, firstMs).unref()
  const config = () => state.current.config

  async function run(): Promise<void> {
    try {
      await look()
    } catch (error) {
      if (!closed) log.warn({ err: error }, 'alerts could not be evaluated; trying again')
    }
    if (!closed) timer = setTimeout(run, everyMs).unref()
  }

  async function look(): Promise<void> {
    const { store, dialer } = state
    await store.pace.prune()
    const { alipay, wechatpay, stripe } = config().payments
    const hasOrders = Boolean(alipay ?? wechatpay ?? stripe)
    const hasWebhooks = config().webhooks.length > 0
    if (!hasOrders && !hasWebhooks && (await store.alerts.settings()).length === 0) return
    const { lookAfterAlerts } = await import('./alerts.ts')
    const box = createSecretBox(encryptionKey(config()), webhookPurpose)
    const post = postTo.bind(null, { dialer, ...bounds })
    const postHome: typeof post = (address, ...rest) =>
      postTo({ dialer, ...bounds, home: new URL(address).origin }, address, ...rest)
    await lookAfterAlerts({
      store,
      config,
      box,
      post,
      postHome,
      operatorAlerts: () => operatorAlerts(state),
      mailer: () => mailerOf(config()),
      address: () => knownAddress(config(), store),
      onMailProblem: ({ message, detail }, account) =>
        log.warn({ account, detail }, `a notice was not mailed: ${message}`),
    })
  }

  return {
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

/** Waits for the readings of other processes, which report only while somebody looks. */
async function operatorAlerts(state: State): Promise<readonly Alert[]> {
  const { store } = state
  const [{ readOperatorAlerts }, { offerOf }, { readProcess }] = await Promise.all([
    import('../admin/operations.ts'),
    import('./running.ts'),
    import('./process-reading.ts'),
  ])
  if (!(await store.running.watch(null))) await delay(reportsMs)
  const offer = { ...offerOf(state), live: new Map() }
  return readOperatorAlerts({ store, nowMs: Date.now() }, offer, readProcess(state))
}

/** null: no mail server is configured. */
export async function mailerOf({ smtp }: Pick<Config, 'smtp'>): Promise<Mailer | null> {
  return smtp && (await import('../upstream/mail.ts')).openMailer(smtp)
}

/** The purpose of the key that encrypts webhook secrets. */
export const webhookPurpose = 'alert webhooks'
