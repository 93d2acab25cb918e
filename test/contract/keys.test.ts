// The contract of keys: how they are edited, when they were last used, and management keys.

import { expect, test } from 'bun:test'
import type { ManagementKeyRow } from '../../src/store/management-keys.ts'
import { RowRefused } from '../../src/store/store.ts'
import { onEachEngine } from './engines.ts'
import { keyRow } from './store.ts'

const narrowed = keyRow({
  previous: { hash: 'c'.repeat(64), until: 1_763_700_000_009 },
  models: ['gpt-*'],
  deniedModels: ['gpt-5*', 'a"b'],
  addresses: ['10.0.0.0/8', '2001:db8::/32'],
  spendLimit: { amountNano: 9_007_199_254_740_993n, period: 'month', timeZone: 'Asia/Kolkata' },
  historyMode: 'sealed',
  showCost: true,
})

onEachEngine('the table of keys', (start) => {
  test('an edit keeps all of a key, and its revision grows by one', async () => {
    const { store } = await start()
    await store.accounts.ensure('ann', 1)
    await store.keys.insert(keyRow())
    const before = await store.keys.revision()
    expect(await store.keys.update({ ...narrowed, name: 'desk', hash: 'd'.repeat(64) })).toBe(true)
    const edited = { ...narrowed, name: 'desk', hash: 'd'.repeat(64), revision: 2 }
    expect(await store.keys.find('key_1')).toEqual(edited)
    expect(await store.keys.revision()).toBeGreaterThan(before)
    expect(await store.keys.update({ ...keyRow(), revision: 2 })).toBe(true)
    expect(await store.keys.find('key_1')).toEqual({ ...keyRow(), revision: 3 })
  })

  test('an edit of what another has edited meanwhile, or of nothing, changes nothing', async () => {
    const { store, open } = await start()
    const other = await open()
    await store.accounts.ensure('ann', 1)
    await store.keys.insert(keyRow())
    const both = await Promise.all([
      store.keys.update(keyRow({ name: 'one' })),
      other.keys.update(keyRow({ name: 'two' })),
    ])
    expect([...both].sort()).toEqual([false, true])
    expect((await store.keys.find('key_1'))?.name).toBe(both[0] ? 'one' : 'two')
    expect(await store.keys.update(keyRow({ id: 'key_2' }))).toBe(false)
    expect(await store.keys.find('key_2')).toBeNull()
  })

  test('disabling counts as an edit', async () => {
    const { store } = await start()
    await store.accounts.ensure('ann', 1)
    await store.keys.insert(keyRow())
    await store.keys.disable('key_1', 5)
    expect(await store.keys.update(keyRow())).toBe(false)
    expect(await store.keys.find('key_1')).toEqual(keyRow({ disabledAt: 5, revision: 2 }))
  })

  test('the keys of one account are listed apart', async () => {
    const { store } = await start()
    for (const account of ['ann', 'bob']) await store.accounts.ensure(account, 1)
    const bobs = keyRow({ id: 'key_2', account: 'bob', hash: 'b'.repeat(64) })
    await store.keys.insert(keyRow())
    await store.keys.insert(bobs)
    expect(await store.keys.all('bob')).toEqual([bobs])
    expect(await store.keys.all('zoe')).toEqual([])
  })

  test('a limit of nothing, or a period that is none, is refused', async () => {
    const { store } = await start()
    await store.accounts.ensure('ann', 1)
    const limit = { amountNano: 1n, period: 'day', timeZone: null } as const
    for (const wrong of [
      { ...limit, amountNano: 0n },
      { ...limit, period: 'year' as 'day' },
    ]) {
      const row = keyRow({ spendLimit: wrong })
      await expect(store.keys.insert(row)).rejects.toBeInstanceOf(RowRefused)
    }
    expect(await store.keys.all()).toEqual([])
  })
})

