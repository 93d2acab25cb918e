// The contract of the keys that keep a request from being executed twice.

import { expect, test } from 'bun:test'
import { completeIdempotency, lostAfterMs } from '../../src/store/idempotency.ts'
import type { IdempotencyDone, IdempotencyTable, NodeRef } from '../../src/store/ledger.ts'
import { insertUsage, usageValues } from '../../src/store/usage-columns.ts'
import { type Bench, onEachEngine } from './engines.ts'
import { usageRow } from './store.ts'

const nowMs = 1_763_700_000_000
const lifetimeMs = 60_000
const reply = { status: 200, contentType: 'application/json', body: '{"ok":"é\u2028🔑\\u0000"}' }

type Entry = Parameters<IdempotencyTable['begin']>[0]

function entry(by: NodeRef, change: Partial<Entry> = {}): Entry {
  return {
    account: 'ann',
    key: 'key-1',
    bodyHash: 'a'.repeat(64),
    requestId: 'req_1',
    by,
    nowMs,
    expiresAt: nowMs + 1000,
    ...change,
  }
}

const done: IdempotencyDone = { account: 'ann', key: 'key-1', reply, keep: true }

/** As a settlement does it. */
function complete({ engine }: Bench, change: Partial<IdempotencyDone>, requestId = 'req_1') {
  return engine.transaction((session) =>
    completeIdempotency(session, { ...done, ...change }, requestId),
  )
}

const retry = { requestId: 'req_2' }

type Start = () => Promise<Bench>

/** A node with one request running under the key. */
async function begun(start: Start) {
  const bench = await start()
  const node = await bench.store.nodes.open('node-1', lifetimeMs)
  expect(await bench.store.idempotency.begin(entry(node))).toEqual({ state: 'new' })
  return { bench, node, table: bench.store.idempotency }
}

/** A key that does not expire, of a node that was closed and will be taken for lost at `laterMs`. */
async function lost(start: Start) {
  const bench = await start()
  const { nodes, idempotency: table } = bench.store
  const dead = await nodes.open('node-1', lifetimeMs)
  const laterMs = Date.now() + lifetimeMs + lostAfterMs + 1_000
  await table.begin(entry(dead, { expiresAt: laterMs + 1_000 }))
  await nodes.close(dead)
  return { bench, table, laterMs, node: await nodes.open('node-2', lifetimeMs) }
}

onEachEngine('idempotency keys', (start) => {
  takingTests(start)
  endingTests(start)
  freeingTests(start)
})

function takingTests(start: Start): void {
  test('of 200 at once over several connections exactly one is new', async () => {
    const { store, open } = await start()
    const node = await store.nodes.open('node-1', lifetimeMs)
    const tables = [store, await open(), await open(), await open()].map((each) => each.idempotency)
    const found = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        tables[index % 4]?.begin(entry(node, { requestId: `req_${index}` })),
      ),
    )
    const states = found.map((each) => each?.state)
    expect(states.filter((state) => state === 'new')).toHaveLength(1)
    expect(states.filter((state) => state === 'running')).toHaveLength(199)
  })

  test('of 200 at once on a key whose node is lost exactly one is new', async () => {
    const { bench, table, node, laterMs } = await lost(start)
    const tables = [table, (await bench.open()).idempotency]
    const found = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        tables[index % 2]?.begin(
          entry(node, { requestId: `again_${index}`, nowMs: laterMs, expiresAt: laterMs + 1000 }),
        ),
      ),
    )
    expect(found.filter((each) => each?.state === 'new')).toHaveLength(1)
  })

  test('a running key answers so, another body is told apart, other names are other keys', async () => {
    const { node, table } = await begun(start)
    expect(await table.begin(entry(node, retry))).toEqual({ state: 'running' })
    expect(await table.begin(entry(node, { ...retry, bodyHash: 'b'.repeat(64) }))).toEqual({
      state: 'other-body',
    })
    for (const change of [{ account: 'bob' }, { key: 'KEY-1' }, { key: 'key-1 ' }]) {
      expect(await table.begin(entry(node, { ...retry, ...change }))).toEqual({ state: 'new' })
    }
  })

  test('the same request asking again still has its key', async () => {
    const { bench, node, table } = await begun(start)
    expect(await table.begin(entry(node))).toEqual({ state: 'new' })
    await complete(bench, {})
    expect((await table.begin(entry(node))).state).toBe('done')
  })
}

