// The ledger over either engine, put together from its parts.

import type { Engine } from './engine.ts'
import { journalTable } from './journal.ts'
import type { LedgerTable } from './ledger.ts'
import { leaseTable, nodeTable } from './nodes.ts'
import { setAsideTable } from './set-aside.ts'
import { settle } from './settle.ts'
import { cleanText } from './text.ts'
import { readWallets } from './wallets.ts'

export function ledgerTable(engine: Engine): LedgerTable {
  return {
    ...journalTable(engine),
    ...nodeTable(engine),
    ...leaseTable(engine),
    ...setAsideTable(engine),
    async wallet(account) {
      const [wallet] = await readWallets(engine, cleanText(account))
      return wallet ?? null
    },
    wallets: () => readWallets(engine),
    settle: (batch) => settle(engine, batch),
  }
}
