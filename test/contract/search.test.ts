// Tests finding keys and requests by names that others gave them, on both engines.

import { expect, test } from 'bun:test'
import { onEachEngine } from './engines.ts'
import { append, keyRow, usageRow } from './store.ts'

onEachEngine('search', (start) => {
  test('finds keys by any part of them, of one account or of all', async () => {
    const { store } = await start()
    for (const account of ['ann', 'bob']) await store.accounts.ensure(account, 1)
    await store.keys.insert(keyRow({ start: 'AbCdEf12', name: 'A 100% laptop' }))
    await store.keys.insert(keyRow({ id: 'key_2', account: 'bob', hash: 'b'.repeat(64) }))
    const ids = async (text: string, account: string | null = null, begins: string | null = null) =>
      (await store.search.keys({ account, text, start: begins, limit: 5 })).map(({ id }) => id)
    expect(await ids('LAPTOP')).toEqual(['key_1', 'key_2'])
    expect(await ids('laptop', 'bob')).toEqual(['key_2'])
    expect(await ids('0%')).toEqual(['key_1'])
    expect(await ids('_')).toEqual([])
    expect(await ids('abcd', 'ann')).toEqual(['key_1'])
    expect(await ids('sk-tg-AbCdEf12', null, 'AbCdEf12')).toEqual(['key_1'])
    expect(await ids('sk-tg-AbCdEf12', 'bob', 'AbCdEf12')).toEqual([])
  })

  test('finds a request by the id of its vendor, its client or its trace', async () => {
    const { store } = await start()
    await store.accounts.ensure('ann', 1)
    const names = { vendorRequestId: 'v-1', clientRequestId: 'c-1', traceId: 't'.repeat(32) }
    await append(store, [
      usageRow({ requestId: 'req_1' }),
      usageRow({ requestId: 'req_2', ...names }),
    ])
    for (const id of Object.values(names)) {
      expect(await store.search.request('ann', id)).toMatchObject({
        requestId: 'req_2',
        account: 'ann',
      })
      expect(await store.search.request('bob', id)).toBeNull()
      expect((await store.search.request(null, id))?.at).toBe(usageRow().at)
    }
    expect(await store.search.request(null, 'nothing')).toBeNull()
  })
})