onEachEngine('when keys were last used', (start) => {
  test('the latest use is kept, whatever order they come in, and no key is read anew for it', async () => {
    const { store } = await start()
    const revision = await store.keys.revision()
    const use = { keyId: 'key_1', at: 50, address: '10.0.0.1', client: 'curl' }
    const other = { keyId: 'config:bench', at: 7, address: null, client: null }
    await store.keyUses.note([use, other])
    await store.keyUses.note([{ ...use, at: 40, address: '10.0.0.2' }])
    const many = Array.from({ length: 250 }, (_, at) => `key_${at}`)
    const uses = await store.keyUses.of([...many, 'config:bench'])
    expect(uses.toSorted((one, two) => two.at - one.at)).toEqual([use, other])
    await store.keyUses.note([{ ...use, at: 60.4, client: null }])
    expect(await store.keyUses.of(['key_1'])).toEqual([{ ...use, at: 60, client: null }])
    expect(await store.keys.revision()).toBe(revision)
  })
})

function managementRow(change: Partial<ManagementKeyRow> = {}): ManagementKeyRow {
  return {
    id: 'mkey_1',
    name: 'terraform',
    account: null,
    hash: 'e'.repeat(64),
    hint: 'sk-tgm-…abcd',
    scopes: ['read', 'write'],
    createdAt: 1_763_700_000_000,
    expiresAt: null,
    disabledAt: null,
    usedAt: null,
    revision: 1,
    ...change,
  }
}

onEachEngine('the table of management keys', (start) => {
  test('keys are found by id and by hash, and listed by account', async () => {
    const { store } = await start()
    await store.accounts.ensure('ann', 1)
    const bound = managementRow({
      id: 'mkey_2',
      account: 'ann',
      hash: 'f'.repeat(64),
      scopes: ['read'],
    })
    await store.managementKeys.insert(managementRow())
    await store.managementKeys.insert(bound)
    expect(await store.managementKeys.all()).toEqual([managementRow(), bound])
    expect(await store.managementKeys.all('ann')).toEqual([bound])
    expect(await store.managementKeys.find('mkey_2')).toEqual(bound)
    expect(await store.managementKeys.findByHash('e'.repeat(64))).toEqual(managementRow())
    expect(await store.managementKeys.findByHash('0'.repeat(64))).toBeNull()
    const unknown = managementRow({ id: 'mkey_3', account: 'zoe', hash: '1'.repeat(64) })
    await expect(store.managementKeys.insert(unknown)).rejects.toBeInstanceOf(RowRefused)
  })

  test('an edit counts once, noting a use is none, a removed key is gone', async () => {
    const { store } = await start()
    await store.managementKeys.insert(managementRow())
    await store.managementKeys.noteUse('mkey_1', 9)
    const edited = managementRow({ name: 'ci', scopes: ['read'], expiresAt: 8, disabledAt: 7 })
    expect(await store.managementKeys.update(edited)).toBe(true)
    expect(await store.managementKeys.update(edited)).toBe(false)
    const kept = { ...edited, usedAt: 9, revision: 2 }
    expect(await store.managementKeys.find('mkey_1')).toEqual(kept)
    expect(await store.managementKeys.remove('mkey_1')).toBe(true)
    expect(await store.managementKeys.remove('mkey_1')).toBe(false)
    expect(await store.managementKeys.find('mkey_1')).toBeNull()
  })
})

onEachEngine('what tells that keys have changed', (start) => {
  test('versions come in pages by id, whole keys by their ids, and an account counts its own', async () => {
    const { store } = await start()
    await store.accounts.ensure('ann', 1)
    const ids = ['key_1', 'key_2', 'key_3']
    for (const [index, id] of ids.entries())
      await store.keys.insert(keyRow({ id, hash: String(index).repeat(64) }))
    await store.keys.disable('key_2', 5)
    const first = await store.keys.versionsAfter('', 2)
    expect(first).toEqual([
      { id: 'key_1', revision: 1, hash: '0'.repeat(64) },
      { id: 'key_2', revision: 2, hash: '1'.repeat(64) },
    ])
    expect(await store.keys.versionsAfter('key_2', 2)).toMatchObject([{ id: 'key_3' }])
    const whole = await store.keys.those(['key_2', 'key_9'])
    expect(whole).toEqual([
      keyRow({ id: 'key_2', hash: '1'.repeat(64), disabledAt: 5, revision: 2 }),
    ])
    expect(await store.keys.those([])).toEqual([])
    expect([await store.keys.count('ann'), await store.keys.count('bob')]).toEqual([3, 0])
  })
})
