// Tests how processes tell each other of running requests, on both engines.

import { expect, test } from 'bun:test'
import type { ProcessReading, RunningRequest } from '../../src/store/running.ts'
import { type Bench, onEachEngine } from './engines.ts'

const running: RunningRequest = {
  requestId: 'req_1',
  at: 1,
  account: 'ann',
  key: 'k',
  keyName: 'laptop',
  group: 'default',
  operation: 'chat',
  model: 'm',
  stream: true,
  channel: null,
  attempts: 1,
  ageMs: 5,
  ttftMs: null,
  inputTokens: 1,
  outputTokens: 2,
  costNano: '3',
  heldNano: '4',
}

async function writesSeldom({ store, engine }: Bench): Promise<void> {
  const until = async () => {
    const rows = await engine.query<{ readonly until: string }>(
      'SELECT CAST(until AS TEXT) AS until FROM running_watch',
      [],
    )
    return rows.map((row) => Number(row.until))
  }
  await store.running.watch('ann')
  const [first = 0] = await until()
  await store.running.watch('ann')
  expect(await until()).toEqual([first])
  await engine.run('UPDATE running_watch SET until = until - 6000', [])
  expect(await store.running.watch('ann')).toBeTrue()
  expect((await until())[0]).toBeGreaterThanOrEqual(first)
}

onEachEngine('running requests', (start) => {
  test('processes know whose are looked at, and by then who does', async () => {
    const { running: table } = (await start()).store
    expect(await table.work()).toEqual({ accounts: [], stops: [] })
    expect(await table.watch('ann')).toBeFalse()
    expect(await table.watch('ann')).toBeTrue()
    expect(await table.work()).toEqual({ accounts: ['ann'], stops: [] })
    expect(await table.watch(null)).toBeFalse()
    expect(await table.work()).toEqual({ accounts: null, stops: [] })
  })

  test('who looks again and again is written down anew before it runs out, not each time', async () =>
    writesSeldom(await start()))

  test('a report replaces the one before, and those of several processes are together', async () => {
    const { running: table } = (await start()).store
    await table.report('one', [running, { ...running, requestId: 'req_2' }])
    await table.report('two', [{ ...running, requestId: 'req_3' }])
    await table.report('one', [running])
    const { processes, requests } = await table.reports()
    expect(processes).toBe(2)
    expect(requests.map(({ requestId }) => requestId).sort()).toEqual(['req_1', 'req_3'])
    expect(requests).toContainEqual(running)
  })

  test('a process says how it does beside what runs in it, or says nothing of it', async () => {
    const { running: table } = (await start()).store
    const reading: ProcessReading = {
      process: 'one',
      startedAt: 1,
      running: 2,
      unsettled: 3,
      oldestUnsettledMs: 4,
      closed: null,
      overhead: { auth: [1], route: [], settle: [0, 2] },
      channels: [
        { id: 'c', state: 2, trouble: { reason: 'breaker', fault: 'timeout', sinceAt: 5 } },
      ],
      warnings: ['\u0000'],
    }
    await table.report('one', [running], reading)
    await table.report('two', [])
    expect(await table.reports()).toEqual({
      processes: 2,
      requests: [running],
      readings: [reading],
    })
    await table.report('one', [])
    expect((await table.reports()).readings).toEqual([])
  })
})

onEachEngine('stops of running requests', (start) => {
  test('a stop is there until it is taken, by one', async () => {
    const { running: table } = (await start()).store
    await table.stop({ requestId: 'req_1', account: 'ann' })
    await table.stop({ requestId: 'req_2', account: null })
    expect((await table.work()).stops).toContainEqual({ requestId: 'req_1', account: 'ann' })
    expect((await table.work()).stops).toContainEqual({ requestId: 'req_2', account: null })
    const own = { requestId: 'req_1', account: 'ann' }
    expect(await table.stopState(own)).toBe('waiting')
    const ends = ['done', 'given-up', 'done', 'given-up'] as const
    const taken = await Promise.all(ends.map((how) => table.endStop(own, how)))
    expect(taken.filter((each) => each)).toHaveLength(1)
    expect(await table.stopState(own)).toBe(taken[0] || taken[2] ? 'done' : 'none')
  })

  test('a stop that was carried out stays so, one that was given up is gone, whoever else asks', async () => {
    const { running: table } = (await start()).store
    const [own, foreign] = ['ann', 'bob'].map((account) => ({ requestId: 'req_1', account }))
    if (own === undefined || foreign === undefined) throw new Error('there are two')
    await table.stop(own)
    await table.stop(foreign)
    expect(await table.endStop(own, 'done')).toBeTrue()
    expect(await table.endStop(foreign, 'given-up')).toBeTrue()
    await table.stop(own)
    expect(await table.endStop(own, 'given-up')).toBeFalse()
    expect([await table.stopState(own), await table.stopState(foreign)]).toEqual(['done', 'none'])
    expect((await table.work()).stops).toEqual([])
  })
})
