// The contract of the table of channels, groups and models made at run time.

import { expect, test } from 'bun:test'
import { onEachEngine } from './engines.ts'

const row = { kind: 'channel', id: 'main', changedAt: 1_800_000_000_000, actor: 'op' } as const
const document = { id: 'main', vendor: 'openai', note: 'half \ud800 a pair, \0, "quoted"' }

onEachEngine('the table of the stored configuration', (start, kind) => {
  test('every version is kept, the newest counts, and a removal is one', async () => {
    const { configuration } = (await start()).store
    expect(await configuration.revision()).toBe(0)
    expect(await configuration.all()).toEqual([])
    expect(await configuration.change([{ ...row, document }], 0)).toBe(true)
    const group = { ...row, kind: 'group', id: 'paid', document: { multiplier: '2' } } as const
    const changed = { ...row, document: { ...document, weight: 2 } }
    expect(await configuration.change([changed, group], 1)).toBe(true)
    expect(await configuration.all()).toEqual([
      { ...changed, revision: 2 },
      { ...group, revision: 1 },
    ])
    expect(await configuration.change([{ ...row, document: null }], 2)).toBe(true)
    expect((await configuration.all()).map(({ id }) => id)).toEqual(['paid'])
    expect(await configuration.change([{ ...row, document }], 3)).toBe(true)
    const asked = { kind: 'channel', id: 'main' } as const
    const versions = await configuration.versions({ ...asked, limit: 3 })
    expect(versions.map(({ revision, document }) => [revision, document?.weight])).toEqual([
      [4, undefined],
      [3, undefined],
      [2, 2],
    ])
    expect(versions.map(({ document }) => document === null)).toEqual([false, true, false])
    expect(await configuration.versions({ ...asked, before: 2, limit: 3 })).toEqual([
      { ...row, document, revision: 1 },
    ])
    expect(await configuration.revision()).toBe(4)
  })

  test('what was judged by an older state changes nothing, also of many at once', async () => {
    const { store, open } = await start()
    // SQLite's wait for another connection would block the one thread that both use.
    const stores = kind === 'sqlite' ? [store, store] : [store, await open(), await open()]
    const taken = await Promise.all(
      stores.flatMap(({ configuration }) =>
        [1, 2, 3].map(() => configuration.change([{ ...row, document }], 0)),
      ),
    )
    expect(taken.filter((each) => each)).toHaveLength(1)
    expect(await store.configuration.change([{ ...row, document: null }], 0)).toBe(false)
    expect(await store.configuration.all()).toMatchObject([{ revision: 1 }])
  })
})