function endingTests(start: Start): void {
  test('a reply is given again to the letter', async () => {
    const { bench, node, table } = await begun(start)
    await complete(bench, {})
    expect(await table.begin(entry(node, retry))).toEqual({
      state: 'done',
      requestId: 'req_1',
      reply,
    })
    expect(await table.begin(entry(node, { ...retry, bodyHash: 'b'.repeat(64) }))).toEqual({
      state: 'other-body',
    })
  })

  test('a long reply is kept whole, one that no database takes is not kept', async () => {
    const { bench, node, table } = await begun(start)
    const body = '🔑'.repeat(500_000)
    await complete(bench, { reply: { ...reply, body } })
    const found = await table.begin(entry(node, retry))
    expect(found.state === 'done' && found.reply?.body === body).toBe(true)

    for (const [index, bad] of ['a\0b', 'a\uD800'].entries()) {
      const key = `bad-${index}`
      await table.begin(entry(node, { key }))
      await complete(bench, { key, reply: { ...reply, body: bad }, keep: false })
      expect(await table.begin(entry(node, { ...retry, key }))).toEqual({
        state: 'done',
        requestId: 'req_1',
        reply: null,
      })
    }
  })

  test('without a reply the key is kept or freed as the request says', async () => {
    const { bench, node, table } = await begun(start)
    await complete(bench, { reply: null, keep: true })
    const taken = { state: 'done', requestId: 'req_1', reply: null } as const
    expect(await table.begin(entry(node, retry))).toEqual(taken)

    await table.begin(entry(node, { key: 'key-2' }))
    await complete(bench, { key: 'key-2', reply: null, keep: false })
    expect(await table.begin(entry(node, { ...retry, key: 'key-2' }))).toEqual({ state: 'new' })
  })

  test('a request ends only the key it has itself', async () => {
    const { bench, node, table } = await begun(start)
    await complete(bench, {}, 'req_other')
    await complete(bench, { reply: null, keep: false }, 'req_other')
    await table.forget('ann', 'key-1', 'req_other')
    expect(await table.begin(entry(node, retry))).toEqual({ state: 'running' })
  })

  test('a refused request frees its key, a finished one does not', async () => {
    const { bench, node, table } = await begun(start)
    await table.forget('ann', 'key-1', 'req_1')
    expect(await table.begin(entry(node, retry))).toEqual({ state: 'new' })
    await complete(bench, {}, 'req_2')
    await table.forget('ann', 'key-1', 'req_2')
    expect((await table.begin(entry(node, { requestId: 'req_3' }))).state).toBe('done')
  })
}

