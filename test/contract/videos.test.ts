// The contract of videos: the money set aside for each is charged once or released, whoever ends it, and only one
// process polls at a time.

import { expect, test } from 'bun:test'
import type { NodeRef } from '../../src/store/ledger.ts'
import type { Store } from '../../src/store/store.ts'
import type { NewVideo, VideoBegin, VideoEnd, VideoRow } from '../../src/store/video-table.ts'
import { finished, fund, hourMs, imbalance, lessee } from '../support/ledger-scene.ts'
import { keptTotals } from '../support/rollups.ts'
import { type Bench, onEachEngine } from './engines.ts'
import { usageRow } from './store.ts'

const nowMs = 1_763_700_000_000

function newVideo(change: Partial<NewVideo> = {}): NewVideo {
  const id = change.id ?? 'video_1'
  return {
    account: 'ann',
    id,
    requestId: `req_${id}`,
    video: `{"id":"${id}","text":"é\\u2028🔑"}`,
    work: '{"handle":"h"}',
    bill: '{}',
    heldNano: 40n,
    pollAt: nowMs + 1_000,
    createdAt: nowMs,
    expiresAt: nowMs + hourMs,
    ...change,
  }
}

function beginning(from: NodeRef, change: Partial<NewVideo> = {}): VideoBegin {
  return { kind: 'begin', row: newVideo(change), from, idempotency: null }
}

function ending(change: Partial<VideoEnd> & { chargeNano?: bigint } = {}): VideoEnd {
  const { chargeNano = 30n, ...rest } = change
  const id = change.id ?? 'video_1'
  return {
    kind: 'end',
    account: 'ann',
    id,
    state: 'completed',
    video: `{"id":"${id}","done":true}`,
    work: '{"handle":"h","url":"u"}',
    nowMs: nowMs + 5_000,
    row: usageRow({ requestId: `req_${id}`, operation: 'video', chargeNano, at: nowMs }),
    capNano: null,
    ...rest,
  }
}

function claiming(untilMs = nowMs + 60_000, atMs = nowMs + 1_000) {
  return { kind: 'claim', nowMs: atMs, untilMs, limit: 10 } as const
}

const ids = (rows: readonly VideoRow[]) => rows.map(({ id }) => id)

async function wallet(store: Store) {
  const { postedNano, leasedNano, heldNano } = (await store.journal.wallet('ann')) ?? {}
  return [postedNano, leasedNano, heldNano]
}

/** Ann has 100, the node leases 60 of it. */
async function lease({ store }: Bench): Promise<NodeRef> {
  await fund(store, 'ann', 100n)
  return lessee(store, 'n1', 'ann', 60n)
}

type Start = () => Promise<Bench>

onEachEngine('videos', (start, kind) => {
  moneyTests(start)
  // Two connections of one process to SQLite would wait for each other on its one thread.
  const others = (bench: Bench) =>
    kind === 'sqlite'
      ? Promise.resolve([bench.store])
      : Promise.all([bench.open(), bench.open(), bench.open()])
  raceTests(start, others)
  claimTests(start, others)
  readingTests(start)
})

