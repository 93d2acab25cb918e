// The contract of the control API's stored data: replies for repeated requests, and what operators did.

import { expect, test } from 'bun:test'
import type { OperatorEvent } from '../../src/store/control.ts'
import { RowRefused } from '../../src/store/store.ts'
import { onEachEngine } from './engines.ts'

const entry = { principal: 'account ann', key: 'one', requestHash: 'aa' }

onEachEngine('kept replies of the control API', (start) => {
  test('a key is taken once, by one of many', async () => {
    const { store } = await start()
    const taken = await Promise.all(
      Array.from({ length: 10 }, () => store.controlReplies.begin(entry, 1, 100)),
    )
    const states = taken.map(({ state }) => state)
    expect(states.filter((state) => state === 'new')).toHaveLength(1)
    expect(states.filter((state) => state === 'running')).toHaveLength(9)
  })

  test('a reply is given to repeats of the same request, until it expires', async () => {
    const { controlReplies } = (await start()).store
    const begin = (change: Partial<typeof entry>, nowMs: number) =>
      controlReplies.begin({ ...entry, ...change }, nowMs, nowMs + 100)
    await begin({}, 1)
    await controlReplies.complete(entry, 201, 'encrypted "body" \u4e2d')
    expect(await begin({}, 50)).toEqual({
      state: 'done',
      status: 201,
      body: 'encrypted "body" \u4e2d',
    })
    expect(await begin({ requestHash: 'bb' }, 50)).toEqual({ state: 'other-request' })
    expect(await begin({ principal: 'account bob' }, 50)).toEqual({ state: 'new' })
    expect(await begin({ requestHash: 'bb' }, 101)).toEqual({ state: 'new' })
  })

  test('a key is freed while its request runs, and not after', async () => {
    const { controlReplies } = (await start()).store
    await controlReplies.begin(entry, 1, 100)
    await controlReplies.forget(entry)
    expect(await controlReplies.begin(entry, 1, 100)).toEqual({ state: 'new' })
    await controlReplies.complete(entry, 200, '{}')
    await controlReplies.forget(entry)
    expect(await controlReplies.begin(entry, 1, 100)).toMatchObject({ state: 'done' })
  })
})

function event(id: string, change: Partial<OperatorEvent> = {}): OperatorEvent {
  return {
    id,
    at: 1_000,
    actor: 'account root',
    role: 'admin',
    action: 'updateKey',
    target: { id: 'key_1' },
    detail: { name: 'x\u0000y', deep: { list: [1, null, 'z'.repeat(3_000)] } },
    address: null,
    changes: null,
    ...change,
  }
}

onEachEngine('what operators did', (start) => {
  test('is found by any text, changes too', async () => {
    const { operatorEvents } = (await start()).store
    const changes = { name: { before: 'x\u0000', after: '50%_Off' } }
    await operatorEvents.add(event('evt_a', { changes }))
    await operatorEvents.add(event('evt_b'))
    const ids = async (text: string) =>
      (await operatorEvents.list({ text, limit: 10 })).map(({ id }) => id)
    expect(await ids('0%_oF')).toEqual(['evt_a'])
    expect(await ids('EVT_')).toEqual(['evt_b', 'evt_a'])
    expect(await ids('0%off')).toEqual([])
    expect(
      (await operatorEvents.list({ text: '50%', limit: 1 }))[0]?.changes?.['name']?.after,
    ).toBe('50%_Off')
  })

  test('comes back newest first, by who, what and when, a page at a time', async () => {
    const { operatorEvents } = (await start()).store
    const kept = [
      event('a'),
      event('b', { address: '2001:db8::1' }),
      event('c', { at: 2_000, action: 'suspend' }),
      event('d', { at: 3_000, actor: 'management key mk_1' }),
    ]
    for (const each of kept) await operatorEvents.add(each)
    const ids = async (filter: object) =>
      (await operatorEvents.list({ limit: 10, ...filter })).map(({ id }) => id)
    expect(await ids({})).toEqual(['d', 'c', 'b', 'a'])
    expect(await ids({ limit: 2 })).toEqual(['d', 'c'])
    expect(await ids({ before: { at: 1_000, id: 'b' } })).toEqual(['a'])
    expect(await ids({ actor: 'account root', action: 'updateKey' })).toEqual(['b', 'a'])
    expect(await ids({ since: 2_000, until: 3_000 })).toEqual(['c'])
    const [first] = await operatorEvents.list({ limit: 1, actor: 'account root', until: 2_000 })
    expect(first).toEqual(event('b', { address: '2001:db8::1', detail: first?.detail ?? {} }))
    expect(first?.detail).toMatchObject({ deep: { list: [1, null, 'z'.repeat(3_000)] } })
  })

  test('is never kept twice under one id', async () => {
    const { operatorEvents } = (await start()).store
    await operatorEvents.add(event('a'))
    const again = await operatorEvents.add(event('a')).catch((error: unknown) => error)
    expect(again).toBeInstanceOf(RowRefused)
  })
})
