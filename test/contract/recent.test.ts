// Tests recent totals, on both engines: requests by the minute, their errors, and credits of wallets.

import { expect, test } from 'bun:test'
import { house } from '../../src/store/ledger.ts'
import { fund } from '../support/ledger-scene.ts'
import { onEachEngine } from './engines.ts'
import { settlement, usageRow } from './store.ts'

const minute = 29_395_000
const at = minute * 60_000

onEachEngine('the last while', (start) => {
  test('requests by the minute, and errors with the newest of each', async () => {
    const { store } = await start()
    const failed = { status: 503, errorCode: 'service_unavailable' }
    const rows = [
      { at: at - 1 },
      { at },
      { at: at + 59_999, ...failed },
      { at: at + 60_000, ...failed },
      { at: at + 60_001, status: 400, errorCode: 'invalid_request_error' },
    ].map((change, place) => usageRow({ requestId: `req_${place}`, ...change }))
    await fund(store, 'ann', 1n)
    await store.settlements.settle(rows.map((row) => settlement({ row })))
    expect(await store.usage.recent(at)).toEqual({
      minutes: [
        { minute, requests: 2 },
        { minute: minute + 1, requests: 2 },
      ],
      errors: [
        { code: 'service_unavailable', requests: 2, lastAt: at + 60_000, requestId: 'req_3' },
        { code: 'invalid_request_error', requests: 1, lastAt: at + 60_001, requestId: 'req_4' },
      ],
      errorsSince: at,
    })
    expect((await store.usage.recent(at + 120_000)).minutes).toEqual([])
  })

  test('models that were refused before they had a price, by how often', async () => {
    const { store } = await start()
    const refused = { channel: null, priceVersion: null, status: 503 }
    const rows = [
      { modelAsked: 'one', at, ...refused },
      { modelAsked: 'two', at, ...refused },
      { modelAsked: 'two', at: at + 1, ...refused },
      { modelAsked: 'old', at: at - 1, ...refused },
      { modelAsked: 'tried', at, ...refused, channel: 'main' },
      { modelAsked: 'unknown', at, ...refused, status: 404 },
    ].map((change, place) => usageRow({ requestId: `req_${place}`, ...change }))
    await fund(store, 'ann', 1n)
    await store.settlements.settle(rows.map((row) => settlement({ row })))
    expect(await store.usage.refused(at)).toEqual([
      { model: 'two', requests: 2 },
      { model: 'one', requests: 1 },
    ])
  })

  test('what wallets were given is not what they were charged', async () => {
    const { store } = await start()
    const give = (id: string, when: number, amountNano: bigint) => ({
      ...{ id: `topup:${id}`, code: 'topup', debit: house.adjust, credit: 'wallet:ann' },
      ...{ amountNano, actor: 'root', reason: 'test', at: when },
    })
    await store.accounts.ensure('ann', 1)
    await store.journal.post([give('a', at - 1, 5n)])
    await store.journal.post([give('b', at, 2n ** 62n)])
    const row = usageRow({ at, chargeNano: 3n })
    await store.settlements.settle([settlement({ row })])
    expect(await store.journal.credited(at)).toBe(2n ** 62n)
    expect(await store.journal.credited(at - 1)).toBe(2n ** 62n + 5n)
    expect(await store.journal.credited(at + 1)).toBe(0n)
  })
})
