// The webhooks of operators as they look at them: what each was told last, and whether it takes a test.

import type { WebhookSettings } from '../config/types.ts'
import { NotFetched, postBytes } from '../safe-fetch/safe-fetch.ts'
import { createDialer } from '../upstream/dial.ts'
import { deliveryOf } from './alerts.ts'
import { eventOf, ownerOf, testPost } from './operator-events.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'
import { signedFields } from './webhook-signature.ts'

const bounds = { maxBytes: 65_536, timeoutMs: 10_000 }
/** Of what a receiver answers where it refuses. */
const reasonBytes = 300
/** Those that wait are counted up to so many. */
const mostCounted = 100

/** In the order of the configuration; of its address what tells it from others, and no secret. */
export async function listWebhooks(
  { store }: Pick<AdminContext, 'store'>,
  webhooks: readonly WebhookSettings[],
) {
  const items = await Promise.all(
    webhooks.map(async (webhook) => {
      const filter = { account: ownerOf(webhook), unread: false, limit: mostCounted }
      const notices = await store.alertNotices.list(filter)
      const [last] = notices
      const { origin, pathname } = new URL(webhook.url)
      return {
        id: webhook.id,
        address: origin + pathname,
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

/** Throws AdminError where the configuration names no such webhook. */
export function webhookNamed(webhooks: readonly WebhookSettings[], id: string): WebhookSettings {
  const found = webhooks.find((each) => each.id === id)
  if (found !== undefined) return found
  const known = webhooks.map((each) => each.id).join(', ')
  const message = `the configuration names no webhook ${id}: it has ${known || 'none'}`
  throw new AdminError('not_found', 'id', message)
}

/** Posts it a signed test. Why it was not taken; null: it was. */
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
