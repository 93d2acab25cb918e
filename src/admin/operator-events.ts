// Notifies operators by the configured webhooks when alerts are raised and when they are over.

import type { WebhookSettings } from '../config/types.ts'
import type { AlertNotice, Raised } from '../store/alerts.ts'
import { newNoticeId } from './notice.ts'
import type { Alert } from './operation-alerts.ts'
import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'

/** The content of a post to a webhook, kept until the webhook has accepted it. */
interface OperatorEvent {
  readonly state: 'raised' | 'resolved' | 'test'
  readonly code: string
  readonly severity: Alert['severity'] | null
  readonly subject: string | null
  readonly message: string
  readonly since: string
}

/** Least time before an alert is reported as over: one that comes and goes is reported no more often. */
const leastMs = 10 * 60_000
/** No account name begins with a control character. */
const prefix = '\twebhook '

/** The owner under which a webhook's events are stored like an account's notices: no account can have this name. */
export function ownerOf({ id }: Pick<WebhookSettings, 'id'>): string {
  return prefix + id
}

export function isOperators(account: string): boolean {
  return account.startsWith(prefix)
}

/** The webhook that an event is for; undefined: it is no longer configured. */
export function webhookOf(
  webhooks: readonly WebhookSettings[],
  { account }: Pick<AlertNotice, 'account'>,
): WebhookSettings | undefined {
  return webhooks.find((each) => ownerOf(each) === account)
}

/** The body of a test post, for whoever sets a receiver up. */
export function testPost(webhook: WebhookSettings, nowMs: number): string {
  const document: OperatorEvent = {
    ...{ state: 'test', code: 'test', severity: null, subject: null },
    message: 'a test by tollgate: nothing is wrong',
    since: timeText(nowMs),
  }
  return operatorPost(webhook, { id: newNoticeId(nowMs), at: nowMs, document })
}

/** The body of a post. */
export function operatorPost(
  { id }: WebhookSettings,
  notice: Pick<AlertNotice, 'id' | 'at' | 'document'>,
): string {
  const event = notice.document as OperatorEvent
  return JSON.stringify({
    type: 'operator_alert',
    id: notice.id,
    webhook: id,
    at: timeText(notice.at),
    ...event,
  })
}

/** The state, code and subject of an event. */
export function eventOf({ document }: Pick<AlertNotice, 'document'>) {
  const { state, code, subject } = document as OperatorEvent
  return { state, code, subject }
}

/** Records alerts that are new and alerts that are over; `alerts`: those raised now. */
export async function noteOperatorEvents(
  context: Pick<AdminContext, 'store' | 'nowMs'>,
  webhooks: readonly WebhookSettings[],
  alerts: readonly Alert[],
): Promise<void> {
  const raised = (await context.store.alerts.raised()).filter(({ account }) => isOperators(account))
  const owners = new Set(webhooks.map(ownerOf))
  await context.store.alerts.clear(raised.filter(({ account }) => !owners.has(account)))
  for (const webhook of webhooks) {
    const account = ownerOf(webhook)
    const wanted = alerts.filter(({ code }) => webhook.events?.includes(code) ?? true)
    const own = raised.filter((each) => each.account === account)
    await noteFor(context, account, { wanted, own })
  }
}

async function noteFor(
  { store, nowMs }: Pick<AdminContext, 'store' | 'nowMs'>,
  account: string,
  { wanted, own }: { readonly wanted: readonly Alert[]; readonly own: readonly Raised[] },
): Promise<void> {
  const due = { webhook: nowMs, mail: null }
  const noticeOf = (document: OperatorEvent) => ({
    ...{ id: newNoticeId(nowMs), account, at: nowMs, dueAt: due },
    document,
  })
  const known = new Set(own.map(nameOf))
  for (const alert of wanted) {
    const { code, severity, subject, message } = alert
    const row = { account, rule: code, subject: subjectOf(alert), at: nowMs }
    if (known.has(nameOf(row))) continue
    const since = alert.since ?? timeText(nowMs)
    const event = { state: 'raised', code, severity, subject, message, since } as const
    await store.alerts.raise(row, noticeOf(event))
  }
  const current = new Set(
    wanted.map((each) => nameOf({ rule: each.code, subject: subjectOf(each) })),
  )
  for (const row of own) {
    if (current.has(nameOf(row)) || nowMs - row.at < leastMs) continue
    await store.alerts.clear([row], noticeOf(overOf(row)))
  }
}

function overOf({ rule, subject, at }: Raised): OperatorEvent {
  const isText = rule === 'warning'
  return {
    state: 'resolved',
    code: rule,
    severity: null,
    subject: isText || subject === '' ? null : subject,
    message: isText ? subject : 'it is over',
    since: timeText(at),
  }
}

/**
 * A name that stays the same while the alert lasts: messages may contain changing counts, except those of warnings,
 * which have nothing else to be named by.
 */
function subjectOf({ code, subject, message }: Alert): string {
  return subject ?? (code === 'warning' ? message : '')
}

function nameOf({ rule, subject }: Pick<Raised, 'rule' | 'subject'>): string {
  return `${rule}\0${subject}`
}
