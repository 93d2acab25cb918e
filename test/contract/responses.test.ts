// The contract of stored responses.

import { expect, test } from 'bun:test'
import type { ResponseRow } from '../../src/store/responses.ts'
import { type Bench, onEachEngine } from './engines.ts'

const nowMs = 1_763_700_000_000
const dayMs = 86_400_000

function row(id: string, change: Partial<ResponseRow> = {}): ResponseRow {
  return {
    account: 'ann',
    id,
    previousId: null,
    running: false,
    input: `[{"of":"${id}"}]`,
    body: `{"id":"${id}","text":"é\u2028🔑\\u0000"}`,
    items: [`msg_${id}`],
    createdAt: nowMs,
    expiresAt: nowMs + dayMs,
    ...change,
  }
}

function kept(...rows: ResponseRow[]) {
  return rows.map((each) => ({ kind: 'keep' as const, row: each }))
}

type Start = () => Promise<Bench>

onEachEngine('responses that are kept', (start) => {
  keepingTests(start)
  endingTests(start)
})

function keepingTests(start: Start): void {
  test('what is kept is found as it was, by its account alone', async () => {
    const { responses } = (await start()).store
    expect(await responses.apply(kept(row('resp_1')), null)).toEqual([1])
    const { input, body } = row('resp_1')
    const found = { id: 'resp_1', previousId: null, running: false, abandoned: false }
    expect(await responses.find('ann', 'resp_1', nowMs)).toEqual({
      ...found,
      input,
      body,
      createdAt: nowMs,
    })
    expect(await responses.find('bob', 'resp_1', nowMs)).toBeNull()
    expect(await responses.find('ann', 'resp_2', nowMs)).toBeNull()
  })

  test('nothing is kept of a request whose account was deleted meanwhile', async () => {
    const { accounts, people, responses } = (await start()).store
    await accounts.ensure('ann', nowMs)
    await people.remove('ann', nowMs)
    expect(await responses.apply(kept(row('resp_1')), null)).toEqual([0])
    expect(await responses.find('ann', 'resp_1', nowMs)).toBeNull()
  })

  test('one of the same id takes its place, and another account may have the id too', async () => {
    const { responses } = (await start()).store
    const other = row('resp_1', { body: '{"other":true}' })
    await responses.apply(kept(row('resp_1'), other, row('resp_1', { account: 'bob' })), null)
    expect((await responses.find('ann', 'resp_1', nowMs))?.body).toBe('{"other":true}')
    expect((await responses.find('bob', 'resp_1', nowMs))?.body).toBe(row('resp_1').body)
  })

  test('a chain comes oldest first, and is cut where one is missing or it grows too large', async () => {
    const { responses } = (await start()).store
    const rows = [
      row('resp_1'),
      row('resp_2', { previousId: 'resp_1' }),
      row('resp_3', { previousId: 'resp_2' }),
    ]
    await responses.apply(kept(...rows), null)
    const chain = async (maxBytes: number) =>
      (await responses.chain('ann', 'resp_3', nowMs, maxBytes)).map(({ id }) => id)
    expect(await chain(1_000_000)).toEqual(['resp_1', 'resp_2', 'resp_3'])
    expect(await chain(130)).toEqual(['resp_2', 'resp_3'])
    expect(await responses.chain('bob', 'resp_3', nowMs, 1_000_000)).toEqual([])
    const gone = { kind: 'remove' as const, account: 'ann', id: 'resp_1' }
    expect(await responses.apply([gone, gone], null)).toEqual([1, 0])
    expect(await chain(1_000_000)).toEqual(['resp_2', 'resp_3'])
  })

  test('a response is found by its output items until it is gone', async () => {
    const { responses } = (await start()).store
    await responses.apply(kept(row('resp_1'), row('resp_2')), null)
    const bodies = () => Array.fromAsync(responses.withItems('ann', ['msg_resp_2', 'no'], nowMs))
    expect(await bodies()).toEqual([row('resp_2').body ?? ''])
    expect(await Array.fromAsync(responses.withItems('bob', ['msg_resp_2'], nowMs))).toEqual([])
    await responses.apply([{ kind: 'remove', account: 'ann', id: 'resp_2' }], null)
    expect(await bodies()).toEqual([])
  })

  test('the responses of thousands of items are found, each once', async () => {
    const { responses } = (await start()).store
    const itemsOf = (at: number) => Array.from({ length: 40 }, (_, of) => `msg_${at}_${of}`)
    const rows = Array.from({ length: 50 }, (_, at) => row(`resp_${at}`, { items: itemsOf(at) }))
    await responses.apply(kept(...rows), null)
    const ids = rows.flatMap(({ items }) => items)
    const bodies = await Array.fromAsync(responses.withItems('ann', ids, nowMs))
    expect(bodies.sort()).toEqual(rows.map(({ body }) => body ?? '').sort())
  })
}

function endingTests(start: Start): void {
  test('cleaning removes what is past its time; going on from a response keeps it longer', async () => {
    const { responses } = (await start()).store
    const later = nowMs + 2 * dayMs
    const rows = [row('resp_1'), row('resp_2', { previousId: 'resp_1', expiresAt: later })]
    await responses.apply(kept(...rows, row('resp_3')), null)
    const afterMs = nowMs + dayMs
    expect(await responses.find('ann', 'resp_3', afterMs)).toBeNull()
    await responses.clean(afterMs)
    expect(await responses.find('ann', 'resp_3', nowMs)).toBeNull()
    expect((await responses.chain('ann', 'resp_2', afterMs, 1_000_000)).length).toBe(2)
    await responses.clean(later)
    expect(await responses.find('ann', 'resp_2', nowMs)).toBeNull()
  })

  test('one that runs ends once', async () => {
    const { nodes, responses } = (await start()).store
    const by = await nodes.open('node-1', 60_000)
    await responses.apply(kept(row('resp_1', { running: true })), by)
    expect(await responses.find('ann', 'resp_1', nowMs)).toMatchObject({
      running: true,
      abandoned: false,
    })
    expect(await responses.ended('ann', 'resp_1')).toBe(false)
    const finish = { kind: 'finish' as const, account: 'ann', id: 'resp_1', items: ['msg_9'] }
    const ends = [
      { ...finish, body: '{"status":"cancelled"}' },
      { ...finish, body: '{"status":"completed"}' },
    ]
    expect(await responses.apply(ends, by)).toEqual([1, 0])
    expect(await responses.ended('ann', 'resp_1')).toBe(true)
    expect((await responses.find('ann', 'resp_1', nowMs))?.body).toBe('{"status":"cancelled"}')
  })

  test('one that ran on a node that was started again is abandoned', async () => {
    const { nodes, responses } = (await start()).store
    const by = await nodes.open('node-1', 60_000)
    await responses.apply(kept(row('resp_1', { running: true })), by)
    await nodes.open('node-1', 60_000)
    expect((await responses.find('ann', 'resp_1', nowMs))?.abandoned).toBe(true)
    await expect(responses.apply(kept(row('resp_2', { running: true })), null)).rejects.toThrow(
      'node',
    )
  })
}
