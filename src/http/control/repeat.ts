// Idempotency-Key of the control API: a repeated POST gets the first reply and is run once.

import { createHash } from 'node:crypto'
import type { ControlPrincipal } from '../../identity/principal.ts'
import type { SecretBox } from '../../identity/secret-box.ts'
import { ControlError, isRefusal } from './problem.ts'
import type { ControlServices } from './services.ts'

const keptMs = 86_400_000
const longestKey = 255
const shape = /^[\x21-\x7e]+$/

interface Repeat {
  readonly key: string
  readonly principal: ControlPrincipal
  /** Identifies the request by its method, address and body. */
  readonly identity: string
}

interface KeptReply {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** null: the request has no Idempotency-Key. Throws ControlError for a malformed one. */
export function repeatOf(
  request: Request,
  principal: ControlPrincipal | null,
  body: string,
): Repeat | null {
  const key = request.headers.get('idempotency-key')
  if (key === null || principal === null || request.method !== 'POST') return null
  if (key.length > longestKey || !shape.test(key)) {
    const message = `Idempotency-Key: expected 1 to ${longestKey} printable ASCII characters`
    throw new ControlError('invalid', message, 'Idempotency-Key')
  }
  const { pathname, search } = new URL(request.url)
  return { key, principal, identity: `${pathname}${search}\n${body}` }
}

/** The kept reply where the same request was run before; else the reply of `run`, which is kept unless it refused. */
export async function runOnce(
  { key, principal, identity }: Repeat,
  { store, replyBox }: Pick<ControlServices, 'store' | 'replyBox'>,
  run: () => Promise<Response>,
): Promise<Response> {
  const entry = {
    principal: principal.kind === 'session' ? `account ${principal.account}` : principal.keyId,
    key,
    requestHash: createHash('sha256').update(identity).digest('hex'),
  }
  const nowMs = Date.now()
  const found = await store.controlReplies.begin(entry, nowMs, nowMs + keptMs)
  if (found.state === 'other-request') {
    const message = 'This Idempotency-Key was used for another request within the last day.'
    throw new ControlError('key_reused', message, 'Idempotency-Key')
  }
  if (found.state === 'running') {
    const message =
      'A request with this Idempotency-Key is running or was cut off: check what it did, or use another key.'
    throw new ControlError('conflict', message, 'Idempotency-Key')
  }
  if (found.state === 'done') {
    const { headers, body }: KeptReply = JSON.parse(decrypted(replyBox, found.body))
    return new Response(found.status === 204 ? null : body, {
      status: found.status,
      headers: { ...headers, 'idempotent-replayed': 'true' },
    })
  }
  let reply: Response
  try {
    reply = await run()
  } catch (error) {
    if (isRefusal(error)) await store.controlReplies.forget(entry)
    throw error
  }
  return keep(reply, (status, text) =>
    store.controlReplies.complete(entry, status, replyBox.encrypt(text)),
  )
}

/** Another encryption key replaced the one that the reply was encrypted under, or this node has one of its own. */
function decrypted(replyBox: SecretBox, text: string): string {
  try {
    return replyBox.decrypt(text)
  } catch {
    const message =
      'The request with this Idempotency-Key was run, but its reply was encrypted under another ENCRYPTION_KEY and cannot be read.'
    throw new ControlError('conflict', message, 'Idempotency-Key')
  }
}

/** The reply goes to the caller only after it is kept. */
async function keep(
  reply: Response,
  complete: (status: number, text: string) => Promise<void>,
): Promise<Response> {
  const body = await reply.text()
  const headers = Object.fromEntries(reply.headers)
  await complete(reply.status, JSON.stringify({ headers, body } satisfies KeptReply))
  return new Response(reply.status === 204 ? null : body, { status: reply.status, headers })
}