function freeingTests(start: Start): void {
  test('no reply is kept for an account that was deleted meanwhile', async () => {
    const { bench, table, node } = await begun(start)
    await bench.store.accounts.ensure('ann', nowMs)
    await bench.store.people.remove('ann', nowMs)
    await complete(bench, {})
    expect(await bench.engine.query('SELECT * FROM idempotency', [])).toEqual([])
    expect(await table.begin(entry(node, retry))).toEqual({ state: 'new' })
  })

  test('an expired key is free, running or done, whatever the body', async () => {
    const { bench, node, table } = await begun(start)
    const later = { nowMs: nowMs + 1000, expiresAt: nowMs + 2000, bodyHash: 'b'.repeat(64) }
    expect(await table.begin(entry(node, { ...retry, ...later }))).toEqual({ state: 'new' })
    await complete(bench, {}, 'req_2')
    const last = { requestId: 'req_3', nowMs: nowMs + 2000, expiresAt: nowMs + 3000 }
    expect(await table.begin(entry(node, last))).toEqual({ state: 'new' })
    expect(await table.begin(entry(node, { ...last, requestId: 'req_4' }))).toEqual({
      state: 'running',
    })
  })

  test('a key whose node was closed is taken: that node may have its end, until it is lost', async () => {
    const { table, node, laterMs } = await lost(start)
    const at = (atMs: number) => ({ ...retry, nowMs: atMs, expiresAt: laterMs + 1_000 })
    expect(await table.begin(entry(node, at(Date.now())))).toEqual({ state: 'running' })
    await table.clean(Date.now())
    expect(await table.begin(entry(node, at(laterMs - 60_000)))).toEqual({ state: 'running' })
    expect(await table.begin(entry(node, at(laterMs)))).toEqual({ state: 'new' })
  })

  test('nor is it free while its node is open again: the request may still run there', async () => {
    const { bench, table } = await begun(start)
    const again = await bench.store.nodes.open('node-1', lifetimeMs)
    expect(await table.begin(entry(again, retry))).toEqual({ state: 'running' })
  })

  test("a node's next start frees what died with it, but what was recorded and what others run", async () => {
    const { bench, node, table } = await begun(start)
    const { store, engine } = bench
    await table.begin(entry(node, { key: 'key-2', requestId: 'req_recorded' }))
    await engine.bulk(insertUsage, [usageValues(usageRow({ requestId: 'req_recorded' }), 0n, 0n)])
    const other = await store.nodes.open('node-2', lifetimeMs)
    await table.begin(entry(other, { key: 'key-3' }))
    await table.freeLeft('node-1')
    const again = await store.nodes.open('node-1', lifetimeMs)
    expect(await table.begin(entry(again, { ...retry, bodyHash: 'b'.repeat(64) }))).toEqual({
      state: 'new',
    })
    expect(await table.begin(entry(again, { ...retry, key: 'key-2' }))).toEqual({
      state: 'done',
      requestId: 'req_recorded',
      reply: null,
    })
    expect(await table.begin(entry(again, { ...retry, key: 'key-3' }))).toEqual({
      state: 'running',
    })
  })

  test('a key is free once its request is recorded as refused, whether its node was closed or not', async () => {
    const { bench, node, table } = await begun(start)
    const { store, engine } = bench
    await table.begin(entry(node, { key: 'key-2', requestId: 'req_3' }))
    const rows = ['req_1', 'req_3'].map((requestId) => usageRow({ requestId, attempts: 0 }))
    await engine.bulk(
      insertUsage,
      rows.map((row) => usageValues(row, 0n, 0n)),
    )
    expect(await table.begin(entry(node, retry))).toEqual({ state: 'new' })
    await store.nodes.close(node)
    const other = await store.nodes.open('node-2', lifetimeMs)
    const again = { key: 'key-2', requestId: 'req_4' }
    expect(await table.begin(entry(other, again))).toEqual({ state: 'new' })
  })

  test('cleaning removes what is expired or lost, and nothing else', async () => {
    const { bench, node, table, laterMs } = await lost(start)
    const { store, engine } = bench
    const kept = { expiresAt: laterMs + 1_000 }
    const dead = await store.nodes.open('node-3', lifetimeMs)
    await table.begin(entry(dead, { ...kept, key: 'recorded', requestId: 'req_recorded' }))
    await table.begin(entry(node, { ...kept, key: 'running', requestId: 'req_running' }))
    await table.begin(entry(node, { key: 'expired', requestId: 'req_expired' }))
    await engine.bulk(insertUsage, [usageValues(usageRow({ requestId: 'req_recorded' }), 0n, 0n)])
    await store.nodes.close(dead)
    await table.clean(laterMs)
    const left = await engine.query<{ readonly key: string }>(
      'SELECT key FROM idempotency ORDER BY key',
      [],
    )
    expect(left.map(({ key }) => key)).toEqual(['recorded', 'running'])
  })
}
