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
  /** Its statements run off the thread that serves requests. */
  readonly store: Store
  /** Asked anew for each request: a reload replaces it. */
  config(): Config
  callers(): Callers
  readonly running: Running
  readonly sessions: Sessions
  /** Loaded at first use, and anew where the configuration of payments changes. */
  readonly orders: { desk(): Promise<OrderDesk> }
  /** Of a secret that begins as management keys do; null where it is unknown, disabled or expired. */
  managementKey(secret: string, nowMs: number): Promise<ControlPrincipal | null>
  /** Of a key that calls models: to tell its holder what it is. */
  modelKey(secret: string, nowMs: number): KeyPrincipal | null
  /** Names that would be answered to such a key now. */
  models(principal: KeyPrincipal): readonly string[]
  /** For secrets that posts to webhooks are signed with. */
  readonly webhookBox: SecretBox
  /** For tests of the addresses that providers of payment notify. */
  readonly callbackBox: SecretBox
  /** null: none is configured. */
  readonly mail: { server(): Promise<Mailer | null> }
  /** For links to requests. */
  readonly shareBox: SecretBox
  /** For replies that are kept. */
  readonly replyBox: SecretBox
  /** Where the process takes its leave, replies that last are to end. */
  readonly load: Pick<Load, 'draining'>
  /** A mistake in the gateway: for the log. */
  onCrash(error: unknown, requestId: string): void
  /** After a change: requests that come now are judged by it. */
  refresh(): Promise<void>
  readonly version: string
}
