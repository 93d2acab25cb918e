// Tests how much is kept of payment providers' messages, which anybody may send, on both engines.

import { expect, test } from 'bun:test'
import { onEachEngine } from './engines.ts'

onEachEngine('messages of payment providers', (start) => {
  test('of messages that anybody may have sent little is kept', async () => {
    const { store, engine } = await start()
    const raw = (id: number) => new TextEncoder().encode(`${id} ${'x'.repeat(60_000)}`)
    const event = { provider: 'stripe', eventId: null, orderId: null, problem: 'x' } as const
    const headers = { 'stripe-signature': 'y'.repeat(2_048) }
    const unverified = { ...event, headers, isUnverified: true as const, at: 5 }
    for (let at = 0; at < 210; at++) await store.payments.keepEvent({ ...unverified, raw: raw(at) })
    const [kept] = await engine.query<{ readonly count: number; readonly bytes: number }>(
      `SELECT CAST(count(*) AS INTEGER) AS count, CAST(sum(length(raw) + length(headers)) AS INTEGER) AS bytes
        FROM payment_event`,
      [],
    )
    expect(Number(kept?.count)).toBe(200)
    expect(Number(kept?.bytes)).toBeLessThan(200 * 3_000)
    // What a provider signed is still kept, and whole.
    await store.payments.keepEvent({ ...event, headers, raw: raw(999), at: 6 })
    const [whole] = await engine.query<{ readonly most: number }>(
      'SELECT CAST(max(length(raw)) AS INTEGER) AS most FROM payment_event',
      [],
    )
    expect(Number(whole?.most)).toBe(60_004)
  })
})
