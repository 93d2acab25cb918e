// Tests when a key's use is noted, and what is written about it.

import { expect, test } from 'bun:test'
import type { KeyUse } from '../store/keys.ts'
import { KeyUses } from './key-uses.ts'

const caller = {
  address: '192.0.2.7',
  requestId: null,
  traceparent: null,
  client: { name: 'claude-code', version: '2.1' },
}

function play() {
  const written: (readonly KeyUse[])[] = []
  const timers: (() => void)[] = []
  const errors: unknown[] = []
  const stage = { away: false, written, timers, errors }
  const uses = new KeyUses({
    async write(due) {
      if (stage.away) throw new Error('away')
      written.push(due)
    },
    onError: (error) => errors.push(error),
    schedule: (run) => timers.push(run),
  })
  return { ...stage, uses, stage }
}

test('the first use is written, with those of other keys, and the next a minute later', async () => {
  const { uses, written, timers } = play()
  uses.note('a', 1_000, caller)
  uses.note('b', 1_500, { ...caller, address: null, client: null })
  uses.note('a', 60_999, caller)
  expect(timers).toHaveLength(1)
  await uses.flush()
  expect(written).toEqual([
    [
      { keyId: 'a', at: 1_000, address: '192.0.2.7', client: 'claude-code 2.1' },
      { keyId: 'b', at: 1_500, address: null, client: null },
    ],
  ])
  uses.note('a', 61_000, caller)
  await uses.flush()
  expect(written[1]).toMatchObject([{ keyId: 'a', at: 61_000 }])
  await uses.flush()
  expect(written).toHaveLength(2)
})

test('what could not be written is told once, and noted with the next use', async () => {
  const { uses, written, errors, stage } = play()
  stage.away = true
  for (const at of [1, 2, 3]) {
    uses.note('a', at, caller)
    await uses.flush()
  }
  expect(errors).toHaveLength(1)
  stage.away = false
  uses.note('a', 4, caller)
  await uses.flush()
  expect(written).toMatchObject([[{ at: 4 }]])
})
