// Tests rate cards: set, listed, withdrawn and imported from documents and files, on both engines.

import { expect, test } from 'bun:test'
import { onEachEngine } from '../../test/contract/engines.ts'
import { adminOf, allPages, nowMs } from '../../test/support/admin.ts'
import type { ModelConfig } from '../config/types.ts'
import { ensurePrices } from '../meter/ensure-prices.ts'
import type { Store } from '../store/store.ts'
import { applyFilePrices } from './price-apply.ts'
import { importPrices } from './price-import.ts'
import { cancelPrices, listPrices, rollbackPrices, setPrices, withdrawPrices } from './prices.ts'

const unset = { kind: null, context: null, maxOutput: null, vision: null, ownedBy: null }
const declaring = (prices: ModelConfig['prices']): ModelConfig => ({
  ...unset,
  prices,
  timeouts: {},
})

const shipped = {
  model: 'o3',
  prices: { input: '2', output: '8' },
  source: 'a page',
  sourceDate: '2026-09-23',
}

/** The state that a server leaves after its first start: a shipped card, and one from its file. */
async function begin(store: Store) {
  await ensurePrices(store.prices, { mine: declaring({ input: '7', output: '8' }) }, [shipped], 1)
  return adminOf(store)
}

const change = { source: 'a contract', allowLarge: false }

onEachEngine('prices', (start) => {
  test('a card holds from now with who and from where; what differs much waits to be allowed', async () => {
    const admin = await begin((await start()).store)
    const input = { ...change, model: 'o3', prices: { input: '2.50', output: '8' } }
    const set = await setPrices(admin, input)
    expect(set).toMatchObject({
      card: { model: 'o3', actor: 'op', source: 'a contract', prices: { input: '2.5' } },
      differences: [{ name: 'input', before: '2', after: '2.5', percent: '+25.0', large: false }],
      isUnknown: false,
      missing: null,
      isInFile: false,
    })
    expect(set.card?.from).toBe(new Date(nowMs).toISOString())
    const large = { ...input, prices: { input: '0', output: '8' } }
    const newest = await admin.store.prices.newest()
    expect(await setPrices(admin, large)).toMatchObject({ card: null })
    expect(await admin.store.prices.newest()).toBe(newest)
    expect((await setPrices(admin, { ...large, allowLarge: true })).card?.prices.input).toBe('0')
    const own = { ...change, model: 'mine', prices: { input: '4' } }
    expect(await setPrices(admin, own)).toMatchObject({ isInFile: true, isUnknown: true })
    expect(await setPrices(admin, own)).toMatchObject({ isInFile: true, isUnknown: false })
  })

  test('what is set is withdrawn and brought back', async () => {
    const admin = await begin((await start()).store)
    await expect(withdrawPrices(admin, { model: 'o3' })).rejects.toMatchObject({
      refusal: 'conflict',
      field: 'model',
    })
    await setPrices(admin, { ...change, model: 'o3', prices: { input: '3', output: '8' } })
    expect((await withdrawPrices(admin, { model: 'o3' })).card.prices).toEqual({})
    const [inForce] = (await listPrices(admin, { model: 'o3', all: false, scheduled: false })).items
    expect(inForce).toMatchObject({ origin: 'shipped', state: 'in force' })
    const { card } = await rollbackPrices(admin, { model: 'o3' })
    expect(card).toMatchObject({ prices: { input: '3', output: '8' }, origin: 'set' })
    await expect(rollbackPrices(admin, { model: 'o3', version: 999 })).rejects.toMatchObject({
      refusal: 'not_found',
      message: 'o3 has no card of version 999',
    })
  })

  test('a list in pages is the whole list, by model and version', async () => {
    const admin = await begin((await start()).store)
    for (const model of ['o3-mini', 'o3', 'a', 'o3']) {
      await setPrices(admin, { ...change, model, prices: { input: '2' }, allowLarge: true })
    }
    const whole = await listPrices(admin, { all: true, scheduled: false })
    expect(whole.items.map(({ model, state }) => `${model} ${state}`)).toEqual([
      'a in force',
      'mine in force',
      'o3 replaced',
      'o3 replaced',
      'o3 in force',
      'o3-mini in force',
    ])
    const pages = await allPages(
      (page) => listPrices(admin, { all: true, scheduled: false, ...page }),
      4,
    )
    expect(pages.map(({ length }) => length)).toEqual([4, 2])
    expect(pages.flat()).toEqual([...whole.items])
    await expect(
      listPrices(admin, { model: 'nobody', all: false, scheduled: false }),
    ).rejects.toMatchObject({
      refusal: 'not_found',
      field: 'model',
    })
  })
})

onEachEngine('prices that were scheduled', (start) => {
  test('what is cancelled takes nothing back that was set, imported or withdrawn after it', async () => {
    const admin = await begin((await start()).store)
    const set = (input: string, from = admin.nowMs) =>
      setPrices(admin, {
        ...{ ...change, model: 'o3', prices: { input, output: '8' } },
        ...{ allowLarge: true, from },
      })
    const inForceAt = async (nowMs: number) => {
      const asked = { model: 'o3', all: false, scheduled: false }
      return (await listPrices({ ...admin, nowMs }, asked)).items[0]?.prices['input']
    }
    await set('3')
    const [soon, later] = [admin.nowMs + 1_000, admin.nowMs + 2_000]
    for (const from of [later, soon]) {
      const version = (await set('4', from)).card?.version ?? 0
      await cancelPrices(admin, { model: 'o3', version })
    }
    await set('5')
    expect([await inForceAt(soon), await inForceAt(later)]).toEqual(['5', '5'])
    const document = JSON.stringify({ o3: { prices: { input: '6', output: '8' } } })
    await importPrices(admin, { document, apply: true, allowLarge: true })
    expect([await inForceAt(soon), await inForceAt(later)]).toEqual(['6', '6'])
    await set('7', soon + 1)
    expect([await inForceAt(soon), await inForceAt(later)]).toEqual(['6', '7'])
    const scheduled = await listPrices(admin, { all: false, scheduled: true })
    expect(scheduled.items.map(({ prices }) => prices['input'])).toEqual(['7'])
    const { card } = await withdrawPrices(admin, { model: 'o3' })
    expect(card.prices).toEqual({})
    const shipped = await inForceAt(admin.nowMs)
    expect([await inForceAt(soon), await inForceAt(later)]).toEqual([shipped, '7'])
  })
})

