// Tests lists of finished requests, on both engines.

import { expect, test } from 'bun:test'
import { onEachEngine } from '../../test/contract/engines.ts'
import { append, usageRow } from '../../test/contract/store.ts'
import { adminOf, allPages } from '../../test/support/admin.ts'
import { listUsage } from './usage.ts'

onEachEngine('usage', (start) => {
  test('pages are the whole list, also where rows are of one moment', async () => {
    const { store } = await start()
    const rows = Array.from({ length: 11 }, (_, index) =>
      usageRow({ requestId: `req_${String(index).padStart(2, '0')}`, at: 1_000 + (index >> 2) }),
    )
    await append(store, rows)
    const pages = await allPages((page) => listUsage(adminOf(store), page), 3)
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 3, 2])
    expect(pages.flat().map(({ requestId }) => requestId)).toEqual(
      rows.map(({ requestId }) => requestId).toReversed(),
    )
    expect(await allPages((page) => listUsage(adminOf(store), page), 11)).toHaveLength(1)
  })

  test('filters narrow it', async () => {
    const { store } = await start()
    await append(store, [
      usageRow({ requestId: 'a', at: 10, status: 200, key: 'k1', modelAsked: 'm1' }),
      usageRow({ requestId: 'b', at: 20, status: 429, key: 'k2', modelAsked: 'm1' }),
      usageRow({
        requestId: 'c',
        at: 30,
        status: 200,
        key: 'k1',
        account: 'bob',
        modelAsked: 'm2',
      }),
    ])
    const found = async (filter: object) =>
      (await listUsage(adminOf(store), { limit: 10, ...filter })).items.map((row) => row.requestId)
    expect(await found({})).toEqual(['c', 'b', 'a'])
    expect(await found({ status: 429 })).toEqual(['b'])
    expect(await found({ account: 'ann', key: 'k1' })).toEqual(['a'])
    expect(await found({ model: 'm1' })).toEqual(['b', 'a'])
    expect(await found({ since: 20 })).toEqual(['c', 'b'])
    expect(await found({ since: 10, until: 30 })).toEqual(['b', 'a'])
  })

  test('a cursor that no list gave is refused', async () => {
    const { store } = await start()
    for (const cursor of ['', 'x', Buffer.from('12').toString('base64url'), '%00']) {
      await expect(listUsage(adminOf(store), { limit: 1, cursor })).rejects.toMatchObject({
        refusal: 'invalid',
        field: 'cursor',
      })
    }
  })
})
