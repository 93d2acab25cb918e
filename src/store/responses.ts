// Stored replies of the Responses format, each with its input and the response that it continues.

import type { Engine, Session } from './engine.ts'
import type { NodeRef } from './ledger.ts'
import { isDeleted } from './people.ts'
import { cleanText } from './text.ts'

/** One stored response; ids are unique within an account. Times are Unix milliseconds. */
export interface ResponseRow {
  readonly account: string
  readonly id: string
  readonly previousId: string | null
  /** The response is being made by the node that writes this row; without that node it never completes. */
  readonly running: boolean
  /** Its own input items, without earlier ones, as a JSON list; null if all of it is too large to be stored. */
  readonly input: string | null
  /** The response as JSON; null if it is too large to be stored. */
  readonly body: string | null
  /** Ids of its output items. */
  readonly items: readonly string[]
  readonly createdAt: number
  readonly expiresAt: number
}

export type ResponseChange =
  /** Replaces a response of the same id. The responses it continues are kept at least as long as it is. */
  | { readonly kind: 'keep'; readonly row: ResponseRow }
  /** Completes a running response; changes nothing if it does not run. */
  | {
      readonly kind: 'finish'
      readonly account: string
      readonly id: string
      readonly body: string | null
      readonly items: readonly string[]
    }
  | { readonly kind: 'remove'; readonly account: string; readonly id: string }

export interface FoundResponse {
  readonly id: string
  readonly previousId: string | null
  readonly running: boolean
  /** It ran on a node that is gone, and will never complete. */
  readonly abandoned: boolean
  readonly input: string | null
  readonly body: string | null
  readonly createdAt: number
}

export interface ResponseTable {
  /** Applies all in one transaction; returns how many rows each changed. Running responses belong to the node `by`. */
  apply(changes: readonly ResponseChange[], by: NodeRef | null): Promise<readonly number[]>
  find(account: string, id: string, nowMs: number): Promise<FoundResponse | null>
  /**
   * The response and those it continues, oldest first; shortened at the old end if one is gone, or if all together
   * exceed `maxBytes` characters.
   */
  chain(
    account: string,
    id: string,
    nowMs: number,
    maxBytes: number,
  ): Promise<readonly FoundResponse[]>
  /** Bodies of the responses that contain any of these output items; only a few are in memory at a time. */
  withItems(account: string, ids: readonly string[], nowMs: number): AsyncIterable<string>
  /** Whether the response no longer runs, or is gone. */
  ended(account: string, id: string): Promise<boolean>
  /** Deletes expired responses. */
  clean(nowMs: number): Promise<void>
}

const insert = `INSERT INTO response (account, id, previous_id, state, node, epoch, input, body, size, created_at,
  expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (account, id) DO UPDATE SET previous_id = excluded.previous_id, state = excluded.state,
    node = excluded.node, epoch = excluded.epoch, input = excluded.input, body = excluded.body,
    size = excluded.size, created_at = excluded.created_at, expires_at = excluded.expires_at`

const insertItem = `INSERT INTO response_item (account, id, response_id) VALUES (?, ?, ?)
  ON CONFLICT (account, id) DO UPDATE SET response_id = excluded.response_id`

const finish = `UPDATE response SET state = 'done', body = ?, size = size + ?
  WHERE account = ? AND id = ? AND state = 'running'`

const remove = 'DELETE FROM response WHERE account = ? AND id = ?'

const longestChain = 10_000

/** Ids that one statement looks up, and bodies that it reads; a body may have 1 MiB. */
const idsAtOnce = 500
const bodiesAtOnce = 16

const prolong = `UPDATE response SET expires_at = ? WHERE account = ? AND expires_at < ? AND id IN (
  WITH RECURSIVE chain (id, previous_id, depth) AS (
    SELECT id, previous_id, 1 FROM response WHERE account = ? AND id = ?
    UNION ALL
    SELECT older.id, older.previous_id, chain.depth + 1 FROM response older
      JOIN chain ON older.id = chain.previous_id
      WHERE older.account = ? AND chain.depth < ${longestChain})
  SELECT id FROM chain)`

const columns = `r.id, r.previous_id AS "previousId", CASE WHEN r.state = 'running' THEN 1 ELSE 0 END AS running,
  CASE WHEN r.state = 'running' AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = r.node
    AND node.epoch = r.epoch AND node.state = 'open') THEN 1 ELSE 0 END AS abandoned,
  r.input, r.body, r.created_at AS "createdAt"`

const selectOne = `SELECT ${columns} FROM response r WHERE r.account = ? AND r.id = ? AND r.expires_at > ?`

