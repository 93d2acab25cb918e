// An account's alert settings, where its notices are sent, and the list of notices.

import { randomBase62 } from '../identity/secret.ts'
import type { SecretBox } from '../identity/secret-box.ts'
import type { AlertNotice, NoticePost } from '../store/alerts.ts'
import type { Store } from '../store/store.ts'
import { type AlertRules, rulesOf } from './alert-rules.ts'
import { codeHash, randomCode } from './code.ts'
import type { NoticeFacts } from './notice.ts'
import { cursorAfter, type Page, timePlace } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

interface AlertsView extends AlertRules {
  readonly currency: string
  readonly revision: number
  /** Shown in this reply only; null: the previous secret remains valid, or there is no webhook. */
  readonly webhookSecret: string | null
  /** The verified address that the person signs in with, which needs no code. */
  readonly accountEmail: string | null
}

/** The stored form: the rules, and the hash of a mailed code. */
interface Kept extends AlertRules {
  readonly emailCode?: { readonly hash: string; readonly until: number } | null
}

const codeMs = 86_400_000

export async function readAlerts(
  { store, currency }: AdminContext,
  { account }: Input<'account'>,
): Promise<AlertsView> {
  const kept = await store.alerts.setting(account)
  const { emailCode: _, ...rules } = rulesOf(kept) as Kept
  const revision = kept?.revision ?? 0
  return {
    ...rules,
    currency: await currency(),
    revision,
    webhookSecret: null,
    accountEmail: await ownAddress(store, account),
  }
}

async function ownAddress(store: Store, account: string): Promise<string | null> {
  const person = await store.people.find(account)
  return person?.emailVerified === true ? person.email : null
}

interface Whose {
  readonly account: string
  readonly revision: number | undefined
  readonly box: SecretBox
  /** Mails the code to the address; null: this deployment sends no mail. */
  readonly mailCode: ((address: string, code: string) => Promise<void>) | null
}

/**
 * Rules that are left out are turned off. A webhook secret is made with the first address and with `newSecret`; an
 * address that is not verified is mailed a code. Throws AdminError `stale`.
 */
export async function setAlerts(
  admin: AdminContext,
  { newSecret, newCode, ...given }: Input<'setAlerts'>,
  whose: Whose,
): Promise<AlertsView> {
  const { account, revision, box } = whose
  const textOf = (amount: bigint | null) => (amount === null ? null : String(amount))
  const asked = {
    ...given,
    lowBalanceNano: textOf(given.lowBalanceNano),
    daySpendNano: textOf(given.daySpendNano),
  }
  let mailed: Kept['emailCode'] = null
  for (;;) {
    const before = await admin.store.alerts.setting(account)
    const known = before?.revision ?? 0
    if (revision !== undefined && revision !== known)
      throw new AdminError('stale', 'revision', 'the alerts were changed since they were read')
    const isNew = given.webhook !== null && (newSecret || before === null || before.secret === null)
    const made = isNew ? `whsec_${randomBase62(32)}` : null
    const kept = given.webhook === null ? null : (before?.secret ?? null)
    const secret = made === null ? kept : box.encrypt(made)
    const mail = await mailOf(admin, asked.email, {
      whose,
      before: rulesOf(before),
      newCode,
      mailed,
    })
    mailed = mail.emailCode
    const document: Kept = { ...asked, ...mail }
    // Another process changed the settings meanwhile: read them again.
    if (await admin.store.alerts.put({ account, document, secret, revision: known }))
      return { ...(await readAlerts(admin, { account })), webhookSecret: made }
  }
}

interface MailChange {
  readonly whose: Whose
  readonly before: Kept
  readonly newCode: boolean
  /** The code that this call mailed in an earlier round of its loop. */
  readonly mailed: Kept['emailCode']
}

async function mailOf(
  { store, nowMs }: AdminContext,
  email: string | null,
  { whose, before, newCode, mailed }: MailChange,
): Promise<Required<Pick<Kept, 'emailVerified' | 'emailCode'>>> {
  if (email === null) return { emailVerified: false, emailCode: null }
  if (whose.mailCode === null)
    throw new AdminError('invalid', 'email', 'this deployment has no mail server', 'no_mail_server')
  const own = await ownAddress(store, whose.account)
  const isSame = before.email === email
  if (own?.toLowerCase() === email.toLowerCase() || (isSame && before.emailVerified))
    return { emailVerified: true, emailCode: null }
  const open = mailed ?? (isSame && !newCode ? before.emailCode : null)
  if (open && open.until > nowMs) return { emailVerified: false, emailCode: open }
  const code = randomCode(10)
  await whose.mailCode(email, code)
  return { emailVerified: false, emailCode: { hash: codeHash(code), until: nowMs + codeMs } }
}

/** Verifies the address: the code proves that its mail is read. Throws AdminError. */
export async function verifyEmail(
  admin: AdminContext,
  { code }: Input<'verifyEmail'>,
  { account }: Input<'account'>,
): Promise<AlertsView> {
  for (;;) {
    const before = await admin.store.alerts.setting(account)
    const rules: Kept = rulesOf(before)
    const { emailCode } = rules
    const fits = emailCode?.hash === codeHash(code) && emailCode.until > admin.nowMs
    if (before === null || !fits)
      throw new AdminError(
        'invalid',
        'code',
        'is not the one that was mailed last, or is too old',
        'mail_code_wrong',
      )
    const document: Kept = { ...rules, emailVerified: true, emailCode: null }
    if (await admin.store.alerts.put({ ...before, document })) return readAlerts(admin, { account })
  }
}

export function noticeView({ id, at, readAt, document, webhook, mail }: AlertNotice) {
  return {
    id,
    at: timeText(at),
    readAt: timeText(readAt),
    ...(document as NoticeFacts),
    delivery: deliveryOf(webhook),
    mail: deliveryOf(mail),
  }
}

/** null: the notice was not to be sent this way. */
export function deliveryOf({ dueAt, attempts, failure }: NoticePost) {
  if (attempts === 0 && dueAt === null) return null
  const hasLeft = failure === null && dueAt === null
  const state = hasLeft ? 'delivered' : dueAt === null ? 'failed' : 'waiting'
  return { state, attempts, failure } as const
}

type Notices = Page<ReturnType<typeof noticeView>> & {
  /** Unread notices in all; 100 stands for 100 or more. */
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
