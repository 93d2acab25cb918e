// Runs the engine's own check of its files, before the audit derives anything from them.

import type { Session } from './engine.ts'
import type { Findings } from './findings.ts'
import { isDamage } from './sqlite-file.ts'

/**
 * SQLite checks every page, index and constraint; false if it finds damage that prevents reading. PostgreSQL has no
 * such check for a client without special privileges, so nothing is checked there.
 */
export async function checkIntegrity(session: Session, findings: Findings): Promise<boolean> {
  if (session.kind === 'postgres') return true
  try {
    return (await checkPages(session, findings)) && (await checkKeys(session, findings))
  } catch (error) {
    if (!isDamage(error)) throw error
    findings.add('integrity', 'database', String(error))
    return false
  }
}

async function checkPages(session: Session, findings: Findings): Promise<boolean> {
  const rows = await session.query<{ readonly integrity_check: string }>(
    'PRAGMA integrity_check',
    [],
  )
  const faults = rows.filter(({ integrity_check }) => integrity_check !== 'ok')
  for (const { integrity_check } of faults) {
    findings.add('integrity', 'database', integrity_check.replaceAll('\n', ' '))
  }
  // A row that breaks a constraint is an ordinary finding, because all data can still be read.
  return faults.every(({ integrity_check }) => isOfRows(integrity_check))
}

function isOfRows(fault: string): boolean {
  return /^(CHECK constraint failed|NULL value|NUMERIC value|TEXT value|non-unique entry)/.test(
    fault,
  )
}

interface BrokenKey {
  readonly table: string
  readonly parent: string
}

async function checkKeys(session: Session, findings: Findings): Promise<boolean> {
  for (const { table, parent } of await session.query<BrokenKey>('PRAGMA foreign_key_check', [])) {
    findings.add('integrity', table, `a row names a row of ${parent} that is not there`)
  }
  return true
}
