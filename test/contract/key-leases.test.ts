// Tests leases of keys' spend limits on both engines: what many keys have spent at once, and which leases a node may end.

import { expect, test } from 'bun:test'
import type { KeyClaim, NodeRef } from '../../src/store/ledger.ts'
import type { Store } from '../../src/store/store.ts'
import { fund } from '../support/ledger-scene.ts'
import { onEachEngine } from './engines.ts'
import { settlement, usageRow } from './store.ts'

const quarterMs = 900_000
const at = 2_000_000 * quarterMs

function claimOf(keyId: string, needNano: bigint): KeyClaim {
  const range = { keyId, account: 'ann', sinceMs: at, untilMs: null }
  const kept = { spentBeforeNano: 0n, keptNano: 0n, roomNano: 0n }
  return { keyId, limitNano: 100n, ranges: [range], ...kept, needNano }
}

async function roomFor(store: Store, ref: NodeRef, keyId: string, needNano: bigint) {
  return (await store.keyLeases.claim(ref, claimOf(keyId, needNano)))?.roomNano
}

onEachEngine('leases of keys', (start) => {
  test('each of many ranges has what its own key of its own account spent in its own time', async () => {
    const { store } = await start()
    const accounts = ['ann', 'bob', 'cyd']
    for (const account of accounts) await fund(store, account, 10_000_000n)
    const keys = Array.from({ length: 90 }, (_, place) => ({
      account: accounts[place % 3] ?? '',
      key: `key_${Math.floor(place / 3)}`,
      chargeNano: BigInt(place + 1),
    }))
    const rows = keys.flatMap(({ account, key, chargeNano }, place) =>
      [at - quarterMs, at].map((when) =>
        usageRow({
          requestId: `req_${place}_${when}`,
          account,
          key,
          chargeNano: chargeNano * (when === at ? 1n : 1_000n),
          at: when,
        }),
      ),
    )
    await store.settlements.settle(rows.map((row) => settlement({ row, fromLeaseNano: 0n })))
    const ranges = keys.flatMap(({ account, key: keyId }) => [
      { keyId, account, sinceMs: at, untilMs: null },
      { keyId, account, sinceMs: at - quarterMs, untilMs: at },
    ])
    const unknown = { keyId: 'key_0', account: 'dan', sinceMs: at, untilMs: null }
    expect(await store.keyLeases.spent([...ranges, unknown])).toEqual([
      ...keys.flatMap(({ chargeNano }) => [chargeNano, chargeNano * 1_000n]),
      0n,
    ])
  })

  test('a node gives back what it leases of the keys it names, and nothing of a later epoch', async () => {
    const { store } = await start()
    const [one, two] = [
      await store.nodes.open('one', 60_000),
      await store.nodes.open('two', 60_000),
    ]
    for (const key of ['key_1', 'key_2']) expect(await roomFor(store, one, key, 90n)).toBe(95n)
    expect(await roomFor(store, two, 'key_1', 90n)).toBe(0n)
    await store.keyLeases.giveBack(one, ['key_1', 'key_3'])
    expect(await roomFor(store, two, 'key_1', 90n)).toBe(95n)
    expect(await roomFor(store, two, 'key_2', 90n)).toBe(0n)
    const later = await store.nodes.open('one', 60_000)
    expect(await roomFor(store, later, 'key_2', 90n)).toBe(95n)
    await store.keyLeases.giveBack(one, ['key_2'])
    expect(await roomFor(store, two, 'key_2', 90n)).toBe(0n)
  })
})
