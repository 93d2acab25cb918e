// Stores clients' Idempotency-Keys: which request has a key, and the reply it led to.

import type { Engine, Session, Value } from './engine.ts'
import type { IdempotencyDone, IdempotencyFound, IdempotencyTable } from './ledger.ts'
import { isDeleted } from './people.ts'
import { cleanText } from './text.ts'

/** After this long without a sign of it a node is taken for lost, with all that it has not settled. */
export const lostAfterMs = 3_600_000

/** The request ran and may have been charged, so its key stays taken. */
const recorded = `EXISTS (SELECT 1 FROM usage WHERE usage.request_id = idempotency.request_id
    AND NOT (usage.attempts = 0 AND usage.charge_nano = 0 AND usage.writeoff_nano = 0))`

/**
 * True if the request's row says that no vendor was asked: it was refused, and freeing its key failed. Or if its node
 * is lost: until then a node that is closed, or open again, may have the request's end in its outbox. The parameter is
 * the time by which it was last seen.
 */
const abandoned = `idempotency.state = 'running' AND NOT ${recorded}
  AND (EXISTS (SELECT 1 FROM usage WHERE usage.request_id = idempotency.request_id)
    OR NOT EXISTS (SELECT 1 FROM node WHERE node.id = idempotency.node
      AND (node.state = 'open' OR node.expires_at > ?)))`

// Reserving is one statement, so that exactly one of any number of concurrent requests finds the key free.
const insert = `INSERT INTO idempotency
  (account, key, body_hash, request_id, node, epoch, state, expires_at)
  VALUES (?, ?, ?, ?, ?, ?, 'running', ?)
  ON CONFLICT (account, key)`

const takeNew = `${insert} DO NOTHING`

const takeOver = `${insert} DO UPDATE SET body_hash = excluded.body_hash,
    request_id = excluded.request_id, node = excluded.node, epoch = excluded.epoch,
    state = 'running', expires_at = excluded.expires_at,
    reply_status = NULL, reply_content_type = NULL, reply_body = NULL
  WHERE idempotency.expires_at <= ? OR (${abandoned})
    OR (idempotency.state = 'running' AND idempotency.request_id = excluded.request_id)`

const select = `SELECT body_hash AS "bodyHash", request_id AS "requestId", state,
  reply_status AS "status", reply_content_type AS "contentType", reply_body AS body,
  CASE WHEN EXISTS (SELECT 1 FROM usage WHERE usage.request_id = idempotency.request_id)
    THEN 1 ELSE 0 END AS recorded,
  CASE WHEN expires_at <= ? OR (${abandoned}) THEN 1 ELSE 0 END AS free
  FROM idempotency WHERE account = ? AND key = ?`

interface Entry {
  readonly bodyHash: string
  readonly requestId: string
  readonly state: 'running' | 'done'
  readonly status: number | null
  readonly contentType: string | null
  readonly body: string | null
  readonly recorded: number
  readonly free: number
}

export function idempotencyTable(engine: Engine): IdempotencyTable {
  return {
    async begin({ account, key, bodyHash, requestId, by, nowMs, expiresAt }) {
      const name = [cleanText(account), cleanText(key)]
      const taking = [...name, bodyHash, requestId, by.node, by.epoch, expiresAt]
      // Reads first, because a statement that may write locks the row, and many repeated requests would queue for it.
      // The holder may free the key between the two statements, or another request take it; then it is read again.
      for (;;) {
        const [entry] = await engine.query<Entry>(select, [...freeAt(nowMs), ...name])
        if (entry === undefined) {
          if ((await engine.run(takeNew, taking)) > 0) return { state: 'new' }
          continue
        }
        const own = entry.state === 'running' && entry.requestId === requestId
        if (entry.free === 0 && !own) return found(entry, bodyHash)
        if ((await engine.run(takeOver, [...taking, ...freeAt(nowMs)])) > 0) return { state: 'new' }
      }
    },
    async forget(account, key, requestId) {
      await engine.run(`${release} AND state = 'running'`, [
        cleanText(account),
        cleanText(key),
        requestId,
      ])
    },
    async freeLeft(node) {
      await engine.run(
        `DELETE FROM idempotency WHERE node = ? AND state = 'running' AND NOT ${recorded}`,
        [cleanText(node)],
      )
    },
    // In a transaction, which is retried after a deadlock with a settlement that locks the same rows in another order.
    async clean(nowMs) {
      await engine.transaction(async (session) => {
        // Two statements, each with an index of its own: an OR of both would read every key.
        const [expired, seen] = freeAt(nowMs)
        await session.run('DELETE FROM idempotency WHERE expires_at <= ?', [expired])
        await session.run(`DELETE FROM idempotency WHERE ${abandoned}`, [seen])
      })
    },
  }
}

/** The parameters of the two conditions under which a key is free. */
function freeAt(nowMs: number): [expired: number, seen: number] {
  return [nowMs, nowMs - lostAfterMs]
}

function found(entry: Entry, bodyHash: string): IdempotencyFound {
  if (entry.bodyHash !== bodyHash) return { state: 'other-body' }
  const { requestId, status, contentType, body } = entry
  if (entry.state === 'running' && entry.recorded === 0) return { state: 'running' }
  const reply =
    status === null || contentType === null || body === null ? null : { status, contentType, body }
  return { state: 'done', requestId, reply }
}

const release = 'DELETE FROM idempotency WHERE account = ? AND key = ? AND request_id = ?'

const complete = `UPDATE idempotency SET state = 'done', reply_status = ?, reply_content_type = ?,
  reply_body = ? WHERE account = ? AND key = ? AND request_id = ?`

/**
 * Completes a request's key, in the transaction that settles it: stores the reply, or only that the work was done, or
 * frees the key, as that of an account deleted meanwhile. Does nothing if the key belongs to another request by now.
 */
export async function completeIdempotency(
  session: Session,
  done: IdempotencyDone,
  requestId: string,
): Promise<void> {
  const owner: Value[] = [cleanText(done.account), cleanText(done.key), requestId]
  // A reply is repeated byte for byte or not at all.
  const reply = done.reply !== null && isKeepable(done.reply.body) ? done.reply : null
  if (reply !== null && (await isDeleted(session, cleanText(done.account)))) {
    await session.run(release, owner)
  } else if (reply !== null) {
    await session.run(complete, [reply.status, cleanText(reply.contentType), reply.body, ...owner])
  } else if (done.keep || done.reply !== null) {
    await session.run(complete, [null, null, null, ...owner])
  } else {
    await session.run(release, owner)
  }
}

/** False for text that `cleanText` would change, so that it would be read back differently. */
function isKeepable(body: string): boolean {
  return body.isWellFormed() && !body.includes('\0')
}
