// Tests how many mistaken requests are kept, examined and passed on.

import { describe, expect, test } from 'bun:test'
import type { Arrival } from '../store/arrivals.ts'
import { Doctor } from './doctor.ts'

const arrival = (change: Partial<Arrival> = {}): Arrival => ({
  requestId: 'req_1',
  at: 1,
  account: null,
  keyId: null,
  address: null,
  code: 'key_missing',
  status: 401,
  method: 'POST',
  path: '/v1/chat/completions',
  model: null,
  userAgent: null,
  suggestion: null,
  detail: '',
  ...change,
})

function opened() {
  let nowMs = 0
  const sent: (readonly Arrival[])[] = []
  const due: (() => Promise<void>)[] = []
  const doctor = new Doctor({
    others: {
      tell: async (arrivals) => void sent.push(arrivals),
      arrivals: async () => [arrival({ requestId: 'elsewhere', at: 5_000_000 })],
    },
    onError: (error) => {
      throw error
    },
    schedule: (run) => void due.push(run),
    now: () => nowMs,
  })
  return {
    doctor,
    sent,
    due,
    later: (ms: number) => {
      nowMs += ms
    },
  }
}

describe('what is kept', () => {
  test('is little in each second, so that a flood costs little and hides nothing of other addresses', () => {
    const { doctor, later } = opened()
    let looked = 0
    const send = (address: string) =>
      doctor.note(address, () => {
        looked += 1
        return arrival({ address })
      })
    for (let each = 0; each < 1_000; each++) send('203.0.113.1')
    expect(looked).toBe(20)
    send('203.0.113.2')
    expect(looked).toBe(21)
    for (let each = 0; each < 1_000; each++) send(`198.51.100.${each}`)
    expect(looked).toBe(50)
    later(1_000)
    send('203.0.113.1')
    expect(looked).toBe(51)
  })

  test('is the last of each account, and of those that were there last', async () => {
    const { doctor, later } = opened()
    for (let each = 0; each < 40; each++) {
      later(1_000)
      doctor.note('a', () => arrival({ account: 'ann', requestId: `ann-${each}`, at: each }))
    }
    for (let each = 0; each < 199; each++) {
      later(1_000)
      doctor.note('b', () => arrival({ account: `other-${each}`, at: 100 + each }))
    }
    const ofAnn = async () => (await doctor.list()).filter(({ account }) => account === 'ann')
    expect((await ofAnn()).map(({ requestId }) => requestId).slice(0, 2)).toEqual([
      'ann-39',
      'ann-38',
    ])
    expect(await ofAnn()).toHaveLength(30)
    later(1_000)
    doctor.note('b', () => arrival({ account: 'one-more' }))
    expect(await ofAnn()).toEqual([])
  })
})

test('other processes are told of several at once, and what they told is listed', async () => {
  const { doctor, due, sent } = opened()
  doctor.note('a', () => arrival({ requestId: 'one', at: 1 }))
  doctor.note('a', () => arrival({ requestId: 'two', at: 2 }))
  expect(due).toHaveLength(1)
  await due[0]?.()
  expect(sent.map((each) => each.map(({ requestId }) => requestId))).toEqual([['two', 'one']])
  expect((await doctor.list()).map(({ requestId }) => requestId)).toEqual([
    'elsewhere',
    'two',
    'one',
  ])
})
