// Tests that the ledger's worker claims only some keys at a time, so that other work has connections to the database.

import { expect, test } from 'bun:test'
import type { KeyClaim } from '../store/ledger.ts'
import { KeyWork } from './key-work.ts'

const claimOf = (keyId: string): KeyClaim => ({
  keyId,
  limitNano: 10n,
  spentBeforeNano: 0n,
  ranges: [],
  keptNano: 0n,
  roomNano: 0n,
  needNano: 1n,
})

test('of many claims two are under way at a time, in order, also after one has failed', async () => {
  const asked: PromiseWithResolvers<void>[] = []
  const keys: string[] = []
  const work = new KeyWork({
    keyLeases: {
      spent: async () => [],
      async claim(_, { keyId }) {
        const answer = Promise.withResolvers<void>()
        keys.push(keyId)
        asked.push(answer)
        await answer.promise
        return { nano: [], roomNano: 1n }
      },
      giveBack: async () => undefined,
      recalled: async () => [],
    },
    ref: () => ({ node: 'one', epoch: 1 }),
    reached: () => 0,
  })
  const names = ['a', 'b', 'c', 'd', 'e']
  const answers = Promise.allSettled(names.map((key) => work.claim(1, claimOf(key))))
  const turn = async () => {
    for (let count = 0; count < 10; count += 1) await Promise.resolve()
  }
  await turn()
  expect(keys).toEqual(['a', 'b'])
  asked[1]?.reject(new Error('away'))
  await turn()
  expect(keys).toEqual(['a', 'b', 'c'])
  for (let count = 0; count < 5; count += 1) {
    for (const answer of asked) answer.resolve()
    await turn()
  }
  expect(keys).toEqual(names)
  expect((await answers).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ])
})