function moneyTests(start: Start): void {
  test('what a request held becomes the video’s, and outlives its node', async () => {
    const bench = await start()
    const { store, engine } = bench
    const ref = await lease(bench)
    await store.leases.noteHeld(ref, new Map([['ann', 40n]]))
    expect((await store.videos.apply(beginning(ref), null)).state).toBe('changed')
    expect(await wallet(store)).toEqual([100n, 60n, 60n])
    await store.leases.noteHeld(ref, new Map())
    expect(await wallet(store)).toEqual([100n, 60n, 40n])
    await store.nodes.close(ref)
    expect(await wallet(store)).toEqual([100n, 40n, 40n])
    expect(await imbalance(engine)).toEqual({ unbalanced: 0n, overdrawn: 0, unexplained: 0n })
    expect(await store.videos.find('ann', 'video_1')).toEqual({
      ...newVideo(),
      state: 'running',
      polls: 0,
      polledAt: null,
    })
  })

  test('those of a deleted account are removed, one that runs once it is paid', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await lease(bench)
    for (const id of ['ended', 'runs'])
      await store.videos.apply(beginning(ref, { id, heldNano: 30n }), null)
    await store.videos.apply(ending({ id: 'ended' }), null)
    expect(await store.people.remove('ann', nowMs + 6_000)).toBe('changed')
    expect(await store.videos.find('ann', 'ended')).toBeNull()
    expect((await store.videos.apply(ending({ id: 'runs' }), null)).settled.settled).toBe(1)
    await store.videos.clean(nowMs + 6_000)
    expect(await store.videos.find('ann', 'runs')).toBeNull()
    expect((await wallet(store))[0]).toBe(40n)
  })

  test('begun twice is begun once', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await lease(bench)
    expect((await store.videos.apply(beginning(ref), null)).state).toBe('changed')
    expect((await store.videos.apply(beginning(ref), null)).state).toBe('unchanged')
    expect(await wallet(store)).toEqual([100n, 60n, 40n])
  })

  test('of a lease that is gone the wallet’s free money is taken; what is not there changes nothing', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await lease(bench)
    await store.nodes.close(ref)
    const done = await store.videos.apply(beginning(ref, { heldNano: 101n }), null)
    expect(done.state).toBe('insufficient')
    expect(await store.videos.find('ann', 'video_1')).toBeNull()
    expect(await wallet(store)).toEqual([100n, 0n, 0n])
    await store.videos.apply(beginning(ref, { heldNano: 100n }), null)
    expect(await wallet(store)).toEqual([100n, 100n, 100n])
  })

  test('ended, it is charged and the rest is free, in one commit', async () => {
    const bench = await start()
    const { store, engine } = bench
    const ref = await lease(bench)
    await store.videos.apply(beginning(ref), null)
    const { state, settled } = await store.videos.apply(ending(), null)
    expect([state, settled]).toEqual([
      'changed',
      { settled: 1, chargedNano: 30n, writtenOffNano: 0n },
    ])
    expect(await wallet(store)).toEqual([70n, 20n, 0n])
    expect(await imbalance(engine)).toEqual({ unbalanced: 0n, overdrawn: 0, unexplained: 0n })
    expect(await store.videos.find('ann', 'video_1')).toMatchObject({
      state: 'completed',
      heldNano: 0n,
      video: '{"id":"video_1","done":true}',
      work: '{"handle":"h","url":"u"}',
    })
    expect(await store.usage.find('ann', 'req_video_1')).toMatchObject({ chargeNano: 30n })
    expect(await keptTotals(store)).toMatchObject([{ requests: 1n, chargeNano: 30n }])
  })

  test('what is charged above what was set aside comes from free money, the rest is written off', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await lease(bench)
    await store.videos.apply(beginning(ref), null)
    const { settled } = await store.videos.apply(ending({ chargeNano: 90n }), null)
    expect(settled).toEqual({ settled: 1, chargedNano: 80n, writtenOffNano: 10n })
    expect(await wallet(store)).toEqual([20n, 20n, 0n])
  })

  test.each(['failed', 'removed'] as const)('%s, it costs nothing', async (state) => {
    const bench = await start()
    const { store } = bench
    const ref = await lease(bench)
    await store.videos.apply(beginning(ref), null)
    await store.videos.apply(ending({ state, chargeNano: 0n }), null)
    expect(await wallet(store)).toEqual([100n, 20n, 0n])
    const found = await store.videos.find('ann', 'video_1')
    expect(found?.state ?? null).toBe(state === 'failed' ? 'failed' : null)
    expect(await store.usage.find('ann', 'req_video_1')).toMatchObject({ chargeNano: 0n })
  })

  test('one that ends free of any money', async () => {
    const { store } = await start()
    await store.accounts.ensure('ann', 1)
    const nobody = { node: 'n1', epoch: 1 }
    await store.videos.apply(beginning(nobody, { heldNano: 0n }), null)
    const { state } = await store.videos.apply(ending({ chargeNano: 0n }), null)
    expect(state).toBe('changed')
  })

  test('its key of idempotency is done as it begins', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await lease(bench)
    const key = { account: 'ann', key: 'k' }
    const entry = { ...key, bodyHash: 'h', requestId: 'req_video_1', by: ref }
    const again = { ...entry, requestId: 'req_2', nowMs, expiresAt: nowMs + hourMs }
    await store.idempotency.begin({ ...entry, nowMs, expiresAt: nowMs + hourMs })
    const reply = { status: 200, contentType: 'application/json', body: '{}' }
    const idempotency = { ...key, reply, keep: true }
    await store.videos.apply({ ...beginning(ref), idempotency }, null)
    const done = { state: 'done', requestId: 'req_video_1', reply } as const
    expect(await store.idempotency.begin(again)).toEqual(done)
    await store.nodes.close(ref)
    expect(await store.idempotency.begin({ ...again, by: { node: 'n2', epoch: 1 } })).toEqual(done)
  })

  test('a row that cannot be kept ends nothing', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await lease(bench)
    await store.videos.apply(beginning(ref), null)
    const row = usageRow({ requestId: 'req_video_1', output: Number.NaN })
    await expect(store.videos.apply(ending({ row }), null)).rejects.toThrow()
    expect(await wallet(store)).toEqual([100n, 60n, 40n])
    expect((await store.videos.find('ann', 'video_1'))?.state).toBe('running')
  })

  test('a request settled before is not charged again', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await lease(bench)
    await store.videos.apply(beginning(ref), null)
    const row = { requestId: 'req_video_1', chargeNano: 7n }
    await store.settlements.settle([finished(ref, row, { fromLeaseNano: 7n })])
    const { state, settled } = await store.videos.apply(ending(), null)
    expect([state, settled.chargedNano]).toEqual(['changed', 0n])
    expect(await wallet(store)).toEqual([93n, 13n, 0n])
  })

  test('the audit has nothing to say of it, and names one that is settled and runs', async () => {
    const bench = await start()
    const { store, engine } = bench
    const ref = await lease(bench)
    await store.videos.apply(beginning(ref), null)
    await store.videos.apply(beginning(ref, { id: 'video_2', heldNano: 5n }), null)
    await store.videos.apply(ending({ chargeNano: 0n }), null)
    const findings = async () => (await store.audit.run(() => () => 0n)).findings
    expect(await findings()).toEqual([])
    await engine.run(`UPDATE video SET held_nano = 4 WHERE id = 'video_2'`, [])
    expect(await findings()).toMatchObject([{ kind: 'lease', subject: 'wallet:ann' }])
    await engine.run(
      `UPDATE video SET held_nano = 5, request_id = 'req_x' WHERE id = 'video_2'`,
      [],
    )
    await store.settlements.settle([finished(ref, { requestId: 'req_x' })])
    expect(await findings()).toMatchObject([{ kind: 'video', subject: 'video_2' }])
  })
}

