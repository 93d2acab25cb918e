// A request that has ended, as the relay passes it to the ledger.

import { emptyRow } from '../../src/history/row.ts'
import type { Finished } from '../../src/ledger/ledger.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'

export function finishedRequest(
  row: Pick<UsageRow, 'requestId'> & Partial<UsageRow>,
  more: Partial<Omit<Finished, 'row'>> = {},
): Finished {
  return {
    row: {
      ...emptyRow,
      at: 1_795_000_000_000,
      account: 'acme',
      key: 'key_1',
      keyName: 'main',
      group: 'default',
      operation: 'chat',
      modelAsked: 'gpt-4o-mini',
      modelServed: 'gpt-4o-mini-2024-07-18',
      channel: 'main',
      vendor: 'openai',
      attempts: 1,
      stream: false,
      input: 120,
      output: 400,
      usageSource: 'reported',
      priceVersion: 3,
      chargeNano: 258_000n,
      vendorCostNano: 258_000n,
      ttftMs: 312.25,
      durationMs: 640.5,
      status: 200,
      ...row,
    },
    capNano: null,
    idempotency: null,
    ...more,
  }
}
