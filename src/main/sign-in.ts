// Builds sign-in with what it needs of the running process.

import { Buffer } from 'node:buffer'
import { hkdfSync } from 'node:crypto'
import { addEvent } from '../admin/events.ts'
import { encryptionKey } from '../identity/encryption-key.ts'
import { createIdentity } from '../identity/identity.ts'
import type { Sessions } from '../identity/sessions.ts'
import type { Store } from '../store/store.ts'
import { ask } from '../upstream/ask.ts'
import type { State } from './state.ts'

/** Limits on an identity provider's replies. */
const bounds = { maxBytes: 262_144, timeoutMs: 10_000 }
/** A sign-in takes two requests: to the provider, and back. */
const attemptLimits = { requestsPerMinute: 30 }
const secretBytes = 32

type Parts = Pick<State, 'current' | 'runTime' | 'dialer' | 'limiter'>

export function openSessions(state: Parts, store: Store): Sessions {
  const config = () => state.current.config
  const { dialer, limiter, runTime } = state
  return createIdentity({
    store,
    config,
    secret: cookieSecret(encryptionKey(config())),
    async signUp() {
      const settings = runTime.current()
      return { mode: settings['identity.signUp'], group: settings['identity.defaultGroup'] }
    },
    ask: (question) => ask({ dialer, ...bounds }, question),
    async attempt(network) {
      const nowMs = performance.now()
      const scope = { id: `sign-in:${network}`, limits: attemptLimits }
      const admission = await limiter.admit([scope], 0, nowMs)
      if (!admission.admitted) return admission.retryAfterMs
      admission.finish(0, nowMs)
      return null
    },
    async onLinkUsed({ account, address }) {
      const by = { actor: `account ${account}`, role: 'admin' } as const
      const event = { action: 'signInByLink', target: { id: account }, detail: {}, address }
      await addEvent(store, { ...by, ...event, changes: null })
    },
  })
}

/** A key for cookies alone, so that nothing signed or sealed for another purpose is accepted as one. */
function cookieSecret(deploymentKey: Uint8Array): string {
  const key = hkdfSync('sha256', deploymentKey, '', 'tollgate session cookies', secretBytes)
  return Buffer.from(key).toString('base64')
}
