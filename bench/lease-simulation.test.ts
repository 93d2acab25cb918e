// The simulation of leases: no money appears or disappears, and it gives the known results for one node and for many.

import { expect, test } from 'bun:test'
import { simulateLeases } from './lease-simulation.ts'

const ordinary = { holdNano: 20_000_000n, chargeNano: 2_000_000n, requestMs: 200 }

test('what was charged is gone from the wallet, and nothing else, on any number of nodes', async () => {
  for (const nodes of [1, 3, 20]) {
    const scenario = { ...ordinary, nodes, requestsPerSecond: 50, seconds: 5 }
    const balanceNano = 100_000_000_000n
    const figures = await simulateLeases({ ...scenario, balanceNano })
    expect(figures.requests).toBeGreaterThan(150)
    expect([figures.refusedRightly, figures.refusedWrongly]).toEqual([0, 0])
    expect(balanceNano - figures.postedNano).toBe(BigInt(figures.requests) * ordinary.chargeNano)
    expect(figures.leasedNano).toBe(figures.onNodesNano)
  }
})

test('a wallet that runs out is spent to less than a hold, never below zero', async () => {
  const scenario = { ...ordinary, nodes: 4, requestsPerSecond: 50, seconds: 20 }
  const figures = await simulateLeases({ ...scenario, balanceNano: 500_000_000n })
  expect(figures.refusedRightly).toBeGreaterThan(0)
  expect(figures.recalls).toBeGreaterThan(0)
  expect(figures.postedNano).toBeGreaterThanOrEqual(0n)
  expect(figures.postedNano).toBeLessThan(ordinary.holdNano)
})

test('one node waits for the ledger at its start alone; eight share a wallet without recalls', async () => {
  const scenario = { ...ordinary, requestsPerSecond: 100, seconds: 30, balanceNano: 10n ** 12n }
  const one = await simulateLeases({ ...scenario, nodes: 1 })
  expect(one.waited).toBeLessThan(10)
  const eight = await simulateLeases({ ...scenario, nodes: 8 })
  expect(eight.recalls).toBe(0)
  expect(eight.waited).toBeLessThan(0.02 * eight.requests)
})
