// Tests that lists find a text in letters of either case, on both engines.

import { expect, test } from 'bun:test'
import { onEachEngine } from './engines.ts'
import { keyRow } from './store.ts'

const names = ['Émile Çelik', 'ИВАН', 'Σωκράτης', 'Straße [a-z]*?', 'a\\b.c+(d)|^$', "it's 50%_"]
const sought = [
  ['émile çELIK', 0],
  ['ÉMILE', 0],
  ['иван', 1],
  ['Иван', 1],
  ['σΩΚΡΆΤ', 2],
  ['straße', 3],
  ['STRAßE [A-Z]*?', 3],
  ['B.C+(D)|^$', 4],
  ['\\', 4],
  ["IT'S", 5],
  ['%_', 5],
] as const

onEachEngine('texts in lists', (start) => {
  test('people, keys and events are found by letters of either case, and by signs as they are', async () => {
    const { store } = await start()
    for (const [index, name] of names.entries()) {
      await store.accounts.ensure(`account_${index}`, 1)
      await store.people.change(`account_${index}`, { name })
      const [id, hash] = [`key_${index}`, String(index).repeat(64)]
      await store.keys.insert(keyRow({ id, account: `account_${index}`, hash, name }))
      await store.operatorEvents.add({
        id: `event_${index}`,
        at: 1,
        actor: name,
        role: 'admin',
        action: 'updateKey',
        target: {},
        detail: {},
        address: null,
        changes: null,
      })
    }
    const all = { account: null, start: null, limit: 9 }
    for (const [text, index] of sought) {
      const people = await store.people.list({ search: text, limit: 9 })
      const keys = await store.search.keys({ ...all, text })
      const events = await store.operatorEvents.list({ text, limit: 9 })
      expect([text, people.map(({ id }) => id)]).toEqual([text, [`account_${index}`]])
      expect([text, keys.map(({ id }) => id)]).toEqual([text, [`key_${index}`]])
      expect([text, events.map(({ id }) => id)]).toEqual([text, [`event_${index}`]])
    }
    for (const text of ['?', '[a-z]', '.', '*']) {
      const found = await store.people.list({ search: `é${text}`, limit: 9 })
      expect([text, found]).toEqual([text, []])
    }
  })
})
