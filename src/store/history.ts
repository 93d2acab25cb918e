// Message history: requests and their replies, stored separately from the ledger.

import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import type { HistoryMode } from '../config/types.ts'
import type { Engine, Session, Value } from './engine.ts'
import { cleanText } from './text.ts'

/** What is known of a message without its body. Sizes are in bytes as received, times in Unix milliseconds. */
export interface HistoryHead {
  readonly requestId: string
  readonly account: string
  readonly keyId: string
  readonly keyName: string
  /** The model asked for. */
  readonly model: string
  readonly operation: string
  /** The client's wire format. */
  readonly format: string
  readonly stream: boolean
  readonly at: number
  /** The HTTP status the client got. */
  readonly status: number
  readonly mode: Exclude<HistoryMode, 'off'>
  readonly requestBytes: number
  readonly replyBytes: number
  /** Names of the top-level members of the request. */
  readonly parameters: readonly string[]
  /** A body was longer than the limit and was cut. */
  readonly truncated: boolean
  readonly expiresAt: number
}

export interface HistoryMessage extends HistoryHead {
  /** The encrypted key of a sealed body; null if the body is not sealed. */
  readonly wrappedKey: Uint8Array | null
  /** The document, compressed with gzip, then sealed if the mode says so; null if no body is stored. */
  readonly content: Uint8Array | null
}

export interface HistoryBlob {
  /** SHA-256 of the content as stored, hex. */
  readonly id: string
  readonly type: string
  /** Content as stored: sealed if its message is. */
  readonly content: Uint8Array
}

export interface HistoryEntry {
  readonly message: HistoryMessage
  readonly blobs: readonly HistoryBlob[]
}

export interface FoundMessage extends HistoryMessage {
  readonly blobs: readonly { readonly id: string; readonly type: string; readonly size: number }[]
}

/** Search filter; `since <= at < until`. */
interface HistoryFilter {
  readonly requestId?: string | undefined
  readonly account?: string | undefined
  readonly key?: string | undefined
  readonly model?: string | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Only messages with a body, or only those without. */
  readonly hasBody?: boolean | undefined
  /** Only unsealed messages whose document contains this text, ignoring case. */
  readonly text?: string | undefined
  /** Only messages older than this one, in the order of the list: the end of the previous page. */
  readonly before?: HistoryPlace | undefined
  /** The most items of a page, newest first. */
  readonly limit: number
}

interface HistoryPlace {
  readonly at: number
  readonly requestId: string
}

interface HistoryPage {
  readonly items: readonly HistoryHead[]
  /** Where the next page starts; null if nothing is left. A search may end a page early, with few items or none. */
  readonly next: HistoryPlace | null
}

/** Selects all messages of an account, those of a range of time, or one. */
interface HistoryRange {
  readonly account: string
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly requestId?: string | undefined
}

export interface HistoryTable {
  /** Stores entries in one transaction; skips those that their owner has deleted meanwhile. */
  add(entries: readonly HistoryEntry[]): Promise<void>
  list(filter: HistoryFilter): Promise<HistoryPage>
  /** null if the account has no such message; `account` null searches all accounts. */
  find(account: string | null, requestId: string): Promise<FoundMessage | null>
  blob(account: string, id: string): Promise<HistoryBlob | null>
  /**
   * Deletes messages, their keys, and blobs that no other message uses, and overwrites them in SQLite's files. Messages
   * of that time that are still to be written will not be stored. Returns the number of deleted messages.
   */
  remove(range: HistoryRange, nowMs: number): Promise<number>
  /** Shortens an account's messages to expire this long after their request. */
  shorten(account: string, keepMs: number): Promise<void>
  /** Deletes expired messages, then the oldest until all take at most `maxBytes`. Returns the bytes left. */
  clean(nowMs: number, maxBytes: number): Promise<number>
}

/** Approximate size of a row without its body: names, numbers and index entries. */
const rowBytes = 512
/** Messages deleted in one transaction. */
const chunk = 200
/** The most that a search reads for one page: bytes as stored and unpacked, and messages. */
const scannedBytes = 8_388_608
const unpackedBytes = 67_108_864
const scannedRows = 1_000
const scannedAtOnce = 50
/** Time after which no message of an older request can still be waiting to be written. */
const forgottenMs = 86_400_000

