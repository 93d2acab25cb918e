// What an account wants to be warned of, where to, and the list of what it was told.

import { randomBase62 } from '../identity/secret.ts'
import type { SecretBox } from '../identity/secret-box.ts'
import type { AlertNotice } from '../store/alerts.ts'
import { type AlertRules, type NoticeFacts, rulesOf } from './alert-rules.ts'
import { cursorAfter, type Page, timePlace } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

interface AlertsView extends AlertRules {
  readonly currency: string
  readonly revision: number
  /** In this reply and nowhere else; null: the one before counts, or there is no webhook. */
  readonly webhookSecret: string | null
}

export async function readAlerts(
  { store, currency }: AdminContext,
  { account }: Input<'account'>,
): Promise<AlertsView> {
  const kept = await store.alerts.setting(account)
  const rules = rulesOf(kept)
  const revision = kept?.revision ?? 0
  return { ...rules, currency: await currency(), revision, webhookSecret: null }
}

/** What is left out is off. A webhook's secret is made with its first address, and with `newSecret`. Throws AdminError `stale`. */
export async function setAlerts(
  admin: AdminContext,
  { newSecret, ...given }: Input<'setAlerts'>,
  whose: {
    readonly account: string
    readonly revision: number | undefined
    readonly box: SecretBox
  },
): Promise<AlertsView> {
  const { account, revision, box } = whose
  const textOf = (amount: bigint | null) => (amount === null ? null : String(amount))
  const document: AlertRules = {
    ...given,
    lowBalanceNano: textOf(given.lowBalanceNano),
    daySpendNano: textOf(given.daySpendNano),
  }
  for (;;) {
    const before = await admin.store.alerts.setting(account)
    const known = before?.revision ?? 0
    if (revision !== undefined && revision !== known)
      throw new AdminError('stale', 'revision', 'the alerts were changed since they were read')
    const isNew = given.webhook !== null && (newSecret || before === null || before.secret === null)
    const made = isNew ? `whsec_${randomBase62(32)}` : null
    const kept = given.webhook === null ? null : (before?.secret ?? null)
    const secret = made === null ? kept : box.encrypt(made)
    // Changed by another meanwhile: read again.
    if (await admin.store.alerts.put({ account, document, secret, revision: known }))
      return { ...(await readAlerts(admin, { account })), webhookSecret: made }
  }
}

export function noticeView({ id, at, readAt, document, ...post }: AlertNotice) {
  const { attempts, failure, dueAt } = post
  const delivery =
    attempts === 0 && dueAt === null
      ? null
      : {
          state:
            failure === null && dueAt === null
              ? ('delivered' as const)
              : dueAt === null
                ? ('failed' as const)
                : ('waiting' as const),
          attempts,
          failure,
        }
  return { id, at: timeText(at), readAt: timeText(readAt), ...(document as NoticeFacts), delivery }
}

type Notices = Page<ReturnType<typeof noticeView>> & {
  /** Of all; 100: or more. */
  readonly unread: number
}

/** Newest first. */
export async function listNotices(
  { store }: AdminContext,
  { account, unread, limit = 50, cursor }: Input<'listNotices'>,
): Promise<Notices> {
  const before = timePlace(cursor)
  const rows = await store.alertNotices.list({ account, unread, before, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return {
    items: shown.map(noticeView),
    next: last === undefined ? null : cursorAfter(`${last.at} ${last.id}`),
    unread: await store.alertNotices.unread(account),
  }
}

export async function readNotices(
  { store, nowMs }: AdminContext,
  { account, ids }: Input<'readNotices'>,
): Promise<{ readonly read: number }> {
  return { read: await store.alertNotices.markRead(account, ids, nowMs) }
}
