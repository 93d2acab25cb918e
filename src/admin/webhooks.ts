// The operators' webhooks: their latest posts, and a test of each.

import { receiverOf } from '../config/describe.ts'
import type { WebhookSettings } from '../config/types.ts'
import { NotFetched, postBytes } from '../safe-fetch/safe-fetch.ts'
import { createDialer } from '../upstream/dial.ts'
import { deliveryOf } from './alerts.ts'
import { eventOf, ownerOf, testPost } from './operator-events.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'
import { signedFields } from './webhook-signature.ts'

const bounds = { maxBytes: 65_536, timeoutMs: 10_000 }
/** Most bytes shown of a receiver's refusal. */
const reasonBytes = 300
/** Waiting events are counted up to this number. */
const mostCounted = 100

/** In the order of the configuration; of each address only the part that is no secret. */
export async function listWebhooks(
  { store }: Pick<AdminContext, 'store'>,
  webhooks: readonly WebhookSettings[],
) {
  const items = await Promise.all(
    webhooks.map(async (webhook) => {
      const filter = { account: ownerOf(webhook), unread: false, limit: mostCounted }
      const notices = await store.alertNotices.list(filter)
      const [last] = notices
      return {
        id: webhook.id,
        address: receiverOf(webhook.url),
        events: webhook.events ?? null,
        waiting: notices.filter((notice) => notice.webhook.dueAt !== null).length,
        last:
          last === undefined
            ? null
            : {
                at: timeText(last.at),
                ...eventOf(last),
                delivery: deliveryOf(last.webhook),
              },
      }
    }),
  )
  return { items, next: null }
}

/** Throws AdminError where the configuration has no such webhook. */
export function webhookNamed(webhooks: readonly WebhookSettings[], id: string): WebhookSettings {
  const found = webhooks.find((each) => each.id === id)
  if (found !== undefined) return found
  const known = webhooks.map((each) => each.id).join(', ')
  const message = `the configuration has no webhook ${id}; it has ${known || 'none'}`
  throw new AdminError('not_found', 'id', message)
}

/** Sends a signed test post. Returns why it was refused; null: it was accepted. */
export async function testWebhook(webhook: WebhookSettings, nowMs: number): Promise<string | null> {
  const { url, secret } = webhook
  const body = testPost(webhook, nowMs)
  const fields = signedFields(body, secret, nowMs)
  const dialer = createDialer()
  try {
    const post = { body: Buffer.from(body), fields, reasonBytes }
    await postBytes({ dialer, ...bounds, home: new URL(url).origin }, url, post)
    return null
  } catch (error) {
    if (error instanceof NotFetched) return error.message
    throw error
  } finally {
    await dialer.close()
  }
}
