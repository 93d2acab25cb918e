// Alert settings of accounts, the alerts now raised, and the notices sent; one process at a time evaluates them.

import type { Engine, Session, Value } from './engine.ts'
import { aheadMs, nowMs } from './leases.ts'
import { cleanText } from './text.ts'

export interface AlertSetting {
  readonly account: string
  /** The settings as the alerts code serialises them. */
  readonly document: unknown
  /** Secret of the webhook, encrypted; null: there is no webhook. */
  readonly secret: string | null
  /** Grows by 1 with each change; 0: never stored. */
  readonly revision: number
}

export interface Raised {
  readonly account: string
  readonly rule: string
  readonly subject: string
  /** Unix milliseconds. */
  readonly at: number
}

export interface AlertNotice {
  readonly id: string
  readonly account: string
  readonly at: number
  readonly document: unknown
  readonly readAt: number | null
  readonly webhook: NoticePost
  readonly mail: NoticePost
}

/** A channel by which a notice is sent. */
export type NoticeWay = 'webhook' | 'mail'

export interface NoticePost {
  /** When it is to be sent, Unix milliseconds; null: not, or not again. */
  readonly dueAt: number | null
  readonly attempts: number
  /** Why the last attempt to send it failed. */
  readonly failure: string | null
}

export interface NewNotice extends Pick<AlertNotice, 'id' | 'account' | 'at' | 'document'> {
  /** When it is to be sent each way, Unix milliseconds; null: not at all. */
  readonly dueAt: Readonly<Record<NoticeWay, number | null>>
}

export interface AlertTable {
  setting(account: string): Promise<AlertSetting | null>
  settings(): Promise<readonly AlertSetting[]>
  /** `revision`: the revision that was read before. Returns false if the stored one is another by now. */
  put(setting: AlertSetting): Promise<boolean>
  /** Reserves evaluation for this process, for a time by the database's clock; false while another process has it. */
  takeTurn(forMs: number): Promise<boolean>
  raised(): Promise<readonly Raised[]>
  /** Stores both or neither: returns false if this alert is raised already. */
  raise(raised: Raised, notice: NewNotice): Promise<boolean>
  /** Returns how many of these were still raised; stores `notice` if any was. */
  clear(raised: readonly Omit<Raised, 'at'>[], notice?: NewNotice): Promise<number>
}

interface NoticeFilter {
  readonly account: string
  readonly unread: boolean
  /** Only notices older than this one. */
  readonly before?: { readonly at: number; readonly id: string } | undefined
  readonly limit: number
}

export interface AlertNoticeTable {
  /** Newest first. */
  list(filter: NoticeFilter): Promise<readonly AlertNotice[]>
  unread(account: string): Promise<number>
  /** `ids` null: all notices of the account. Returns how many were unread. */
  markRead(account: string, ids: readonly string[] | null, at: number): Promise<number>
  /** Notices that are due to be sent, the oldest first. */
  due(way: NoticeWay, at: number, limit: number): Promise<readonly AlertNotice[]>
  posted(id: string, way: NoticeWay, post: NoticePost): Promise<void>
  prune(before: number): Promise<void>
}

type KeptSetting = Omit<AlertSetting, 'document'> & { readonly document: string }

const selectSettings = 'SELECT account, document, secret, revision FROM alert_setting'

function settingOf(kept: KeptSetting): AlertSetting {
  return { ...kept, document: JSON.parse(kept.document) }
}

const putNew = `INSERT INTO alert_setting (document, secret, account, revision) VALUES (?, ?, ?, 1)
  ON CONFLICT DO NOTHING`
const putChanged = `UPDATE alert_setting SET document = ?, secret = ?, revision = revision + 1
  WHERE account = ? AND revision = ?`

