// One request for whoever has the link: how it went and what it cost, without its content and account.

import { Buffer } from 'node:buffer'
import type { SecretBox } from '../identity/secret-box.ts'
import { ownAttemptsOf } from './attempts.ts'
import { blameOf } from './blame.ts'
import { priceBookOf } from './price-books.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import type { Owned } from './usage.ts'
import { ownerView } from './usage-view.ts'
import { type AdminContext, AdminError } from './use-case.ts'

const dayMs = 86_400_000

/**
 * The encrypted token contains everything: nothing is stored, and it expires by itself. Throws AdminError `not_found`.
 */
export async function shareRequest(
  { store, nowMs }: Pick<AdminContext, 'store' | 'nowMs'>,
  box: SecretBox,
  { id, owner, days = 7 }: Input<'shareRequest'> & Owned,
) {
  if ((await store.usage.find(owner ?? null, id)) === null)
    throw new AdminError('not_found', 'id', `there is no request ${JSON.stringify(id)}`)
  const expiresAt = nowMs + days * dayMs
  const sealed = Buffer.from(box.encrypt(`${expiresAt} ${id}`), 'base64')
  return { token: sealed.toString('base64url'), expiresAt: timeText(expiresAt) }
}

/** Throws AdminError `not_found` where the token is invalid or expired, or its request is no longer kept. */
export async function readSharedRequest(
  { store, nowMs }: Pick<AdminContext, 'store' | 'nowMs'>,
  box: SecretBox,
  { token }: Input<'readSharedRequest'>,
) {
  const [expiresAt = '0', id = ''] = opened(box, token).split(' ')
  const row = Number(expiresAt) > nowMs ? await store.usage.find(null, id) : null
  if (row === null)
    throw new AdminError('not_found', 'token', 'there is no such link, or it has expired')
  const shown = ownerView(row, await priceBookOf(store))
  return {
    requestId: shown.requestId,
    at: shown.at,
    operation: shown.operation,
    model: shown.model,
    modelServed: shown.modelServed,
    stream: shown.stream,
    status: shown.status,
    errorCode: shown.errorCode,
    tokens: shown.tokens,
    ttftMs: shown.ttftMs,
    durationMs: shown.durationMs,
    client: shown.client,
    clientVersion: shown.clientVersion,
    vendorRequestId: shown.vendorRequestId,
    blame: blameOf(row, false),
    attemptList: ownAttemptsOf(row),
    expiresAt: timeText(Number(expiresAt)),
  }
}

/** '' where this deployment did not make the token. */
function opened(box: SecretBox, token: string): string {
  try {
    return box.decrypt(Buffer.from(token, 'base64url').toString('base64'))
  } catch {
    return ''
  }
}