type Others = (bench: Bench) => Promise<Store[]>

function raceTests(start: Start, others: Others): void {
  test('I6: of sixteen who end it at once, from several connections, one does', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await lease(bench)
    await store.videos.apply(beginning(ref), null)
    const stores = await others(bench)
    const all = await Promise.all(
      Array.from({ length: 16 }, (_, at) =>
        (stores[at % stores.length] ?? store).videos.apply(
          at % 2 === 0 ? ending() : ending({ state: 'removed', chargeNano: 0n }),
          null,
        ),
      ),
    )
    expect(all.filter(({ state }) => state === 'changed')).toHaveLength(1)
    const charged = all.reduce((sum, { settled }) => sum + settled.chargedNano, 0n)
    expect([0n, 30n]).toContain(charged)
    expect(await wallet(store)).toEqual([100n - charged, 20n, 0n])
    expect(await store.usage.list({ limit: 10 })).toHaveLength(1)
  })

  test('beginnings and ends of many at once, with settlements between, leave the books in order', async () => {
    const bench = await start()
    const { store, engine } = bench
    await fund(store, 'ann', 1_000n)
    await fund(store, 'bob', 1_000n)
    const refs = await Promise.all(
      ['ann', 'bob'].map((account) => lessee(store, `n-${account}`, account, 800n)),
    )
    const [other = store] = await others(bench)
    const one = async (at: number) => {
      const account = at % 2 === 0 ? 'ann' : 'bob'
      const ref = refs[at % 2]
      if (ref === undefined) throw new Error('no node')
      const id = `video_${at}`
      const row = { id, account, heldNano: 20n }
      await store.videos.apply(beginning(ref, row), null)
      const usage = usageRow({ requestId: `req_${id}`, account, chargeNano: 15n })
      const end = ending({ id, account, row: usage })
      await Promise.all([
        store.videos.apply(end, null),
        other.videos.apply(end, null),
        other.settlements.settle([
          finished(ref, { requestId: `r${at}`, account, chargeNano: 5n }, { fromLeaseNano: 5n }),
        ]),
      ])
    }
    await Promise.all(Array.from({ length: 20 }, (_, at) => one(at)))
    for (const account of ['ann', 'bob'])
      expect(await store.journal.wallet(account)).toMatchObject({ postedNano: 800n, heldNano: 0n })
    expect(await imbalance(engine)).toEqual({ unbalanced: 0n, overdrawn: 0, unexplained: 0n })
  })
}

