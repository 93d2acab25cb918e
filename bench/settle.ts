// Measures settling: CPU a row on SQLite, every commit synced, at several batch sizes and numbers of accounts.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emptyRow } from '../src/history/row.ts'
import type { NodeRef, Settlement } from '../src/store/ledger.ts'
import { house, walletOf } from '../src/store/ledger.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'

const rows = Number(process.env['ROWS'] ?? 20_000)
const start = 1_763_700_000_000

function settlement(ref: NodeRef, index: number, accounts: number): Settlement {
  return {
    ...ref,
    row: {
      ...emptyRow,
      requestId: `req_${(start + index).toString(36)}${String(index * 7919).padStart(16, 'x')}`,
      at: start + index,
      account: `account-${index % accounts}`,
      key: `key_${index % accounts}`,
      keyName: 'bench',
      group: 'default',
      operation: 'chat',
      modelAsked: 'gpt-4o-mini',
      modelServed: 'gpt-4o-mini-2024-07-18',
      channel: 'main',
      vendor: 'openai',
      attempts: 1,
      stream: true,
      input: 1200,
      output: 300,
      usageSource: 'reported',
      priceVersion: 1,
      chargeNano: 360_000n,
      vendorCostNano: 360_000n,
      ttftMs: 120,
      durationMs: 900,
      status: 200,
    },
    fromLeaseNano: 360_000n,
    capNano: null,
    idempotency: null,
  }
}

async function prepare(store: Store, accounts: number): Promise<NodeRef> {
  const ref = await store.nodes.open('bench', 3_600_000)
  for (let index = 0; index < accounts; index += 1) {
    const account = `account-${index}`
    await store.accounts.ensure(account, start)
    const amountNano = 1_000_000_000_000n
    await store.journal.post([
      {
        id: `opening:${account}`,
        code: 'opening',
        debit: house.adjust,
        credit: walletOf(account),
        amountNano,
        actor: null,
        reason: null,
        at: start,
      },
    ])
    await store.leases.grantAll(ref, [{ account, needNano: amountNano, wantNano: amountNano }])
  }
  return ref
}

async function measure(batch: number, accounts: number): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  const store = await openStore({ dataDir, databaseUrl: null })
  const ref = await prepare(store, accounts)
  const all = Array.from({ length: rows }, (_, index) => settlement(ref, index, accounts))
  const warm = Math.min(2_000, rows / 2)
  let at = 0
  const settleUntil = async (end: number) => {
    for (; at < end; at += batch) await store.settlements.settle(all.slice(at, at + batch))
  }
  await settleUntil(warm)
  const settled = rows - at
  const wall = performance.now()
  const cpu = process.cpuUsage()
  await settleUntil(rows)
  const { user, system } = process.cpuUsage(cpu)
  const wallUs = (performance.now() - wall) * 1000
  const perRow = (us: number) => (us / settled).toFixed(1).padStart(7)
  console.log(
    `batch ${String(batch).padStart(4)}, ${String(accounts).padStart(4)} accounts: ${perRow(user + system)} us of CPU a row, ${perRow(wallUs)} us elapsed`,
  )
  await store.close()
  rmSync(dataDir, { recursive: true })
}

for (const batch of [10, 100, 500]) {
  for (const accounts of [1, 100]) await measure(batch, accounts)
}
