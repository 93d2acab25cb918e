// Times the audit of a large ledger: `bun bench/audit.ts [ROWS] [DIR]`; a directory given is kept. DATABASE_URL names an empty PostgreSQL.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emptyRow } from '../src/history/row.ts'
import { createPriceBook } from '../src/meter/price-book.ts'
import {
  house,
  type NodeRef,
  type PriceRow,
  type Settlement,
  walletOf,
} from '../src/store/ledger.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'

const accounts = 50
const models = 20
const batchRows = 500
const gapMs = 40
const startMs = Date.parse('2026-10-01T00:00:00Z')

const cards = Array.from({ length: models }, (_, index): Omit<PriceRow, 'version'> => {
  return {
    model: `model-${index}`,
    effectiveFrom: 0,
    prices: { input: `0.${index + 10}`, cachedInput: '0.05', output: `1.${index + 10}` },
    origin: 'file',
    source: 'bench',
    sourceDate: null,
    actor: null,
    createdAt: startMs,
  }
})

async function prepare(store: Store): Promise<NodeRef> {
  await store.prices.append(cards)
  for (let index = 0; index < accounts; index += 1) {
    const account = `account-${index}`
    await store.accounts.ensure(account, startMs)
    await store.journal.post([
      {
        id: `opening:${account}`,
        code: 'opening',
        debit: house.promo,
        credit: walletOf(account),
        amountNano: 1_000_000_000_000n,
        actor: null,
        reason: null,
        at: startMs,
      },
    ])
  }
  return store.nodes.open('bench', 3_600_000)
}

async function generate(store: Store, rows: number): Promise<void> {
  const ref = await prepare(store)
  const book = createPriceBook(await store.prices.all())
  const settlement = (index: number): Settlement => {
    const model = index % models
    const row = {
      ...emptyRow,
      requestId: `req_${index.toString(16).padStart(28, '0')}`,
      at: startMs + index * gapMs,
      account: `account-${(index * 7) % accounts}`,
      key: `key_${(index * 7) % accounts}`,
      keyName: 'bench',
      group: 'default',
      operation: 'chat',
      modelAsked: `model-${model}`,
      modelServed: `model-${model}-2026-08-01`,
      channel: `channel-${index % 3}`,
      vendor: 'openai',
      attempts: 1,
      stream: index % 2 === 0,
      input: 100 + (index % 4_000),
      cachedInput: index % 500,
      output: 50 + (index % 900),
      usageSource: 'reported' as const,
      durationMs: 900,
      status: 200,
      priceVersion: model + 1,
    }
    const chargeNano = book.version(model + 1, row.multiplierPpm)?.charge(row, null) ?? 0n
    return {
      ...ref,
      row: { ...row, chargeNano, vendorCostNano: chargeNano },
      fromLeaseNano: 0n,
      capNano: null,
      idempotency: null,
    }
  }
  for (let from = 0; from < rows; from += batchRows) {
    const count = Math.min(batchRows, rows - from)
    await store.settlements.settle(
      Array.from({ length: count }, (_, index) => settlement(from + index)),
    )
  }
}

const [rowsText = '1000000', given] = process.argv.slice(2)
const dataDir = given ?? mkdtempSync(join(tmpdir(), 'tollgate-audit-'))
const missing = !existsSync(join(dataDir, 'tollgate.db'))
const databaseUrl = process.env['DATABASE_URL'] ?? null
const store = await openStore({ dataDir, databaseUrl })
try {
  const generating = performance.now()
  if (missing) await generate(store, Number(rowsText))
  const auditing = performance.now()
  const { findings, ...report } = await store.audit.run((kept) => {
    const book = createPriceBook(kept)
    return (row) => {
      const rate = row.priceVersion && book.version(row.priceVersion, row.multiplierPpm)
      return rate ? rate.charge(row, row.units) : null
    }
  })
  const ended = performance.now()
  console.log({
    ...report,
    findings: findings.length,
    first: findings[0],
    generatedSeconds: ((auditing - generating) / 1000).toFixed(1),
    auditedSeconds: ((ended - auditing) / 1000).toFixed(1),
    residentMb: Math.round(process.memoryUsage.rss() / 1e6),
  })
} finally {
  await store.close()
  if (given === undefined) rmSync(dataDir, { recursive: true, force: true })
}
