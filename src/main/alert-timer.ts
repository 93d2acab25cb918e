// Looks after alerts once a minute; what that takes is loaded once somebody wants to be warned of something.

import { encryptionKey } from '../identity/encryption-key.ts'
import { createSecretBox } from '../identity/secret-box.ts'
import { postTo } from '../safe-fetch/safe-fetch.ts'
import type { State } from './state.ts'

const firstMs = 7_000
const everyMs = 60_000
const bounds = { maxBytes: 65_536, timeoutMs: 10_000 }

/** `onError`: called at each look that failed. */
export function keepAlerts(
  state: Pick<State, 'store' | 'dialer' | 'current'>,
  onError: (error: unknown) => void,
): { close(): void } {
  let closed = false
  let timer = setTimeout(run, firstMs).unref()
  const config = () => state.current.config

  async function run(): Promise<void> {
    try {
      await look()
    } catch (error) {
      if (!closed) onError(error)
    }
    if (!closed) timer = setTimeout(run, everyMs).unref()
  }

  async function look(): Promise<void> {
    const { store, dialer } = state
    if ((await store.alerts.settings()).length === 0) return
    const { lookAfterAlerts } = await import('./alerts.ts')
    const box = createSecretBox(encryptionKey(config()), webhookPurpose)
    const post = postTo.bind(null, { dialer, ...bounds })
    await lookAfterAlerts({ store, config, box, post })
  }

  return {
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

/** Of the box that webhooks' secrets are kept in. */
export const webhookPurpose = 'alert webhooks'