function claimTests(start: Start, others: Others): void {
  test('one that is due is claimed by one, until the claim ends', async () => {
    const bench = await start()
    const { store } = bench
    const first = await lease(bench)
    const second = await store.nodes.open('n2', hourMs)
    await store.videos.apply(beginning(first), null)
    const { videos } = store
    expect((await videos.apply(claiming(nowMs + 60_000, nowMs + 999), first)).rows).toEqual([])
    expect(await videos.nextPollAt(nowMs)).toBe(nowMs + 1_000)
    const claimed = await videos.apply(claiming(), first)
    expect(claimed.rows).toMatchObject([{ id: 'video_1', polls: 1, polledAt: nowMs + 1_000 }])
    expect((await videos.apply(claiming(), second)).rows).toEqual([])
    expect(await videos.nextPollAt(nowMs + 1_000)).toBeNull()
    expect(await videos.isAnyRunning()).toBeTrue()
    const late = claiming(nowMs + 120_000, nowMs + 60_000)
    expect(ids((await videos.apply(late, second)).rows)).toEqual(['video_1'])
  })

  test('of many who look at once each due one is claimed by one', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await lease(bench)
    for (let at = 0; at < 12; at += 1) {
      await store.videos.apply(beginning(ref, { id: `video_${at}`, heldNano: 1n }), null)
    }
    const stores = await others(bench)
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        (stores[at % stores.length] ?? store).videos.apply({ ...claiming(), limit: 3 }, ref),
      ),
    )
    const all = claims.flatMap(({ rows }) => ids(rows))
    expect(new Set(all).size).toBe(all.length)
  })

  test('of a node that is closed, or opened anew, the claims are over at once', async () => {
    const bench = await start()
    const { store } = bench
    const first = await lease(bench)
    await store.videos.apply(beginning(first), null)
    await store.videos.apply(claiming(), first)
    const again = await store.nodes.open('n1', hourMs)
    expect(ids((await store.videos.apply(claiming(), again)).rows)).toEqual(['video_1'])
    await store.nodes.close(again)
    const second = await store.nodes.open('n2', hourMs)
    expect(ids((await store.videos.apply(claiming(), second)).rows)).toEqual(['video_1'])
  })

  test('what was learned is noted by whoever has the claim, and gives it up', async () => {
    const bench = await start()
    const { store } = bench
    const first = await lease(bench)
    const second = await store.nodes.open('n2', hourMs)
    await store.videos.apply(beginning(first), null)
    await store.videos.apply(claiming(), first)
    const pollAt = nowMs + 9_000
    const news = { video: '{"progress":5}', work: '{"p":1}', nowMs: nowMs + 2_000, pollAt }
    const noting = { kind: 'note', account: 'ann', id: 'video_1', ...news } as const
    expect((await store.videos.apply(noting, second)).state).toBe('unchanged')
    expect((await store.videos.apply(noting, first)).state).toBe('changed')
    const { nowMs: polledAt, ...rest } = news
    expect(await store.videos.find('ann', 'video_1')).toMatchObject({ ...rest, polledAt })
    expect(await store.videos.nextPollAt(nowMs)).toBe(pollAt)
    await store.videos.apply(ending(), null)
    expect((await store.videos.apply(noting, first)).state).toBe('unchanged')
    expect((await store.videos.find('ann', 'video_1'))?.state).toBe('completed')
  })

  test('one alone is claimed before its time, but not twice in a moment', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await lease(bench)
    await store.videos.apply(beginning(ref, { pollAt: nowMs + hourMs }), null)
    const hasten = (atMs: number) =>
      store.videos.apply(
        {
          ...claiming(atMs + 60_000, atMs),
          only: { account: 'ann', id: 'video_1', polledBeforeMs: atMs - 2_000 },
        },
        ref,
      )
    expect((await hasten(nowMs + 1_999)).rows).toEqual([])
    expect(ids((await hasten(nowMs + 2_000)).rows)).toEqual(['video_1'])
    const noting = { account: 'ann', id: 'video_1', video: '{}', work: '{}' } as const
    const note = { kind: 'note', ...noting, nowMs: nowMs + 2_100, pollAt: nowMs + hourMs } as const
    await store.videos.apply(note, ref)
    expect((await hasten(nowMs + 3_000)).rows).toEqual([])
    expect(ids((await hasten(nowMs + 4_100)).rows)).toEqual(['video_1'])
  })
}

