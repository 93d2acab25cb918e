// The contract of the table of settings.

import { expect, test } from 'bun:test'
import { onEachEngine } from './engines.ts'

const row = { name: 'usage.keepDays', value: 30, actor: 'op', changedAt: 1_800_000_000_000 }

onEachEngine('the table of settings', (start, kind) => {
  test('a setting is kept, changed and taken back, each time with a greater revision', async () => {
    const { store } = await start()
    const { settings } = store
    expect(await settings.revision()).toBe(0)
    expect(await settings.all()).toEqual([])
    const notices = [{ text: { en: 'half \ud800 a pair, \0, "quoted"' } }]
    const first = await settings.set(row)
    const second = await settings.set({ ...row, name: 'notices', value: notices, actor: null })
    expect(second ?? 0).toBeGreaterThan(first ?? 0)
    expect(await settings.all()).toEqual([
      {
        ...row,
        name: 'notices',
        value: [{ text: { en: 'half \ud800 a pair, \0, "quoted"' } }],
        actor: null,
        revision: second ?? 0,
      },
      { ...row, revision: first ?? 0 },
    ])
    const third = await settings.set({ ...row, value: 60 }, first ?? -1)
    expect(third ?? 0).toBeGreaterThan(second ?? 0)
    expect(await settings.revision()).toBe(third ?? 0)
    const fourth = await settings.unset('usage.keepDays', third ?? -1)
    expect(fourth ?? 0).toBeGreaterThan(third ?? 0)
    expect((await settings.all()).map(({ name }) => name)).toEqual(['notices'])
  })

  test('what was changed since it was read is left as it is', async () => {
    const { store } = await start()
    const { settings } = store
    const first = await settings.set(row, 0)
    expect(first).not.toBeNull()
    expect(await settings.set({ ...row, value: 1 }, 0)).toBeNull()
    expect(await settings.set({ ...row, value: 1 }, (first ?? 0) + 1)).toBeNull()
    expect(await settings.unset('usage.keepDays', 0)).toBeNull()
    expect(await settings.all()).toMatchObject([{ value: 30, revision: first ?? 0 }])
    await settings.unset('usage.keepDays')
    expect(await settings.set({ ...row, value: 2 }, first ?? 0)).toBeNull()
    expect(await settings.set({ ...row, value: 2 }, 0)).not.toBeNull()
  })

  test('of many who read the same one changes it', async () => {
    const { store, open } = await start()
    // SQLite's wait for another connection would block the one thread that both use.
    const stores = kind === 'sqlite' ? [store, store] : [store, await open(), await open()]
    const revisions = await Promise.all(
      stores.flatMap(({ settings }, at) =>
        [1, 2, 3].map((value) => settings.set({ ...row, value: 10 * at + value }, 0)),
      ),
    )
    expect(revisions.filter((revision) => revision !== null)).toHaveLength(1)
  })
})
