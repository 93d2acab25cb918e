// Tests a ledger database that cannot be written: leases serve until they are used up, then no request is served
// without payment.

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { databaseFile } from '../../src/store/sqlite.ts'
import { eventually } from '../support/clients.ts'
import type { Seen } from '../support/scene.ts'
import { chatReply, json } from '../support/upstream.ts'
import { openShop, outputNano, type Shop, unitNano } from './shop.ts'

/** Takes the database's write lock, like a writer that hangs, until disposed. */
function lockLedger(shop: Shop): Disposable {
  const database = new Database(join(shop.gateway.dataDir, databaseFile))
  database.run('PRAGMA busy_timeout = 5000')
  database.run('BEGIN IMMEDIATE')
  return {
    [Symbol.dispose]() {
      database.run('ROLLBACK')
      database.close()
    },
  }
}

function expectClosed(seen: Seen): void {
  expect({ status: seen.status, code: seen.error?.code }).toEqual({
    status: 503,
    code: 'service_unavailable',
  })
  expect(seen.headers.get('retry-after')).toBe('1')
  expect(seen.headers.get('x-should-retry')).toBe('true')
}

const ready = async (shop: Shop) => {
  const reply = await fetch(`${shop.gateway.url}/readyz`)
  const { missing } = (await reply.json()) as { missing: string[] }
  return { status: reply.status, missing }
}

const few = { max_tokens: 10 }

/** The second request of an account leases a fifth of its balance, which the first request finds out. */
async function warm(shop: Shop): Promise<void> {
  await shop.chat(few)
  await shop.chat(few)
  await eventually(async () => (await shop.gateway.usage()).length === 2 || undefined)
}

/** Half a unit of the currency, of which hardly anything is held before. */
const usage = { prompt_tokens: 0, completion_tokens: 250 }
const halfUnit = [json(200, chatReply('Much', { usage }))]

describe('the database is locked', () => {
  test('B4, I23: the lease serves, then 503 without a call to the vendor; afterwards all is as before', async () => {
    await using shop = await openShop({ credit: '10', ledger: { maxLagMs: 60_000 } })
    shop.first.on('m', halfUnit)
    await warm(shop)
    let served = 2
    {
      using _lock = lockLedger(shop)
      for (;;) {
        const seen = await shop.chat(few)
        if (seen.status !== 200) {
          expectClosed(seen)
          break
        }
        served += 1
      }
      expect(served).toBeGreaterThan(3)
      expect(served).toBeLessThan(8)
      const called = shop.first.requests.length
      expect(called).toBe(served)
      for (const seen of await Promise.all(Array.from({ length: 20 }, () => shop.chat(few))))
        expectClosed(seen)
      expect(shop.first.requests).toHaveLength(called)
    }
    const again = await eventually(async () => {
      const seen = await shop.chat(few)
      return seen.status === 200 ? seen : undefined
    }, 15_000)
    await shop.gateway.row(again.requestId)
    const charged = BigInt(served + 1) * 250n * outputNano
    expect((await shop.wallet()).postedNano).toBe(10n * unitNano - charged)
  }, 30_000)

  test('B19: while settlement lags, admission closes and opens by itself; readiness says why', async () => {
    await using shop = await openShop({ ledger: { maxLagMs: 200 } })
    await warm(shop)
    // A busy host may take longer than that to settle.
    await eventually(async () => ((await ready(shop)).status === 200 ? true : undefined), 15_000)
    {
      using _lock = lockLedger(shop)
      // Enough money to be served from its lease for ever; the lag is what refuses requests.
      const closed = await eventually(async () => {
        const seen = await shop.chat(few)
        return seen.status === 200 ? undefined : seen
      })
      expectClosed(closed)
      const { status, missing } = await ready(shop)
      expect(status).toBe(503)
      expect(missing.join()).toMatch(
        /^\d+ finished requests wait for the ledger, the oldest for \d+ s$/,
      )
      await shop.gateway.logged('admitting no requests')
      const called = shop.first.requests.length
      expectClosed(await shop.stream())
      expect(shop.first.requests).toHaveLength(called)
    }
    await eventually(async () => (await ready(shop)).status === 200 || undefined, 15_000)
    expect((await shop.chat(few)).status).toBe(200)
  }, 30_000)
})

describe('durability strict', () => {
  test('the row is in the ledger when the reply ends, whole and streamed', async () => {
    await using shop = await openShop({ billing: { durability: 'strict' } })
    for (const _round of [1, 2, 3]) {
      for (const seen of [await shop.chat(few), await shop.stream()]) {
        expect(seen.status).toBe(200)
        const rows = await shop.gateway.usage()
        expect(rows.map(({ requestId }) => requestId)).toContain(seen.requestId)
      }
    }
  })

  test('a reply waits for a ledger that cannot commit', async () => {
    await using shop = await openShop({ billing: { durability: 'strict' } })
    await warm(shop)
    let ended = 0
    let replies: Promise<Seen[]>
    {
      using _lock = lockLedger(shop)
      replies = Promise.all(
        [shop.chat(few), shop.stream()].map((reply) => reply.finally(() => (ended += 1))),
      )
      await eventually(async () => {
        return /unsettled_records 2$/m.test(await shop.gateway.metrics()) || undefined
      })
      expect(ended).toBe(0)
    }
    const seen = await replies
    expect(seen.map(({ status, content }) => [status, content])).toEqual([
      [200, 'Hello'],
      [200, 'Hello there'],
    ])
    expect(await shop.gateway.usage()).toHaveLength(4)
  }, 30_000)
})
