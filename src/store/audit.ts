// The audit: recomputes every balance and total from the journal and the usage rows, in one consistent snapshot.

import { auditAccounts, auditJournal, auditLeases } from './audit-accounts.ts'
import { auditFacets } from './audit-facets.ts'
import { auditPayments } from './audit-payments.ts'
import { auditPruned } from './audit-pruned.ts'
import { auditUsage } from './audit-usage.ts'
import type { Engine, Session } from './engine.ts'
import { createFindings, type Findings } from './findings.ts'
import { checkIntegrity } from './integrity.ts'
import type { AuditReport, AuditTable } from './ledger.ts'
import { auditOutboxes } from './outbox-epochs.ts'
import { readPrices } from './prices.ts'
import { keptOf } from './retention.ts'
import { openSetAsides } from './wallets.ts'

export function auditTable(engine: Engine): AuditTable {
  return {
    run(pricing) {
      return engine.snapshot(async (session) => {
        const findings = createFindings()
        // If the engine finds its own files damaged, further findings would be meaningless.
        if (!(await checkIntegrity(session, findings))) return damaged(findings)
        const price = pricing(await readPrices(session))
        await auditAccounts(session, findings)
        const kept = await keptOf(session)
        await auditLeases(session, kept.since, findings)
        await auditJournal(session, findings)
        await auditPayments(session, findings)
        await auditOutboxes(session, findings)
        const usageRows = await auditUsage(session, { price, ...kept }, findings)
        await auditPruned(session, kept, findings)
        await auditFacets(session, findings)
        return {
          transfers: await count(session, 'SELECT count(*) AS count FROM transfer'),
          usageRows,
          wallets: await count(
            session,
            `SELECT count(*) AS count FROM ledger_account WHERE kind = 'wallet'`,
          ),
          findings: findings.list(),
          setAside: await count(session, `SELECT count(*) AS count FROM ${openSetAsides}`),
        }
      })
    },
  }
}

function damaged(findings: Findings): AuditReport {
  return { transfers: 0, usageRows: 0, wallets: 0, findings: findings.list(), setAside: 0 }
}

async function count(session: Session, sql: string): Promise<number> {
  const [row] = await session.query<{ readonly count: number }>(sql, [])
  return row?.count ?? 0
}