const selectChain = `WITH RECURSIVE chain (id, previous_id, depth, total) AS (
    SELECT id, previous_id, 1, size FROM response WHERE account = ? AND id = ? AND expires_at > ?
    UNION ALL
    SELECT older.id, older.previous_id, chain.depth + 1, chain.total + older.size FROM response older
      JOIN chain ON older.id = chain.previous_id
      WHERE older.account = ? AND older.expires_at > ? AND chain.depth < ${longestChain}
        AND chain.total + older.size <= ?)
  SELECT ${columns} FROM chain JOIN response r ON r.id = chain.id
  WHERE r.account = ? ORDER BY chain.depth DESC`

/** The engines represent booleans as numbers. */
type Kept = Omit<FoundResponse, 'running' | 'abandoned'> & {
  readonly running: number
  readonly abandoned: number
}

function found(row: Kept): FoundResponse {
  return { ...row, running: row.running === 1, abandoned: row.abandoned === 1 }
}

export function responseTable(engine: Engine): ResponseTable {
  return {
    apply(changes, by) {
      return engine.transaction(async (session) => {
        const counts: number[] = []
        for (const change of changes) counts.push(await applyOne(session, change, by))
        return counts
      })
    },
    async find(account, id, nowMs) {
      const values = [cleanText(account), cleanText(id), nowMs]
      const [row] = await engine.query<Kept>(selectOne, values)
      return row === undefined ? null : found(row)
    },
    async chain(account, id, nowMs, maxBytes) {
      const owner = cleanText(account)
      const values = [owner, cleanText(id), nowMs, owner, nowMs, maxBytes, owner]
      return (await engine.query<Kept>(selectChain, values)).map(found)
    },
    async *withItems(account, ids, nowMs) {
      const owner = cleanText(account)
      const holding = new Set<string>()
      for (const some of chunks(ids.map(cleanText), idsAtOnce)) {
        const sql = `SELECT response_id AS id FROM response_item WHERE account = ? AND id IN (${places(some)})`
        const rows = await engine.query<{ readonly id: string }>(sql, [owner, ...some])
        for (const { id } of rows) holding.add(id)
      }
      for (const some of chunks([...holding], bodiesAtOnce)) {
        const sql = `SELECT body FROM response WHERE account = ? AND expires_at > ? AND body IS NOT NULL
          AND id IN (${places(some)})`
        const rows = await engine.query<{ readonly body: string }>(sql, [owner, nowMs, ...some])
        for (const { body } of rows) yield body
      }
    },
    async ended(account, id) {
      const sql = `SELECT 1 FROM response WHERE account = ? AND id = ? AND state = 'running'`
      return (await engine.query(sql, [cleanText(account), cleanText(id)])).length === 0
    },
    async clean(nowMs) {
      await engine.transaction(async (session) => {
        await session.run('DELETE FROM response WHERE expires_at <= ?', [nowMs])
      })
    },
  }
}

function places(values: readonly string[]): string {
  return values.map(() => '?').join(', ')
}

function* chunks<T>(values: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < values.length; at += size) yield values.slice(at, at + size)
}

async function applyOne(
  session: Session,
  change: ResponseChange,
  by: NodeRef | null,
): Promise<number> {
  if (change.kind === 'keep') return keep(session, change.row, by)
  const owner = [cleanText(change.account), cleanText(change.id)]
  if (change.kind === 'remove') return session.run(remove, owner)
  const { body, items } = change
  const count = await session.run(finish, [body, body?.length ?? 0, ...owner])
  if (count > 0) await keepItems(session, change.account, change.id, items)
  return count
}

async function keep(session: Session, row: ResponseRow, by: NodeRef | null): Promise<number> {
  if (row.running && by === null) throw new Error('The node is not open in the ledger.')
  const account = cleanText(row.account)
  // A request that was under way when its account was deleted.
  if (await isDeleted(session, account)) return 0
  const id = cleanText(row.id)
  const owner = row.running && by !== null ? [by.node, by.epoch] : [null, null]
  const { input, body, createdAt, expiresAt } = row
  const previousId = row.previousId === null ? null : cleanText(row.previousId)
  const size = (input?.length ?? 0) + (body?.length ?? 0)
  const state = row.running ? 'running' : 'done'
  const count = await session.run(insert, [
    account,
    id,
    previousId,
    state,
    ...owner,
    input,
    body,
    size,
    createdAt,
    expiresAt,
  ])
  await keepItems(session, row.account, row.id, row.items)
  if (previousId !== null) {
    const chain = [account, previousId, account]
    await session.run(prolong, [expiresAt, account, expiresAt, ...chain])
  }
  return count
}

async function keepItems(
  session: Session,
  account: string,
  id: string,
  items: readonly string[],
): Promise<void> {
  for (const item of new Set(items.map(cleanText))) {
    await session.run(insertItem, [cleanText(account), item, cleanText(id)])
  }
}
