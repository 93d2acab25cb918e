// Data of the control API itself: replies stored for repeated requests, and the log of operators' actions.

import { containing } from './containing.ts'
import type { Engine, Session, Value } from './engine.ts'
import { cleanLongText, cleanText, cleanTextOrNull } from './text.ts'

interface ReplyEntry {
  readonly principal: string
  readonly key: string
  readonly requestHash: string
}

type KeptReplyFound =
  /** Nobody used the key before; it now belongs to this request. */
  | { readonly state: 'new' }
  | { readonly state: 'other-request' }
  | { readonly state: 'running' }
  | { readonly state: 'done'; readonly status: number; readonly body: string }

export interface ControlReplyTable {
  /** Reserves the key for a request, or returns its state. An expired key counts as free. */
  begin(entry: ReplyEntry, nowMs: number, expiresAt: number): Promise<KeptReplyFound>
  /** `body`: already encrypted by the caller. */
  complete(entry: ReplyEntry, status: number, body: string): Promise<void>
  /** Frees a key whose request changed nothing. */
  forget(entry: ReplyEntry): Promise<void>
}

export interface OperatorEvent {
  /** Ids sort by time. */
  readonly id: string
  /** Unix milliseconds. */
  readonly at: number
  readonly actor: string
  readonly role: 'user' | 'admin' | 'auditor'
  /** The operation's id, such as `updateKey`. */
  readonly action: string
  readonly target: Readonly<Record<string, string>>
  readonly detail: Readonly<Record<string, unknown>>
  readonly address: string | null
  /** Values before and after, by member name; null if unknown, or if nothing changed. */
  readonly changes: EventChanges | null
}

export type EventChanges = Readonly<
  Record<string, { readonly before: unknown; readonly after: unknown }>
>

interface OperatorEventFilter {
  readonly id?: string | undefined
  /** Whole, or only the id in it. */
  readonly actor?: string | undefined
  readonly action?: string | undefined
  /** Text to find in any field of an event, ignoring case. */
  readonly text?: string | undefined
  /** Unix milliseconds: since <= at < until. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Only events older than this one, in the order of the list. */
  readonly before?: { readonly at: number; readonly id: string } | undefined
  readonly limit: number
}

/** Append-only. */
export interface OperatorEventTable {
  add(event: OperatorEvent): Promise<void>
  /** Newest first. */
  list(filter: OperatorEventFilter): Promise<readonly OperatorEvent[]>
}

const take = `INSERT INTO control_reply (principal, key, request_hash, created_at, expires_at)
  VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
const selectReply = `SELECT request_hash AS "requestHash", status, body FROM control_reply
  WHERE principal = ? AND key = ?`
const ofEntry = 'WHERE principal = ? AND key = ? AND request_hash = ?'

interface KeptReply {
  readonly requestHash: string
  readonly status: number | null
  readonly body: string | null
}

export function controlReplyTable(engine: Engine): ControlReplyTable {
  const named = ({ principal, key, requestHash }: ReplyEntry): Value[] => [
    cleanText(principal),
    cleanText(key),
    requestHash,
  ]
  return {
    async begin(entry, nowMs, expiresAt) {
      await engine.run('DELETE FROM control_reply WHERE expires_at <= ?', [nowMs])
      for (;;) {
        if ((await engine.run(take, [...named(entry), nowMs, expiresAt])) > 0)
          return { state: 'new' }
        const [kept] = await engine.query<KeptReply>(selectReply, named(entry).slice(0, 2))
        if (kept !== undefined) return found(kept, entry)
      }
    },
    async complete(entry, status, body) {
      const sql = `UPDATE control_reply SET status = ?, body = ? ${ofEntry}`
      await engine.run(sql, [status, body, ...named(entry)])
    },
    async forget(entry) {
      await engine.run(`DELETE FROM control_reply ${ofEntry} AND status IS NULL`, named(entry))
    },
  }
}

function found({ requestHash, status, body }: KeptReply, entry: ReplyEntry): KeptReplyFound {
  if (requestHash !== entry.requestHash) return { state: 'other-request' }
  if (status === null || body === null) return { state: 'running' }
  return { state: 'done', status, body }
}

const insertEvent = `INSERT INTO operator_event (id, at, actor, role, action, target, detail, address, changes)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
const selectEvents =
  'SELECT id, at, actor, role, action, target, detail, address, changes FROM operator_event'

type KeptEvent = Omit<OperatorEvent, 'target' | 'detail' | 'changes'> & {
  readonly changes: string | null
  readonly target: string
  readonly detail: string
}

export function operatorEventTable(engine: Engine): OperatorEventTable {
  return {
    async add({ id, at, actor, role, action, target, detail, address, changes }) {
      await engine.run(insertEvent, [
        cleanText(id),
        at,
        cleanText(actor),
        role,
        action,
        cleanLongText(JSON.stringify(target)),
        cleanLongText(JSON.stringify(detail)),
        cleanTextOrNull(address),
        changes === null ? null : cleanLongText(JSON.stringify(changes)),
      ])
    },
    async list(filter) {
      const { where, values } = eventConditions(engine, filter)
      const sql = `${selectEvents}${where} ORDER BY at DESC, id DESC LIMIT ?`
      const kept = await engine.query<KeptEvent>(sql, [...values, filter.limit])
      return kept.map((event) => ({
        ...event,
        target: JSON.parse(event.target),
        detail: JSON.parse(event.detail),
        changes: event.changes === null ? null : JSON.parse(event.changes),
      }))
    },
  }
}

const eventTexts = ['id', 'actor', 'action', 'target', 'detail', "coalesce(changes, '')"]

function eventConditions(session: Session, filter: OperatorEventFilter) {
  const { id, actor, action, text, since, until, before } = filter
  const conditions: string[] = []
  const values: Value[] = []
  const add = (condition: string, ...bound: Value[]) => {
    conditions.push(condition)
    values.push(...bound)
  }
  if (id !== undefined) add('id = ?', cleanText(id))
  if (actor !== undefined) {
    const name = cleanText(actor)
    add('actor IN (?, ?, ?)', name, `account ${name}`, `management key ${name}`)
  }
  if (action !== undefined) add('action = ?', cleanText(action))
  if (text !== undefined) {
    const { sql, pattern } = containing(session, text)
    add(`(${eventTexts.map(sql).join(' OR ')})`, ...eventTexts.map(() => pattern))
  }
  if (since !== undefined) add('at >= ?', since)
  if (until !== undefined) add('at < ?', until)
  if (before !== undefined)
    add('at <= ? AND (at, id) < (?, ?)', before.at, before.at, cleanText(before.id))
  return { where: conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`, values }
}