onEachEngine('prices of documents', (start) => {
  test('a document is shown, and applied whole or not at all', async () => {
    const admin = await begin((await start()).store)
    const document = JSON.stringify({
      o3: { prices: { input: '2.2', output: '8' } },
      mine: { prices: { input: '0.001', output: '8' } },
    })
    const input = { document, apply: false, allowLarge: true }
    const shown = await importPrices(admin, input)
    expect(shown).toMatchObject({ applied: false, models: 2, versions: [], inFile: ['mine'] })
    expect(shown.changes.map(({ model, before }) => [model, before?.prices.input])).toEqual([
      ['o3', '2'],
      ['mine', undefined],
    ])
    const newest = await admin.store.prices.newest()
    await importPrices(admin, { ...input, apply: true, model: 'mine' })
    const insane = { ...input, document: document.replace('0.001', '99'), allowLarge: false }
    expect(await importPrices(admin, { ...insane, apply: true })).toMatchObject({
      applied: false,
      refused: ['mine'],
      versions: [],
    })
    const applied = await importPrices(admin, { ...insane, apply: true, model: 'o*' })
    expect(applied).toMatchObject({ applied: true, versions: [newest + 2], inFile: [] })
    for (const [bad, message] of [
      ['prices', 'is not JSON'],
      ['[]', 'has no prices for the requested model'],
      ['{"o3":{"prices":{"inputs":"1"}}}', 'o3: inputs: unknown price; did you mean input?'],
    ] as const) {
      await expect(importPrices(admin, { ...input, document: bad })).rejects.toMatchObject({
        field: 'document',
        message,
      })
    }
    const euros = adminOf(admin.store, { currency: async () => 'EUR' })
    const models = JSON.stringify({ openai: { models: { o3: { cost: { input: 2, output: 9 } } } } })
    await expect(importPrices(euros, { ...input, document: models })).rejects.toMatchObject({
      refusal: 'conflict',
      message: 'its prices are in USD, but the currency of the deployment is EUR',
    })
  })
})

onEachEngine('prices at once', (start) => {
  test('of two changes that were decided by the same cards one is done, the other told of it', async () => {
    const admin = await begin((await start()).store)
    const set = { ...change, model: 'mine', prices: { input: '7', output: '9' } }
    const document = JSON.stringify({ o3: { prices: { input: '3', output: '8' } } })
    const imported = { document, apply: true, allowLarge: false }
    // Each reads before the other adds, as two processes may.
    const behind = async (other: () => Promise<unknown>) => {
      const rows = await admin.store.prices.all()
      await other()
      const prices: Store['prices'] = { ...admin.store.prices, all: async () => rows }
      return adminOf({ ...admin.store, prices })
    }
    const late = await behind(() => setPrices(admin, set))
    const before = await admin.store.prices.all()
    for (const [field, done] of [
      ['model', () => setPrices(late, { ...set, prices: { input: '8', output: '9' } })],
      ['model', () => rollbackPrices(late, { model: 'o3', version: 1 })],
      ['document', () => importPrices(late, imported)],
    ] as const) {
      await expect(done()).rejects.toMatchObject({ refusal: 'conflict', field })
    }
    expect(await admin.store.prices.all()).toEqual(before)
    expect((await importPrices(admin, imported)).applied).toBe(true)
    const later = await behind(() => setPrices(admin, set))
    await expect(withdrawPrices(later, { model: 'o3' })).rejects.toMatchObject({
      refusal: 'conflict',
      message: 'prices were changed meanwhile: read them again, then repeat the change',
    })
  })
})

onEachEngine('prices of files', (start) => {
  test("a file's prices count once applied, whatever nodes write meanwhile", async () => {
    const { store } = await start()
    const admin = await begin(store)
    const { appendAfter } = store.prices
    let raced = false
    // Another process is faster once.
    const prices: Store['prices'] = {
      ...store.prices,
      async appendAfter(newest, rows, note) {
        if (!raced) await setPrices(admin, { ...change, model: 'other', prices: { input: '1' } })
        raced = true
        return appendAfter(newest, rows, note)
      },
    }
    const file = { models: { mine: declaring({ input: '0.5' }) }, priceRevision: 3 }
    const refused = await applyFilePrices(admin, file, { allowLarge: false })
    expect(refused).toMatchObject({
      refused: ['mine'],
      changes: [{ model: 'mine', version: null }],
    })
    const racing = adminOf({ ...store, prices })
    const applied = await applyFilePrices(racing, file, { allowLarge: true })
    expect(raced).toBe(true)
    expect(applied.changes).toMatchObject([
      { model: 'mine', before: { input: '7' }, prices: { input: '0.5' }, version: 4 },
    ])
    expect((await store.prices.files()).map(({ revision }) => revision)).toContain(3)
    expect(await applyFilePrices(admin, file, { allowLarge: false })).toEqual({
      changes: [],
      refused: [],
    })
  })
})
