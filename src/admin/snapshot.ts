// Copies the ledger of a data directory at one moment to a folder: for a backup, or a copy into another database.

import { join } from 'node:path'
import { settleCopies } from '../ledger/settle-copy.ts'
import { databaseFile } from '../store/sqlite.ts'
import { copyDatabase, openCopy } from '../store/sqlite-copy.ts'
import { copyOutboxes, type OutboxCopy } from '../store/sqlite-outbox-copy.ts'
import { auditLedger } from './audit.ts'
import { AdminError } from './use-case.ts'

/** Outboxes are copied first: records that leave them meanwhile are in the ledger by the time it is copied. */
export function copyState(dataDir: string, folder: string): readonly OutboxCopy[] {
  const outboxes = copyOutboxes(dataDir)
  copyDatabase(join(dataDir, databaseFile), folder)
  return outboxes
}

/**
 * Settles the outboxes' records in the copied ledger, closes its nodes and audits it; `settled`: number of requests
 * from outboxes. Throws AdminError about `field` where the ledger is damaged.
 */
export async function settleState(folder: string, outboxes: readonly OutboxCopy[], field: string) {
  const copy = await openCopy(folder)
  try {
    const settled = await settleCopies(copy, outboxes)
    await copy.endNodes()
    const audit = await auditLedger({ store: copy })
    const damaged = audit.findings.find(({ kind }) => kind === 'integrity')
    if (damaged === undefined) return { settled, audit }
    throw new AdminError(
      'conflict',
      field,
      `the ledger is damaged, and nothing was made of it: ${damaged.message}`,
    )
  } finally {
    await copy.close()
  }
}
