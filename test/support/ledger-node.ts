// Ledger nodes with their real workers on a real database, for tests: SQLite, or a separate schema on PostgreSQL.

import { setTimeout as delay } from 'node:timers/promises'
import { fileSchema } from '../../src/config/schema.ts'
import type { LedgerSettings } from '../../src/config/types.ts'
import { createLedger, type LedgerNode, type LedgerOptions } from '../../src/ledger/ledger-node.ts'
import type { Nano } from '../../src/money.ts'
import { walletOf } from '../../src/store/ledger.ts'
import { openStore, type StoreSettings } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { makeDirectory, makeSchema } from '../contract/databases.ts'

export interface LedgerScene {
  readonly dataDir: string
  readonly settings: StoreSettings
  readonly store: Store
  deposit(account: string, amountNano: Nano): Promise<void>
  /** Resolves when the node is ready. */
  start(options?: Partial<LedgerOptions>): Promise<LedgerNode>
  remove(): Promise<void>
}

export const quickly: LedgerSettings = { ...fileSchema.parse({}).ledger, settleMs: 5 }

/** `databaseUrl` null: on SQLite. `dataDir`: this directory instead of a separate one. */
export async function ledgerScene(
  databaseUrl: string | null,
  dataDir?: string,
): Promise<LedgerScene> {
  const directory = makeDirectory()
  const schema = databaseUrl === null ? null : await makeSchema(databaseUrl)
  const place = dataDir ?? directory.path
  const settings = { dataDir: place, databaseUrl: schema?.url ?? null }
  const store = await openStore(settings)
  let deposits = 0
  return {
    dataDir: place,
    settings,
    store,
    async deposit(account, amountNano) {
      deposits += 1
      const now = Date.now()
      await store.accounts.ensure(account, now)
      const wallet = { debit: 'adjust:admin', credit: walletOf(account), amountNano, at: now }
      const why = { actor: 'test', reason: 'to test with' }
      const id = `adjust:deposit-${deposits}`
      const posted = await store.journal.post([{ id, code: 'adjust', ...wallet, ...why }])
      if (posted !== 'posted') throw new Error(`The deposit is ${posted}.`)
    },
    async start(options = {}) {
      const node = await createLedger({
        store: settings,
        dataDir: place,
        settings: quickly,
        durability: 'normal',
        maxHeldPerKeyNano: null,
        maxHeldPerAccountNano: null,
        log: createLog({ level: 'silent' }),
        ...options,
      })
      await node.opened
      return node
    },
    async remove() {
      await store.close()
      await schema?.drop()
      directory.remove()
    },
  }
}

/** Checks every few milliseconds until it holds; throws after `limitMs`, naming what was waited for. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  limitMs = 30_000,
): Promise<void> {
  const deadline = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Waited in vain: ${what}`)
    await delay(2)
  }
}
