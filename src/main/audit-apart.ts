// Runs the audit in a process of its own: it reads every row, for which a serving process has no time.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import type { Audit } from '../admin/audit.ts'
import { argumentsFor, endsWithParent } from '../installation.ts'
import type { StoreSettings } from '../store/open.ts'

/** An abort ends the process. Rejects with the process's error output where the audit could not be done. */
export async function auditApart(
  { dataDir, databaseUrl }: StoreSettings,
  signal: AbortSignal,
): Promise<Audit> {
  const words = argumentsFor('command-line', ['audit', '--json', '--data', dataDir])
  const own = { TOLLGATE_CONFIG: '', DATABASE_URL: databaseUrl ?? '', ...endsWithParent }
  const child = spawn(process.execPath, words, {
    env: { ...process.env, ...own },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  })
  const ended = Promise.withResolvers<void>()
  child.on('error', ended.reject)
  child.on('close', () => ended.resolve())
  const [said, failure] = await Promise.all([text(child.stdout), text(child.stderr), ended.promise])
  // The exit code does not tell: it is 1 also where the audit found something.
  if (said === '') throw new Error(failure.trim() || 'the audit gave no answer')
  return JSON.parse(said) as Audit
}
