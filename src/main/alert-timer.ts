// Looks after alerts once a minute; what that takes is loaded once somebody wants to be warned of something. What nobody
// is slowed down by any more is forgotten on the way.

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
const bounds = { maxBytes: 65_536, timeoutMs: 10_000 }

export function keepAlerts(
  state: Pick<State, 'store' | 'dialer' | 'current'>,
  log: Log,
): { close(): void } {
  let closed = false
  let timer = setTimeout(run, firstMs).unref()
  const config = () => state.current.config

  async function run(): Promise<void> {
    try {
      await look()
    } catch (error) {
      if (!closed) log.warn({ err: error }, 'alerts could not be looked after; trying again')
    }
    if (!closed) timer = setTimeout(run, everyMs).unref()
  }

  async function look(): Promise<void> {
    const { store, dialer } = state
    await store.pace.prune()
    const { alipay, wechatpay, stripe } = config().payments
    const hasOrders = Boolean(alipay ?? wechatpay ?? stripe)
    if (!hasOrders && (await store.alerts.settings()).length === 0) return
    const { lookAfterAlerts } = await import('./alerts.ts')
    const box = createSecretBox(encryptionKey(config()), webhookPurpose)
    const post = postTo.bind(null, { dialer, ...bounds })
    await lookAfterAlerts({
      store,
      config,
      box,
      post,
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

/** null: no mail server is configured. */
export async function mailerOf({ smtp }: Pick<Config, 'smtp'>): Promise<Mailer | null> {
  return smtp && (await import('../upstream/mail.ts')).openMailer(smtp)
}

/** Of the box that webhooks' secrets are kept in. */
export const webhookPurpose = 'alert webhooks'
