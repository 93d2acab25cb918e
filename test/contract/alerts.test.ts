// Tests stored alerts, on both engines.

import { expect, test } from 'bun:test'
import type { NewNotice } from '../../src/store/alerts.ts'
import { onEachEngine } from './engines.ts'

const document = { rule: 'low_balance', text: '"\u{1F600}"' }
const notice = (id: string, at = 1): NewNotice => ({
  id,
  account: 'ann',
  at,
  document,
  dueAt: { webhook: at, mail: id === 'n3' ? at : null },
})
const raised = { account: 'ann', rule: 'low_balance', subject: '', at: 1 }

onEachEngine('alerts', (start) => {
  test('a setting is replaced by who read the newest alone', async () => {
    const { alerts } = (await start()).store
    const setting = { account: 'ann', document: { webhook: null }, secret: null, revision: 0 }
    expect(await alerts.setting('ann')).toBeNull()
    const puts = await Promise.all([alerts.put(setting), alerts.put(setting)])
    expect(puts.filter((each) => each)).toHaveLength(1)
    expect(await alerts.put({ ...setting, secret: 's', revision: 1 })).toBeTrue()
    expect(await alerts.put({ ...setting, revision: 1 })).toBeFalse()
    expect(await alerts.settings()).toEqual([{ ...setting, secret: 's', revision: 2 }])
  })

  test('one process has its turn, and what it raises is told once', async () => {
    const { store, open } = await start()
    const other = await open()
    const turns = await Promise.all([store, other].map((each) => each.alerts.takeTurn(60_000)))
    expect(turns.filter((each) => each)).toHaveLength(1)
    const both = await Promise.all([
      store.alerts.raise(raised, notice('a')),
      other.alerts.raise(raised, notice('b')),
    ])
    expect(both.filter((each) => each)).toHaveLength(1)
    const listed = await store.alertNotices.list({ account: 'ann', unread: false, limit: 5 })
    expect(listed).toHaveLength(1)
    expect(listed[0]).toMatchObject({
      document,
      readAt: null,
      webhook: { dueAt: 1, attempts: 0, failure: null },
      mail: { dueAt: null, attempts: 0, failure: null },
    })
    expect(await store.alerts.raised()).toEqual([raised])
    await store.alerts.clear([raised])
    expect(await store.alerts.raise(raised, notice('c'))).toBeTrue()
  })

  test('notices are read by their account, posted when they are due, and forgotten in time', async () => {
    const { alerts, alertNotices } = (await start()).store
    for (const at of [1, 2, 3])
      await alerts.raise({ ...raised, subject: String(at) }, notice(`n${at}`, at))
    const ids = async (before?: { at: number; id: string }, unread = false) =>
      (await alertNotices.list({ account: 'ann', unread, before, limit: 5 })).map(({ id }) => id)
    expect(await ids()).toEqual(['n3', 'n2', 'n1'])
    expect(await ids({ at: 2, id: 'n2' })).toEqual(['n1'])
    expect(await alertNotices.markRead('bob', null, 9)).toBe(0)
    expect(await alertNotices.markRead('ann', ['n1', 'n4'], 9)).toBe(1)
    expect(await ids(undefined, true)).toEqual(['n3', 'n2'])
    expect(await alertNotices.unread('ann')).toBe(2)
    expect((await alertNotices.due('webhook', 2, 5)).map(({ id }) => id)).toEqual(['n1', 'n2'])
    await alertNotices.posted('n1', 'webhook', { dueAt: null, attempts: 1, failure: 'x' })
    expect((await alertNotices.due('mail', 3, 5)).map(({ id }) => id)).toEqual(['n3'])
    await alertNotices.posted('n3', 'mail', { dueAt: 9, attempts: 2, failure: 'y' })
    expect(await alertNotices.due('mail', 8, 5)).toEqual([])
    expect(await alertNotices.due('mail', 9, 5)).toMatchObject([
      { webhook: { dueAt: 3, attempts: 0 }, mail: { dueAt: 9, attempts: 2, failure: 'y' } },
    ])
    expect((await alertNotices.due('webhook', 2, 5)).map(({ id }) => id)).toEqual(['n2'])
    await alertNotices.prune(3)
    expect(await ids()).toEqual(['n3'])
  })
})

onEachEngine('alerts that are over', (start) => {
  test('what is over is told once, with its end', async () => {
    const { store, open } = await start()
    const other = await open()
    expect(await store.alerts.clear([raised], notice('a'))).toBe(0)
    await store.alerts.raise(raised, notice('a'))
    const both = await Promise.all([
      store.alerts.clear([raised], notice('b', 2)),
      other.alerts.clear([raised], notice('c', 2)),
    ])
    expect(both.toSorted()).toEqual([0, 1])
    expect(await store.alertNotices.list({ account: 'ann', unread: false, limit: 5 })).toHaveLength(
      2,
    )
    expect(await store.alerts.raised()).toEqual([])
  })
})
