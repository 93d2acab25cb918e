// Once a minute, in one process of the deployment: raises alerts, and posts what is due to webhooks.

import { createHmac } from 'node:crypto'
import { raiseAlerts, rulesOf } from '../admin/alert-rules.ts'
import { noticeView } from '../admin/alerts.ts'
import type { Config } from '../config/types.ts'
import type { SecretBox } from '../identity/secret-box.ts'
import { NotFetched } from '../safe-fetch/safe-fetch.ts'
import type { AlertNotice } from '../store/alerts.ts'
import type { Store } from '../store/store.ts'

export interface AlertOptions {
  readonly store: Store
  readonly config: () => Pick<Config, 'currency' | 'keys'>
  readonly box: SecretBox
  /** For how long no other process looks; less than a minute unless a test says otherwise. */
  readonly turnMs?: number
  /** Throws NotFetched. */
  readonly post: (
    address: string,
    body: string,
    fields: Readonly<Record<string, string>>,
  ) => Promise<void>
}

const minuteMs = 60_000
const dayMs = 86_400_000
const usualTurnMs = 50_000
/** After each failed attempt; then it is given up. */
const waitsMs = [1, 5, 30, 120, 360].map((minutes) => minutes * minuteMs)
const mostPosts = 50
const atOnce = 5
const keptMs = 90 * dayMs

/** Does nothing where another process has its turn, or nobody wants to be warned. Rejects where the store is away. */
export async function lookAfterAlerts(options: AlertOptions): Promise<void> {
  const { store, config, turnMs = usualTurnMs } = options
  const settings = await store.alerts.settings()
  if (settings.length === 0 || !(await store.alerts.takeTurn(turnMs))) return
  const { currency, keys } = config()
  const nowMs = Date.now()
  const admin = { store, actor: 'alerts', nowMs, currency: async () => currency }
  await raiseAlerts(admin, keys)
  const due = [...(await store.alertNotices.due(nowMs, mostPosts))]
  const hooks = new Map(settings.map((setting) => [setting.account, setting]))
  const work = async () => {
    for (let notice = due.shift(); notice !== undefined; notice = due.shift()) {
      const setting = hooks.get(notice.account)
      const webhook = setting === undefined ? null : rulesOf(setting).webhook
      const failure =
        webhook === null || setting?.secret == null
          ? 'there is no webhook any more'
          : await failureOf(options, notice, webhook, setting.secret)
      await store.alertNotices.posted(afterPost(notice, failure, webhook === null))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  await store.alertNotices.prune(nowMs - keptMs)
}

function afterPost(
  { id, attempts }: AlertNotice,
  failure: string | null,
  isOver: boolean,
): Pick<AlertNotice, 'id' | 'dueAt' | 'attempts' | 'failure'> {
  const waitMs = failure === null || isOver ? undefined : waitsMs[attempts]
  const dueAt = waitMs === undefined ? null : Date.now() + waitMs
  return { id, attempts: attempts + 1, failure, dueAt }
}

/** null: its server took it. */
async function failureOf(
  { box, post }: AlertOptions,
  notice: AlertNotice,
  webhook: string,
  secret: string,
): Promise<string | null> {
  const { readAt: _, delivery: __, ...shown } = noticeView(notice)
  const body = JSON.stringify({ type: 'alert', account: notice.account, ...shown })
  const seconds = Math.floor(Date.now() / 1_000)
  const key = decrypted(box, secret)
  if (key === null) return 'its secret cannot be read any more: make a new one'
  const signature = createHmac('sha256', key).update(`${seconds}.${body}`)
  const fields = {
    'content-type': 'application/json',
    'x-tollgate-signature': `t=${seconds},v1=${signature.digest('hex')}`,
  }
  try {
    await post(webhook, body, fields)
    return null
  } catch (error) {
    if (error instanceof NotFetched) return error.message
    throw error
  }
}

/** null: it was encrypted under another key of the deployment. */
function decrypted(box: SecretBox, secret: string): string | null {
  try {
    return box.decrypt(secret)
  } catch {
    return null
  }
}