export function alertTable(engine: Engine): AlertTable {
  const now = nowMs[engine.kind]
  return {
    async setting(account) {
      const sql = `${selectSettings} WHERE account = ?`
      const [kept] = await engine.query<KeptSetting>(sql, [cleanText(account)])
      return kept === undefined ? null : settingOf(kept)
    },
    async settings() {
      return (await engine.query<KeptSetting>(`${selectSettings} ORDER BY account`, [])).map(
        settingOf,
      )
    },
    async put({ account, document, secret, revision }) {
      const values: Value[] = [JSON.stringify(document), secret, cleanText(account)]
      if (revision === 0) return (await engine.run(putNew, values)) > 0
      return (await engine.run(putChanged, [...values, revision])) > 0
    },
    async takeTurn(forMs) {
      const sql = `UPDATE alert_turn SET until = ${now} + ? WHERE until <= ${now} OR until > ${now} + ?`
      return (await engine.run(sql, [forMs, forMs + aheadMs])) > 0
    },
    raised: () => engine.query<Raised>('SELECT account, rule, subject, at FROM alert_raised', []),
    raise: ({ account, rule, subject, at }, notice) =>
      engine.transaction(async (session) => {
        const sql = `INSERT INTO alert_raised (account, rule, subject, at) VALUES (?, ?, ?, ?)
          ON CONFLICT DO NOTHING`
        const values = [cleanText(account), rule, cleanText(subject), at]
        if ((await session.run(sql, values)) === 0) return false
        await insertNotice(session, notice)
        return true
      }),
    async clear(raised, notice) {
      if (raised.length === 0) return 0
      return engine.transaction(async (session) => {
        const sql = 'DELETE FROM alert_raised WHERE account = ? AND rule = ? AND subject = ?'
        let cleared = 0
        for (const { account, rule, subject } of raised)
          cleared += await session.run(sql, [cleanText(account), rule, cleanText(subject)])
        if (notice !== undefined && cleared > 0) await insertNotice(session, notice)
        return cleared
      })
    },
  }
}

async function insertNotice(session: Session, notice: NewNotice): Promise<void> {
  const { id, account, at, document, dueAt } = notice
  await session.run(
    `INSERT INTO alert_notice (id, account, at, document, due_at, attempts, mail_due_at)
      VALUES (?, ?, ?, ?, ?, 0, ?)`,
    [id, cleanText(account), at, JSON.stringify(document), dueAt.webhook, dueAt.mail],
  )
}

interface KeptNotice extends Omit<AlertNotice, NoticeWay>, NoticePost {
  readonly document: string
  readonly mailDueAt: number | null
  readonly mailAttempts: number
  readonly mailFailure: string | null
}

const selectNotices = `SELECT id, account, at, document, read_at AS "readAt", due_at AS "dueAt", attempts, failure,
    mail_due_at AS "mailDueAt", mail_attempts AS "mailAttempts", mail_failure AS "mailFailure"
  FROM alert_notice`

function noticeOf({ document, dueAt, attempts, failure, ...kept }: KeptNotice): AlertNotice {
  const { mailDueAt, mailAttempts, mailFailure, ...plain } = kept
  return {
    ...plain,
    document: JSON.parse(document),
    webhook: { dueAt, attempts, failure },
    mail: { dueAt: mailDueAt, attempts: mailAttempts, failure: mailFailure },
  }
}

/** Prefixes of the column names for each way of sending. */
const columnsOf = { webhook: '', mail: 'mail_' } as const satisfies Record<NoticeWay, string>

export function alertNoticeTable(engine: Engine): AlertNoticeTable {
  return {
    async list({ account, unread, before, limit }) {
      const values: Value[] = [cleanText(account)]
      if (before !== undefined) values.push(before.at, cleanText(before.id))
      const kept = await engine.query<KeptNotice>(
        `${selectNotices} WHERE account = ?${before === undefined ? '' : ' AND (at, id) < (?, ?)'}
          ${unread ? 'AND read_at IS NULL' : ''} ORDER BY at DESC, id DESC LIMIT ?`,
        [...values, limit],
      )
      return kept.map(noticeOf)
    },
    async unread(account) {
      const sql = 'SELECT id FROM alert_notice WHERE account = ? AND read_at IS NULL LIMIT 100'
      return (await engine.query(sql, [cleanText(account)])).length
    },
    markRead(account, ids, at) {
      const some = ids === null ? '' : ` AND id IN (${ids.map(() => '?').join(', ')})`
      const sql = `UPDATE alert_notice SET read_at = ? WHERE account = ? AND read_at IS NULL${some}`
      return engine.run(sql, [at, cleanText(account), ...(ids ?? []).map(cleanText)])
    },
    async due(way, at, limit) {
      const of = columnsOf[way]
      const sql = `${selectNotices} WHERE ${of}due_at IS NOT NULL
        AND (${of}due_at <= ? OR (${of}attempts = 0 AND at > ?)) ORDER BY ${of}due_at, id LIMIT ?`
      return (await engine.query<KeptNotice>(sql, [at, at + aheadMs, limit])).map(noticeOf)
    },
    async posted(id, way, { dueAt, attempts, failure }) {
      const of = columnsOf[way]
      await engine.run(
        `UPDATE alert_notice SET ${of}due_at = ?, ${of}attempts = ?, ${of}failure = ? WHERE id = ?`,
        [dueAt, attempts, failure === null ? null : cleanText(failure), id],
      )
    },
    async prune(before) {
      await engine.run('DELETE FROM alert_notice WHERE at < ?', [before])
    },
  }
}
