// Tests the recent figures of models, which come from the totals that settlement updates.

import { expect, test } from 'bun:test'
import { onEachEngine } from '../../test/contract/engines.ts'
import { usageRow } from '../../test/contract/store.ts'
import { nowMs } from '../../test/support/admin.ts'
import type { Store } from '../store/store.ts'
import type { UsageRow } from '../store/usage-row.ts'
import { readLive } from './model-live.ts'

async function settle(store: Store, rows: readonly Partial<UsageRow>[]): Promise<void> {
  const node = await store.nodes.open('n', 60_000)
  await store.accounts.ensure('a', 1)
  await store.settlements.settle(
    rows.map((row, at) => ({
      ...node,
      row: usageRow({
        requestId: `r${at}-${row.modelAsked}`,
        account: 'a',
        at: nowMs - 1_000,
        ...row,
      }),
      fromLeaseNano: 0n,
      capNano: null,
      idempotency: null,
    })),
  )
}

onEachEngine('how models have done', (start) => {
  test('is shown from 30 requests on, with how many there were', async () => {
    const { store } = await start()
    const good = {
      modelAsked: 'quick',
      status: 200,
      stream: true,
      ttftMs: 80,
      durationMs: 1_080,
      output: 50,
      reasoning: 0,
    }
    const rows = [
      ...Array.from({ length: 38 }, () => good),
      { ...good, status: 503, stream: false, ttftMs: null, output: 0 },
      { ...good, status: 500, stream: false, ttftMs: null, output: 0 },
      ...Array.from({ length: 9 }, () => ({
        ...good,
        status: 400,
        stream: false,
        ttftMs: null,
        output: 0,
      })),
      ...Array.from({ length: 29 }, () => ({ ...good, modelAsked: 'rare' })),
      ...Array.from({ length: 40 }, () => ({ ...good, modelAsked: 'old', at: nowMs - 90_000_000 })),
    ]
    await settle(store, rows)
    const live = await readLive(store.rollups, nowMs)
    // Between 63 and 100 ms, evenly spread.
    expect(live.get('quick')).toEqual({
      ...{ begun: 38, tried: 40 },
      ttft: { p50Ms: 82, p95Ms: 98, sample: 38 },
      speed: { tokensPerSecond: 50, sample: 38 },
      success: { percent: 95, sample: 40 },
    })
    expect(live.get('rare')).toEqual({
      ...{ begun: 29, tried: 29 },
      ...{ ttft: null, speed: null, success: null },
    })
    expect(live.has('old')).toBe(false)
  })
})
