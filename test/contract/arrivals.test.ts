// Tests how processes tell each other of requests that arrived with mistakes, on both engines.

import { expect, test } from 'bun:test'
import type { Arrival } from '../../src/store/arrivals.ts'
import { onEachEngine } from './engines.ts'

const arrival: Arrival = {
  requestId: 'req_1',
  at: 1,
  account: 'ann',
  keyId: 'key_1',
  address: '127.0.0.1',
  code: 'path_unknown',
  status: 404,
  method: 'POST',
  path: '/v1/"\u{1F600}',
  model: null,
  userAgent: null,
  suggestion: null,
  detail: 'x',
}

onEachEngine('mistaken requests', (start) => {
  test('a report replaces the one before, and each process sees those of the others', async () => {
    const { arrivals } = (await start()).store
    await arrivals.report('one', [{ ...arrival, requestId: 'req_0' }])
    await arrivals.report('one', [arrival])
    await arrivals.report('two', [{ ...arrival, requestId: 'req_2' }])
    expect(await arrivals.reports('two')).toEqual([arrival])
    const all = await arrivals.reports('three')
    expect(all.map(({ requestId }) => requestId).sort()).toEqual(['req_1', 'req_2'])
  })
})
