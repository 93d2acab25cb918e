// Tests keys of the store, on both engines.

import { expect, test } from 'bun:test'
import { onEachEngine } from '../../test/contract/engines.ts'
import { adminOf, allPages, nowMs } from '../../test/support/admin.ts'
import { hashSecret } from '../identity/secret.ts'
import { createKey, disableKey, listKeys, removeKey } from './keys.ts'
import { createManagementKey } from './management-keys.ts'

const input = { account: 'ann', group: 'default', name: 'laptop', showCost: false }

onEachEngine('keys', (start) => {
  test('a key is made with its account, and its secret is kept nowhere', async () => {
    const { store } = await start()
    const admin = adminOf(store)
    const { secret, ...made } = await createKey(admin, { ...input, expiresAt: nowMs + 1 })
    expect(made).toMatchObject({ account: 'ann', status: 'active', models: null })
    expect((await store.accounts.all()).map(({ id }) => id)).toEqual(['ann'])
    const [row] = await store.keys.all()
    expect(row?.hash).toBe(hashSecret(secret))
    expect(JSON.stringify(row)).not.toContain(secret)
    expect((await listKeys(admin, {})).items).toEqual([made])
    const later = adminOf(store, { nowMs: nowMs + 1 })
    expect((await listKeys(later, {})).items[0]?.status).toBe('expired')
  })

  test('a group that the deployment does not have is refused with the nearest one', async () => {
    const { store } = await start()
    await store.deployment.rememberGroups(['default', 'batch'])
    await expect(createKey(adminOf(store), { ...input, group: 'defualt' })).rejects.toMatchObject({
      refusal: 'invalid',
      field: 'group',
      message: 'there is no such group; did you mean default?',
    })
    expect(await store.accounts.all()).toEqual([])
  })

  test('what is disabled stays in the list, what is removed does not; others are refused', async () => {
    const { store } = await start()
    const admin = adminOf(store)
    const { id } = await createKey(admin, input)
    await disableKey(admin, { id })
    expect((await listKeys(admin, {})).items).toMatchObject([
      { status: 'disabled', disabledAt: new Date(nowMs).toISOString() },
    ])
    await removeKey(admin, { id })
    expect((await listKeys(admin, {})).items).toEqual([])
    for (const change of [disableKey, removeKey]) {
      await expect(change(admin, { id })).rejects.toMatchObject({
        refusal: 'not_found',
        field: 'id',
        message: `there is no key "${id}"`,
      })
      await expect(change(admin, { id: 'config:bench' })).rejects.toMatchObject({
        refusal: 'conflict',
        field: 'id',
      })
    }
  })

  test('pages go on where they were when keys come and go between them', async () => {
    const { store } = await start()
    const make = (account: string, at: number) =>
      createKey(adminOf(store, { nowMs: nowMs + at }), { ...input, account })
    const made = [await make('ann', 1), await make('bob', 1), await make('ann', 2)]
    const admin = adminOf(store)
    const first = await listKeys(admin, { limit: 2 })
    const others = made.filter(({ id }) => !first.items.some((key) => key.id === id))
    expect(others).toHaveLength(1)
    await removeKey(admin, { id: first.items[1]?.id ?? '' })
    const last = await make('ann', 3)
    const second = await listKeys(admin, { limit: 2, cursor: first.next ?? '' })
    expect(second.items.map(({ id }) => id)).toEqual([others[0]?.id ?? '', last.id])
    expect(second.next).toBeNull()
    const pages = await allPages((page) => listKeys(admin, { account: 'bob', ...page }), 1)
    expect(pages.flat().every(({ account }) => account === 'bob')).toBe(true)
  })
})

onEachEngine('keys asked for by id', (start) => {
  test('are found among the others, and only within the account', async () => {
    const { store } = await start()
    const admin = adminOf(store)
    const mine = await createKey(admin, input)
    await createKey(admin, input)
    const other = await createKey(admin, { ...input, account: 'bob' })
    const ids = [other.id, 'key_none', mine.id, mine.id]
    const found = async (account?: string) =>
      (await listKeys(admin, { ids, account })).items.map(({ id }) => id).sort()
    expect(await found()).toEqual([mine.id, other.id].sort())
    expect(await found('bob')).toEqual([other.id])
  })
})

onEachEngine('keys of an account that is gone', (start) => {
  test('none can be created, since it would not work', async () => {
    const { store } = await start()
    const admin = adminOf(store)
    await createKey(admin, input)
    await store.people.remove('ann', nowMs)
    const refused = {
      refusal: 'conflict',
      field: 'account',
      message: 'ann was deleted and can have no new keys',
    }
    await expect(createKey(admin, input)).rejects.toMatchObject(refused)
    const managing = { name: 'ci', account: 'ann', scopes: ['read' as const] }
    await expect(createManagementKey(admin, managing)).rejects.toMatchObject(refused)
    expect(await store.keys.all('ann')).toEqual([])
  })
})
