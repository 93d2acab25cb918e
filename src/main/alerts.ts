// Once a minute, in one process of the deployment: raises alerts, and sends due notices to webhooks and by mail.

import { raiseAlerts, rulesOf } from '../admin/alert-rules.ts'
import { noticeView } from '../admin/alerts.ts'
import { languageOf, noticeMail } from '../admin/notice-mail.ts'
import type { Alert } from '../admin/operation-alerts.ts'
import {
  isOperators,
  noteOperatorEvents,
  operatorPost,
  webhookOf,
} from '../admin/operator-events.ts'
import { signedFields } from '../admin/webhook-signature.ts'
import type { Config } from '../config/types.ts'
import type { SecretBox } from '../identity/secret-box.ts'
import { NotFetched } from '../safe-fetch/safe-fetch.ts'
import type { AlertNotice, AlertSetting, NoticePost, NoticeWay } from '../store/alerts.ts'
import type { Store } from '../store/store.ts'
import { type Mailer, MailNotSent } from '../upstream/mail.ts'

type Sending = (
  address: string,
  body: string,
  fields: Readonly<Record<string, string>>,
) => Promise<void>

export interface AlertOptions {
  readonly store: Store
  readonly config: () => Pick<Config, 'currency' | 'keys' | 'webhooks'>
  /** The operators' alerts that are raised now; called only where a webhook is configured. */
  readonly operatorAlerts: () => Promise<readonly Alert[]>
  readonly box: SecretBox
  /** How long this process keeps its turn; less than a minute unless a test sets it. */
  readonly turnMs?: number
  /** Posts to an account's webhook. Throws NotFetched. */
  readonly post: Sending
  /** Posts to a webhook that the operator configured. Throws NotFetched. */
  readonly postHome: Sending
  /** null: no mail server is configured. */
  readonly mailer: () => Promise<Mailer | null>
  /** The console's address, without a slash at its end. */
  readonly address: () => Promise<string>
  /** Reports a mail that could not be sent, for the log. */
  readonly onMailProblem?: (error: MailNotSent, account: string) => void
}

const minuteMs = 60_000
const dayMs = 86_400_000
const usualTurnMs = 50_000
/** No post begins after this time, so that all posts end within the turn. */
const postingMs = 25_000
/** Waits after each failed attempt; after the last one the notice is given up. */
const waitsMs = [1, 5, 30, 120, 360].map((minutes) => minutes * minuteMs)
const mostPosts = 50
const atOnce = 5
const keptMs = 90 * dayMs

/** Does nothing where another process has the turn. Rejects where the store is unavailable. */
export async function lookAfterAlerts(options: AlertOptions): Promise<void> {
  const { store, config, turnMs = usualTurnMs } = options
  if (!(await store.alerts.takeTurn(turnMs))) return
  const { currency, keys, webhooks } = config()
  const nowMs = Date.now()
  const admin = { store, actor: 'alerts', nowMs, currency: async () => currency }
  await raiseAlerts(admin, keys)
  const alerts = webhooks.length === 0 ? [] : await options.operatorAlerts()
  await noteOperatorEvents(admin, webhooks, alerts)
  await postDue(options, 'webhook', (notice, setting) => postFailure(options, notice, setting))
  await postDue(options, 'mail', (notice, setting) => mailFailure(options, notice, setting))
  await store.alertNotices.prune(nowMs - keptMs)
}

interface Failure {
  readonly text: string
  /** True where it must not be tried again. */
  readonly isFinal: boolean
}

type Post = (notice: AlertNotice, setting: AlertSetting | undefined) => Promise<Failure | null>

/** Posts several notices at once. `post` gives null where the notice was accepted. */
async function postDue({ store }: AlertOptions, way: NoticeWay, post: Post): Promise<void> {
  const startMs = Date.now()
  const due = [...(await store.alertNotices.due(way, startMs, mostPosts))]
  if (due.length === 0) return
  const settings = new Map((await store.alerts.settings()).map((each) => [each.account, each]))
  const work = async () => {
    while (Date.now() < startMs + postingMs) {
      const notice = due.shift()
      if (notice === undefined) return
      const failure = await post(notice, settings.get(notice.account))
      await store.alertNotices.posted(notice.id, way, afterPost(notice[way], failure))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

function afterPost({ attempts }: NoticePost, failure: Failure | null): NoticePost {
  const waitMs = failure === null || failure.isFinal ? undefined : waitsMs[attempts]
  const dueAt = waitMs === undefined ? null : Date.now() + waitMs
  return { attempts: attempts + 1, failure: failure?.text ?? null, dueAt }
}

async function mailFailure(
  { store, mailer, address, onMailProblem }: AlertOptions,
  notice: AlertNotice,
  setting: AlertSetting | undefined,
): Promise<Failure | null> {
  const { email, emailVerified } = rulesOf(setting ?? null)
  if (email === null || !emailVerified)
    return { text: 'there is no address any more', isFinal: true }
  const server = await mailer()
  if (server === null) return { text: 'this deployment has no mail server', isFinal: true }
  const { account } = notice
  const language = languageOf((await store.preferences.find(account))?.document)
  try {
    await server.send({ to: email, ...noticeMail(notice, language, await address()) })
    return null
  } catch (error) {
    if (!(error instanceof MailNotSent)) throw error
    onMailProblem?.(error, account)
    return { text: error.message, isFinal: error.isFinal }
  }
}

async function postFailure(
  options: AlertOptions,
  notice: AlertNotice,
  setting: AlertSetting | undefined,
): Promise<Failure | null> {
  const call = isOperators(notice.account)
    ? operatorsCall(options, notice)
    : accountsCall(options, notice, setting)
  if ('text' in call) return call
  const { address, body, key, send } = call
  try {
    await send(address, body, signedFields(body, key, Date.now()))
    return null
  } catch (error) {
    if (error instanceof NotFetched) return { text: error.message, isFinal: false }
    throw error
  }
}

interface Call {
  readonly address: string
  readonly body: string
  readonly key: string
  readonly send: Sending
}

const gone: Failure = { text: 'there is no webhook any more', isFinal: true }

function operatorsCall({ config, postHome: send }: AlertOptions, notice: AlertNotice) {
  const webhook = webhookOf(config().webhooks, notice)
  if (webhook === undefined) return gone
  const body = operatorPost(webhook, notice)
  return { address: webhook.url, body, key: webhook.secret, send } satisfies Call
}

function accountsCall(
  { box, post: send }: AlertOptions,
  notice: AlertNotice,
  setting: AlertSetting | undefined,
): Call | Failure {
  const { webhook } = rulesOf(setting ?? null)
  if (webhook === null || setting?.secret == null) return gone
  const { readAt: _, delivery: __, mail: ___, ...shown } = noticeView(notice)
  const body = JSON.stringify({ type: 'alert', account: notice.account, ...shown })
  const key = decrypted(box, setting.secret)
  if (key === null)
    return { text: 'its secret cannot be read any more: make a new one', isFinal: false }
  return { address: webhook, body, key, send }
}

/** null: it was encrypted under another encryption key. */
function decrypted(box: SecretBox, secret: string): string | null {
  try {
    return box.decrypt(secret)
  } catch {
    return null
  }
}
