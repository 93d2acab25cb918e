// Tests when changes of stored responses are repeated, and how many may wait.

import { expect, test } from 'bun:test'
import { Readable } from 'node:stream'
import { eventually } from '../../../test/support/clients.ts'
import type { ResponseChange, ResponseTable } from '../../store/responses.ts'
import { ResponseKeeper } from './keeper.ts'

type Apply = (changes: readonly ResponseChange[]) => Promise<readonly number[]>

const table: ResponseTable = {
  apply: () => Promise.reject(new Error('not asked here')),
  find: () => Promise.resolve(null),
  chain: () => Promise.resolve([]),
  withItems: () => Readable.from([]),
  ended: () => Promise.resolve(true),
  clean: () => Promise.resolve(),
}

function keeperOf(apply: Apply) {
  const delayed: unknown[] = []
  const onDelayed = (error: unknown) => delayed.push(error)
  const rooms = { table, isShared: false, apply, onLost: () => undefined, onDelayed }
  return { keeper: new ResponseKeeper(rooms), delayed }
}

function finish(id: string, body = '{}') {
  return { kind: 'finish', account: 'ann', id, body, items: [] } as const
}

const idOf = (change: ResponseChange) => (change.kind === 'keep' ? change.row.id : change.id)

test('what is insisted on is repeated until the store takes it; the rest is refused at once', async () => {
  let isAway = true
  const { keeper, delayed } = keeperOf((changes) =>
    isAway ? Promise.reject(new Error('away')) : Promise.resolve(changes.map(() => 1)),
  )
  const insisted = keeper.insist(finish('resp_1'))
  await expect(keeper.change(finish('resp_2'))).rejects.toThrow('away')
  await eventually(() => (delayed.length > 0 ? true : undefined))
  isAway = false
  expect(await insisted).toBe(1)
  expect(delayed.length).toBe(1)
})

test('a change that the store never takes costs no other that is insisted on', async () => {
  const { keeper } = keeperOf((changes) =>
    changes.some((change) => idOf(change) === 'resp_bad')
      ? Promise.reject(new Error('refused'))
      : Promise.resolve(changes.map(() => 1)),
  )
  const first = keeper.insist(finish('resp_1'))
  const bad = keeper.insist(finish('resp_bad'))
  const others = ['resp_2', 'resp_3'].map((id) => keeper.insist(finish(id)))
  expect(await Promise.all([first, ...others])).toEqual([1, 1, 1])
  keeper.stop()
  await expect(bad).rejects.toThrow('refused')
})

test('what waits is bounded, but for small changes', async () => {
  const { keeper } = keeperOf(() => Promise.reject(new Error('away')))
  const body = 'x'.repeat(1_000_000)
  const waiting = Array.from({ length: 67 }, (_, at) => keeper.insist(finish(`resp_${at}`, body)))
  await expect(keeper.insist(finish('resp_more', body))).rejects.toThrow('too many')
  waiting.push(keeper.insist(finish('resp_small')))
  keeper.stop()
  const ends = await Promise.allSettled(waiting)
  expect(ends.map(({ status }) => status)).toEqual(waiting.map(() => 'rejected'))
})
