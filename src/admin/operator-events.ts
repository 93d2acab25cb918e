// Tells operators, by the webhooks of the configuration, of what needs them, and that it is over.

import type { WebhookSettings } from '../config/types.ts'
import type { AlertNotice, Raised } from '../store/alerts.ts'
import { newNoticeId } from './notice.ts'
import type { Alert } from './operation-alerts.ts'
import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'

/** What one is told; kept until it was taken. */
interface OperatorEvent {
  readonly state: 'raised' | 'resolved' | 'test'
  readonly code: string
  readonly severity: Alert['severity'] | null
  readonly subject: string | null
  readonly message: string
  readonly since: string
}

/** What goes up and down is told of once in so long: it is not said to be over sooner. */
const leastMs = 10 * 60_000
/** No account's name begins with a control character. */
const prefix = '\twebhook '

/** Events of a webhook are kept as an account's notices are, under a name that no account can have. */
export function ownerOf({ id }: Pick<WebhookSettings, 'id'>): string {
  return prefix + id
}

export function isOperators(account: string): boolean {
  return account.startsWith(prefix)
}

/** The webhook that an event is for; undefined: it is not configured any more. */
export function webhookOf(
  webhooks: readonly WebhookSettings[],
  { account }: Pick<AlertNotice, 'account'>,
): WebhookSettings | undefined {
  return webhooks.find((each) => ownerOf(each) === account)
}

/** The body of a post that says nothing is wrong: for whoever sets a receiver up. */
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

/** What it was about. */
export function eventOf({ document }: Pick<AlertNotice, 'document'>) {
  const { state, code, subject } = document as OperatorEvent
  return { state, code, subject }
}

/** Notes what is new, and what is over; `alerts`: what is the case now. */
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

/** What stays the same while it lasts: a message may count, but for that of a warning, which has nothing else. */
function subjectOf({ code, subject, message }: Alert): string {
  return subject ?? (code === 'warning' ? message : '')
}

function nameOf({ rule, subject }: Pick<Raised, 'rule' | 'subject'>): string {
  return `${rule}\0${subject}`
}