const headColumns = `request_id AS "requestId", account, key_id AS "keyId", key_name AS "keyName", model, operation,
  format, stream, at, status, mode, request_bytes AS "requestBytes", reply_bytes AS "replyBytes", parameters,
  truncated, expires_at AS "expiresAt"`

const bodyColumns = 'wrapped_key AS "wrappedKey", content'

const insertMessage = `INSERT INTO history_message (request_id, account, key_id, key_name, model, operation, format,
  stream, at, status, mode, request_bytes, reply_bytes, parameters, truncated, wrapped_key, content, size, expires_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

const insertBlob = `INSERT INTO history_blob (account, id, type, size, content) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO NOTHING`

const insertUse = `INSERT INTO history_blob_use (request_id, account, blob_id) VALUES (?, ?, ?)
  ON CONFLICT DO NOTHING`

const unused = `NOT EXISTS (SELECT 1 FROM history_blob_use u
  WHERE u.account = history_blob.account AND u.blob_id = history_blob.id)`

type KeptHead = Omit<HistoryHead, 'stream' | 'truncated' | 'parameters'> & {
  readonly stream: number
  readonly truncated: number
  readonly parameters: string
}

type Kept = KeptHead & Pick<HistoryMessage, 'wrappedKey' | 'content'>

function headOf({ stream, truncated, parameters, ...rest }: KeptHead): HistoryHead {
  return {
    ...rest,
    stream: stream === 1,
    truncated: truncated === 1,
    parameters: JSON.parse(parameters) as string[],
  }
}

export function historyTable(engine: Engine): HistoryTable {
  return {
    async add(entries) {
      await engine.transaction(async (session) => {
        await lock(session)
        let bytes = 0
        for (const entry of entries) bytes += await insert(session, entry)
        await count(session, bytes)
      })
    },
    list: (filter) =>
      filter.text === undefined ? listed(engine, filter) : searched(engine, filter, filter.text),
    async find(account, requestId) {
      const mine = account === null ? '' : ' AND account = ?'
      const sql = `SELECT ${headColumns}, ${bodyColumns} FROM history_message WHERE request_id = ?${mine}`
      const values = [cleanText(requestId), ...(account === null ? [] : [cleanText(account)])]
      const [row] = await engine.query<Kept>(sql, values)
      if (row === undefined) return null
      const { wrappedKey, content, ...head } = row
      const blobs = `SELECT id, type, size FROM history_blob b JOIN history_blob_use u
        ON u.account = b.account AND u.blob_id = b.id WHERE u.request_id = ? ORDER BY id`
      return {
        ...headOf(head),
        wrappedKey,
        content,
        blobs: await engine.query(blobs, [row.requestId]),
      }
    },
    async blob(account, id) {
      const sql = 'SELECT id, type, content FROM history_blob WHERE account = ? AND id = ?'
      return (await engine.query<HistoryBlob>(sql, [cleanText(account), cleanText(id)]))[0] ?? null
    },
    async remove(range, nowMs) {
      if (range.requestId === undefined) await forget(engine, range, nowMs)
      const removed = await removeAll(engine, conditionsOf(range), Number.POSITIVE_INFINITY)
      if (removed > 0) await shred(engine)
      return removed
    },
    async shorten(account, keepMs) {
      const sql =
        'UPDATE history_message SET expires_at = at + ? WHERE account = ? AND expires_at > at + ?'
      await engine.run(sql, [keepMs, cleanText(account), keepMs])
    },
    async clean(nowMs, maxBytes) {
      await engine.run('DELETE FROM history_forgotten WHERE made_at < ?', [nowMs - forgottenMs])
      const expired = { where: 'expires_at <= ?', values: [nowMs] }
      await removeAll(engine, expired, Number.POSITIVE_INFINITY)
      let bytes = await total(engine)
      while (bytes > maxBytes) {
        if ((await removeAll(engine, { where: '1 = 1', values: [] }, chunk)) === 0) break
        bytes = await total(engine)
      }
      await shred(engine)
      return bytes
    },
  }
}

/** Serialises writers and deleters, so that a writer that began earlier cannot restore what was deleted. */
async function lock(session: Session): Promise<void> {
  await session.run('UPDATE history_total SET bytes = bytes', [])
}

async function count(session: Session, bytes: number): Promise<void> {
  await session.run('UPDATE history_total SET bytes = bytes + ?', [bytes])
}

async function total(engine: Engine): Promise<number> {
  const [row] = await engine.query<{ readonly bytes: number }>(
    'SELECT bytes FROM history_total',
    [],
  )
  return row?.bytes ?? 0
}

/** Returns the number of bytes stored. */
async function insert(session: Session, { message, blobs }: HistoryEntry): Promise<number> {
  const { content, wrappedKey, at } = message
  const account = cleanText(message.account)
  const gone = 'SELECT 1 FROM history_forgotten WHERE account = ? AND since <= ? AND until > ?'
  if ((await session.query(gone, [account, at, at])).length > 0) return 0
  const requestId = cleanText(message.requestId)
  const size = rowBytes + (content?.length ?? 0)
  const inserted = await session.run(insertMessage, [
    requestId,
    account,
    cleanText(message.keyId),
    cleanText(message.keyName),
    cleanText(message.model),
    message.operation,
    message.format,
    message.stream ? 1 : 0,
    at,
    message.status,
    message.mode,
    message.requestBytes,
    message.replyBytes,
    JSON.stringify(message.parameters.map(cleanText)),
    message.truncated ? 1 : 0,
    wrappedKey,
    content,
    size,
    message.expiresAt,
  ])
  if (inserted === 0) return 0
  let bytes = size
  for (const { id, type, content } of blobs) {
    const values = [account, id, cleanText(type), content.length, content]
    if ((await session.run(insertBlob, values)) > 0) bytes += content.length
    await session.run(insertUse, [requestId, account, id])
  }
  return bytes
}

interface Conditions {
  readonly where: string
  readonly values: readonly Value[]
}

function conditionsOf(
  filter: Partial<HistoryFilter> & { readonly requestId?: string | undefined },
): Conditions {
  const { account, requestId, key, model, since, until, hasBody, before } = filter
  const parts: string[] = []
  const values: Value[] = []
  const add = (part: string, ...bound: Value[]) => {
    parts.push(part)
    values.push(...bound)
  }
  if (account !== undefined) add('account = ?', cleanText(account))
  if (requestId !== undefined) add('request_id = ?', cleanText(requestId))
  if (key !== undefined) add('key_id = ?', cleanText(key))
  if (model !== undefined) add('model = ?', cleanText(model))
  if (since !== undefined) add('at >= ?', since)
  if (until !== undefined) add('at < ?', until)
  if (hasBody !== undefined) add(hasBody ? "mode <> 'metadata'" : "mode = 'metadata'")
  if (before !== undefined)
    add('at <= ? AND (at, request_id) < (?, ?)', before.at, before.at, cleanText(before.requestId))
  return { where: parts.length === 0 ? '1 = 1' : parts.join(' AND '), values }
}

const newestFirst = 'ORDER BY at DESC, request_id DESC LIMIT ?'

async function listed(engine: Engine, filter: HistoryFilter): Promise<HistoryPage> {
  const { where, values } = conditionsOf(filter)
  const sql = `SELECT ${headColumns} FROM history_message WHERE ${where} ${newestFirst}`
  // One row more than the page shows whether there is a next page.
  const rows = await engine.query<KeptHead>(sql, [...values, filter.limit + 1])
  const items = rows.slice(0, filter.limit).map(headOf)
  return { items, next: rows.length > items.length ? placeOf(items.at(-1)) : null }
}

function placeOf(head: HistoryHead | undefined): HistoryPlace | null {
  return head === undefined ? null : { at: head.at, requestId: head.requestId }
}

/** Reads bodies, newest first, until enough are found or the limits are reached; an index would reveal contents. */
async function searched(engine: Engine, filter: HistoryFilter, text: string): Promise<HistoryPage> {
  const { gunzipSync } = await import('node:zlib')
  const sought = JSON.stringify(text).slice(1, -1).toLowerCase()
  const holds = (content: Uint8Array) =>
    gunzipSync(content).toString('utf8').toLowerCase().includes(sought)
  const items: HistoryHead[] = []
  let before = filter.before
  let bytes = 0
  let unpacked = 0
  for (let rows = 0; rows < scannedRows && bytes < scannedBytes; rows += scannedAtOnce) {
    const { where, values } = conditionsOf({ ...filter, before })
    const sql = `SELECT ${headColumns}, ${bodyColumns} FROM history_message
      WHERE mode = 'full' AND ${where} ${newestFirst}`
    const found = await engine.query<Kept>(sql, [...values, scannedAtOnce])
    for (const { wrappedKey: _, content, ...head } of found) {
      const size = unpackedSize(content)
      if (unpacked > 0 && unpacked + size > unpackedBytes) return { items, next: before ?? null }
      unpacked += size
      before = { at: head.at, requestId: head.requestId }
      bytes += content?.length ?? 0
      // Lets requests on the same thread proceed between two messages.
      await turn()
      if (content === null || !holds(content)) continue
      items.push(headOf(head))
      if (items.length === filter.limit) return { items, next: before }
    }
    if (found.length < scannedAtOnce) return { items, next: null }
  }
  return { items, next: before ?? null }
}

/** The last four bytes of a gzip file (RFC 1952); what is repetitive is packed a thousand times smaller. */
function unpackedSize(content: Uint8Array | null): number {
  if (content === null || content.length < 4) return 0
  const { buffer, byteOffset, length } = content
  return new DataView(buffer, byteOffset, length).getUint32(length - 4, true)
}

/** Marks a range of time as deleted, so that messages of requests that still run then are not stored. */
async function forget(
  engine: Engine,
  { account, since, until }: HistoryRange,
  nowMs: number,
): Promise<void> {
  await engine.transaction(async (session) => {
    await lock(session)
    const sql = 'INSERT INTO history_forgotten (account, since, until, made_at) VALUES (?, ?, ?, ?)'
    await session.run(sql, [
      cleanText(account),
      since ?? 0,
      Math.min(until ?? nowMs + 1, nowMs + 1),
      nowMs,
    ])
  })
}

/** Deletes the oldest first, at most `most` rounded up to whole chunks; returns how many. */
async function removeAll(
  engine: Engine,
  { where, values }: Conditions,
  most: number,
): Promise<number> {
  const sql = `SELECT request_id AS id, size FROM history_message WHERE ${where} ORDER BY at, request_id LIMIT ?`
  let removed = 0
  while (removed < most) {
    const count = await engine.transaction(async (session) => {
      await lock(session)
      const rows = await session.query<{ readonly id: string; readonly size: number }>(sql, [
        ...values,
        chunk,
      ])
      if (rows.length > 0) await removeRows(session, rows)
      return rows.length
    })
    removed += count
    if (count < chunk) break
  }
  return removed
}

async function removeRows(
  session: Session,
  rows: readonly { readonly id: string; readonly size: number }[],
): Promise<void> {
  const ids = rows.map(({ id }) => id)
  const listed = ids.map(() => '?').join(', ')
  const uses = `SELECT DISTINCT account, blob_id AS id FROM history_blob_use WHERE request_id IN (${listed})`
  const blobs = await session.query<{ readonly account: string; readonly id: string }>(uses, ids)
  await session.run(`DELETE FROM history_blob_use WHERE request_id IN (${listed})`, ids)
  await session.run(`DELETE FROM history_message WHERE request_id IN (${listed})`, ids)
  let bytes = rows.reduce((sum, { size }) => sum + size, 0)
  for (const { account, id } of blobs) {
    const sql = `DELETE FROM history_blob WHERE account = ? AND id = ? AND ${unused} RETURNING size`
    const [row] = await session.query<{ readonly size: number }>(sql, [account, id])
    bytes += row?.size ?? 0
  }
  await count(session, -bytes)
}

const longestShredMs = 5_000
const shredPauseMs = 20

/**
 * SQLite overwrites deleted content (`secure_delete`), and emptying its log removes the rest from the files. Waits for
 * readers of the log for a while; if one stays longer, the next cleaning empties it.
 */
async function shred(engine: Engine): Promise<void> {
  if (engine.kind !== 'sqlite') return
  const sinceMs = performance.now()
  for (;;) {
    const sql = 'PRAGMA wal_checkpoint(TRUNCATE)'
    const [row] = await engine.query<{ readonly busy: number }>(sql, [])
    if (row?.busy !== 1 || performance.now() - sinceMs > longestShredMs) return
    await delay(shredPauseMs)
  }
}