function readingTests(start: Start): void {
  test('another account has nothing of it', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await lease(bench)
    await store.videos.apply(beginning(ref), null)
    expect(await store.videos.find('bob', 'video_1')).toBeNull()
    const page = { limit: 10, order: 'asc', after: null } as const
    expect(await store.videos.list('bob', page)).toEqual([])
    const end = ending({ account: 'bob' })
    expect((await store.videos.apply(end, null)).state).toBe('unchanged')
    const gone = { kind: 'remove', account: 'bob', id: 'video_1' } as const
    expect((await store.videos.apply(gone, null)).state).toBe('unchanged')
    expect(await store.videos.find('ann', 'video_1')).not.toBeNull()
  })

  test('pages put together are the whole list, in either order', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await lease(bench)
    for (const [at, createdAt] of [3, 1, 2, 2, 5].entries()) {
      const id = `video_${at}`
      await store.videos.apply(beginning(ref, { id, createdAt, heldNano: 1n }), null)
    }
    const paged = async (order: 'asc' | 'desc') => {
      const all: VideoRow[] = []
      for (;;) {
        const page = await store.videos.list('ann', { limit: 2, order, after: all.at(-1) ?? null })
        if (page.length === 0) return ids(all)
        all.push(...page)
      }
    }
    const oldest = ['video_1', 'video_2', 'video_3', 'video_0', 'video_4']
    expect(await paged('asc')).toEqual(oldest)
    expect(await paged('desc')).toEqual(oldest.toReversed())
  })

  test('removed once it has ended, by its account or by time', async () => {
    const bench = await start()
    const { store } = bench
    const ref = await lease(bench)
    for (const id of ['video_1', 'video_2', 'video_3'])
      await store.videos.apply(beginning(ref, { id, heldNano: 1n }), null)
    const gone = (id: string) => ({ kind: 'remove', account: 'ann', id }) as const
    expect((await store.videos.apply(gone('video_1'), null)).state).toBe('unchanged')
    await store.videos.apply(ending({ chargeNano: 0n }), null)
    await store.videos.apply(ending({ id: 'video_2', chargeNano: 0n }), null)
    expect((await store.videos.apply(gone('video_1'), null)).state).toBe('changed')
    await store.videos.clean(nowMs + hourMs - 1)
    expect(await store.videos.find('ann', 'video_2')).not.toBeNull()
    await store.videos.clean(nowMs + hourMs)
    expect(await store.videos.find('ann', 'video_2')).toBeNull()
    expect((await store.videos.find('ann', 'video_3'))?.state).toBe('running')
  })
}
