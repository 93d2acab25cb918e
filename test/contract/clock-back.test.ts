// Tests a clock that was ahead and is set back, on both engines: what was timed while it was ahead does not wait for it.

import { expect, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { fund, grantOne, hourMs, lessee } from '../support/ledger-scene.ts'
import { newOrder } from '../support/payments.ts'
import { onEachEngine } from './engines.ts'

const dayMs = 24 * hourMs

onEachEngine('a clock set back by a day', (start) => {
  test('a limit that is used up is free again within its own span', async () => {
    const { store, engine } = await start()
    const take = () => store.pace.take('ann', { count: 2, spanMs: hourMs })
    expect([await take(), await take()]).toEqual([0, 0])
    await engine.run('UPDATE pace SET free_at = free_at + ?', [dayMs])
    expect(await take()).toBe(hourMs / 2)
    await engine.run('UPDATE pace SET free_at = free_at - ?', [hourMs / 2])
    expect(await take()).toBe(0)
    expect(await take()).toBeGreaterThan(0)
  })

  test('the turn for alerts is taken, and a notice raised meanwhile is sent', async () => {
    const { store, engine } = await start()
    const nowMs = Date.now()
    expect(await store.alerts.takeTurn(50_000)).toBe(true)
    await engine.run('UPDATE alert_turn SET until = until + ?', [dayMs])
    expect([await store.alerts.takeTurn(50_000), await store.alerts.takeTurn(50_000)]).toEqual([
      true,
      false,
    ])
    const at = nowMs + dayMs
    const raised = { account: 'ann', rule: 'balance', subject: '', at }
    const notice = {
      id: 'n1',
      account: 'ann',
      at,
      document: {},
      dueAt: { webhook: at, mail: null },
    }
    await store.alerts.raise(raised, notice)
    const due = async () => (await store.alertNotices.due('webhook', nowMs, 5)).map(({ id }) => id)
    expect(await due()).toEqual(['n1'])
    expect(await store.alertNotices.due('mail', nowMs, 5)).toEqual([])
    const again = { dueAt: nowMs + 60_000, attempts: 1, failure: 'x' }
    await store.alertNotices.posted('n1', 'webhook', again)
    expect(await due()).toEqual([])
  })

  test('nobody is taken to be looking any more, nor a process that ended to be running', async () => {
    const { store, engine } = await start()
    const { running } = store
    await running.watch('ann')
    await running.report('one', [])
    await engine.run('UPDATE running_watch SET until = until + ?', [dayMs])
    await engine.run('UPDATE running_report SET at = at + ?', [dayMs])
    expect((await running.work()).accounts).toEqual([])
    expect((await running.reports()).processes).toBe(0)
    expect(await running.watch('ann')).toBe(false)
    expect((await running.work()).accounts).toEqual(['ann'])
  })
})

onEachEngine('a clock set back by a day, and nodes renewed meanwhile', (start) => {
  test('a node that died loses its leases within its lifetime, and one that lives keeps them', async () => {
    const { store, engine } = await start()
    await fund(store, 'ann', 100n)
    const lifetimeMs = 100
    const dead = await store.nodes.open('dead', lifetimeMs)
    const living = await store.nodes.open('living', hourMs)
    const lease = { account: 'ann', needNano: 50n, wantNano: 50n }
    for (const node of [dead, living]) await grantOne(store, { ...node, ...lease })
    await engine.run('UPDATE node SET expires_at = expires_at + ?', [dayMs])
    expect(await store.nodes.sweep()).toEqual([])
    const swept = await eventually(async () => {
      const refs = await store.nodes.sweep()
      return refs.length > 0 ? refs : undefined
    })
    expect(swept).toMatchObject([dead])
    expect((await store.journal.wallet('ann'))?.leasedNano).toBe(50n)
    expect(await store.nodes.renew(living, hourMs)).toBe(true)
  })
})

onEachEngine('a clock set back by a day, and work begun meanwhile', (start) => {
  test('the turn of a process that ended is taken by the next one', async () => {
    const { store, engine } = await start()
    const take = (holder: string) =>
      store.usageExport.take({ destination: 'files', holder }, 30_000, hourMs)
    expect(await take('one')).not.toBe(null)
    expect(await take('two')).toBe(null)
    await engine.run('UPDATE usage_export SET until = until + ?', [dayMs])
    expect(await take('two')).not.toBe(null)
  })

  test('the turn to archive is taken, and a bill is compared', async () => {
    const { store } = await start()
    const nowMs = Date.now()
    const take = (holder: string, atMs: number) =>
      store.archive.take({ holder, nowMs: atMs }, atMs + 30_000)
    expect(await take('one', nowMs + dayMs)).toBe(true)
    expect([await take('two', nowMs), await take('one', nowMs)]).toEqual([true, false])
    const bill = { provider: 'stripe', day: '2026-11-24' } as const
    const compare = (atMs: number) => store.bills.take(bill, atMs, atMs + 3_600_000)
    expect(await compare(nowMs + dayMs)).toBe(true)
    expect([await compare(nowMs), await compare(nowMs)]).toEqual([true, false])
  })

  test('an automatic top-up is looked at', async () => {
    const { store } = await start()
    await fund(store, 'ann', 5n)
    await store.paymentOrders.create(newOrder({ id: 'a', account: 'ann' }))
    const rule = { account: 'ann', mode: 'live', agreement: 'a', thresholdNano: 10n } as const
    await store.autoTopUps.put({ ...rule, amountMinor: 100, monthMinor: 1_000, revision: 0 })
    const nowMs = Date.now()
    const take = async (atMs: number) =>
      (await store.autoTopUps.take(atMs, atMs + 50_000, 5)).length
    expect(await take(nowMs + dayMs)).toBe(1)
    expect([await take(nowMs), await take(nowMs)]).toEqual([1, 0])
  })

  test('the provider of an order made meanwhile is asked, once a minute', async () => {
    const { store } = await start()
    await store.accounts.ensure('ann', 1)
    const nowMs = Date.now()
    const createdAt = nowMs + dayMs
    const times = { createdAt, expiresAt: createdAt + hourMs, queryAt: createdAt + 60_000 }
    await store.paymentOrders.create(newOrder({ id: 'o1', ...times }))
    const due = async (atMs: number) =>
      (await store.paymentOrders.takeDue(atMs, [60_000, 120_000], 5)).map(({ id }) => id)
    expect(await due(nowMs)).toEqual(['o1'])
    expect(await due(nowMs + 59_999)).toEqual([])
    expect(await due(nowMs + 60_000)).toEqual(['o1'])
    expect(await due(nowMs + 60_001)).toEqual([])
  })

  test('a video begun meanwhile is polled', async () => {
    const { store } = await start()
    await fund(store, 'ann', 100n)
    const ref = await lessee(store, 'n1', 'ann', 60n)
    const nowMs = Date.now()
    const row = {
      ...{ account: 'ann', id: 'video_1', requestId: 'req_1', video: '{}', work: '{}', bill: '{}' },
      ...{ heldNano: 40n, pollAt: nowMs + dayMs, createdAt: nowMs + dayMs },
      expiresAt: nowMs + 2 * dayMs,
    }
    await store.videos.apply({ kind: 'begin', row, from: ref, idempotency: null }, null)
    expect(await store.videos.nextPollAt(nowMs)).toBeLessThanOrEqual(nowMs)
    const claim = { kind: 'claim', nowMs, untilMs: nowMs + 60_000, limit: 5 } as const
    const { rows } = await store.videos.apply(claim, ref)
    expect(rows.map(({ id }) => id)).toEqual(['video_1'])
    expect((await store.videos.apply(claim, ref)).rows).toEqual([])
  })
})
