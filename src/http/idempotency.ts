// Answers a request that is sent again with the same `Idempotency-Key` from the kept reply, and never runs it twice.

import { createHash } from 'node:crypto'
import { GatewayError } from '../errors.ts'
import type { AdmittedRequest, Hook, Passage } from '../operations/operation.ts'
import type { IdempotencyFound, IdempotencyReply } from '../store/ledger.ts'

/** The store of idempotency keys, shared by every node. */
export interface Idempotency {
  begin(entry: IdempotencyEntry): Promise<IdempotencyFound>
  /** Frees the key of a request that was refused before any work. */
  forget(account: string, key: string, requestId: string): void
}

interface IdempotencyEntry {
  readonly account: string
  readonly key: string
  /** SHA-256 of path and body, hex. */
  readonly bodyHash: string
  readonly requestId: string
}

const retryAfterMs = 1_000

/**
 * Waits between looks at a key that counts as running: the ledger learns of a reply after the client does, in batches.
 */
const lookAgainMs = [20, 40, 80, 160, 320] as const

/** Replays the kept reply to a repeated request, and frees the keys of requests that reached no vendor. */
export function idempotencyHook(idempotency: Idempotency): Hook {
  return {
    before: (request) => {
      const { idempotencyKey } = request.options
      return idempotencyKey === null ? null : passageOf(idempotency, request, idempotencyKey)
    },
  }
}

async function passageOf(
  idempotency: Idempotency,
  request: AdmittedRequest,
  key: string,
): Promise<Passage> {
  const { account } = request.principal
  const { requestId } = request
  const kept = await takeKey(idempotency, { account, key, bodyHash: hashOf(request), requestId })
  if (kept === null) {
    return { after: (ended) => void (ended ?? idempotency.forget(account, key, requestId)) }
  }
  const { status, contentType, body } = kept.reply
  const headers = {
    'content-type': contentType,
    'idempotent-replayed': 'true',
    'x-tollgate-original-request': kept.requestId,
  }
  return { reply: { status, body, stream: request.peek.stream, headers } }
}

/**
 * Takes the key for this request and returns null, or returns the reply kept under it. Throws GatewayError
 * `request_in_progress`, `idempotency_key_reused`, `reply_not_kept`, or `service_unavailable` where the store fails.
 */
async function takeKey(
  idempotency: Idempotency,
  entry: IdempotencyEntry,
): Promise<{ readonly requestId: string; readonly reply: IdempotencyReply } | null> {
  const found = await begin(idempotency, entry).catch(() => {
    // The failed call may have taken the key all the same. The store has logged the cause.
    idempotency.forget(entry.account, entry.key, entry.requestId)
    throw new GatewayError(
      'service_unavailable',
      'The gateway cannot look up the Idempotency-Key at present; retry shortly.',
      { retryAfterMs },
    )
  })
  if (found.state === 'new') return null
  if (found.state === 'running') {
    throw new GatewayError(
      'request_in_progress',
      'A request with this Idempotency-Key is still running; retry when it has ended.',
      { param: 'Idempotency-Key', retryAfterMs },
    )
  }
  if (found.state === 'other-body') {
    throw new GatewayError(
      'idempotency_key_reused',
      'This Idempotency-Key was used with another request; use a new key for each request.',
      { param: 'Idempotency-Key' },
    )
  }
  const { requestId, reply } = found
  if (reply !== null) return { requestId, reply }
  throw new GatewayError(
    'reply_not_kept',
    `The request of this Idempotency-Key was done as ${requestId}, but its reply was not kept.`,
    { param: 'Idempotency-Key' },
  )
}

async function begin(idempotency: Idempotency, entry: IdempotencyEntry): Promise<IdempotencyFound> {
  let found = await idempotency.begin(entry)
  for (const waitMs of lookAgainMs) {
    if (found.state !== 'running') break
    await new Promise<void>((resolve) => setTimeout(resolve, waitMs))
    found = await idempotency.begin(entry)
  }
  return found
}

/** A hash that is equal for repeats of the same request alone. */
function hashOf({ dialect, address, body, digests }: AdmittedRequest): string {
  const { model = '', stream = '' } = address
  const place = `${dialect.client.path}\0${model}\0${stream}\0`
  const hash = createHash('sha256').update(place).update(body)
  for (const digest of digests) hash.update(`\0${digest}`)
  return hash.digest('hex')
}
