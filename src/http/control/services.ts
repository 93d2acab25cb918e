// What the routes of the control API use of the running process.

import type { OrderDesk } from '../../admin/orders.ts'
import type { Config } from '../../config/types.ts'
import type { ControlPrincipal, KeyPrincipal } from '../../identity/principal.ts'
import type { SecretBox } from '../../identity/secret-box.ts'
import type { Sessions } from '../../identity/sessions.ts'
import type { Store } from '../../store/store.ts'
import type { Mailer } from '../../upstream/mail.ts'
import type { Callers } from '../callers.ts'
import type { Load } from '../load.ts'
import type { Running } from './running.ts'

export interface ControlServices {
  /** Runs its statements off the thread that serves requests. */
  readonly store: Store
  /** Called for each request: a configuration reload replaces it. */
  config(): Config
  callers(): Callers
  readonly running: Running
  readonly sessions: Sessions
  /** Loaded at first use, and again when the payment configuration changes. */
  readonly orders: { desk(): Promise<OrderDesk> }
  /** Finds the management key with this secret; null where it is unknown, disabled or expired. */
  managementKey(secret: string, nowMs: number): Promise<ControlPrincipal | null>
  /** Finds the key that calls models with this secret, to tell its holder that it is of the wrong kind. */
  modelKey(secret: string, nowMs: number): KeyPrincipal | null
  /** Names of the models that this key may use now. */
  models(principal: KeyPrincipal): readonly string[]
  /** Encrypts the secrets that sign posts to webhooks. */
  readonly webhookBox: SecretBox
  /** For tests of the addresses to which payment providers send notifications. */
  readonly callbackBox: SecretBox
  /** Resolves null where no mail server is configured. */
  readonly mail: { server(): Promise<Mailer | null> }
  /** Encrypts links to shared requests. */
  readonly shareBox: SecretBox
  /** Encrypts the replies kept for an Idempotency-Key. */
  readonly replyBox: SecretBox
  /** While the process shuts down, long replies are to end. */
  readonly load: Pick<Load, 'draining'>
  /** Reports a fault in the gateway itself, for the log. */
  onCrash(error: unknown, requestId: string): void
  /** To be awaited after a change: later requests are judged by the new state. */
  refresh(): Promise<void>
  readonly version: string
}
