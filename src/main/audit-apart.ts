// Runs the audit in a process of its own: it reads every row there is, which a serving process has no time for.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Audit } from '../admin/audit.ts'
import type { StoreSettings } from '../store/open.ts'

const commandLine = join(import.meta.dirname, '../cli/main.ts')

/** Ends the process where it is aborted. Rejects, with what it said, where it could not be done. */
export async function auditApart(
  { dataDir, databaseUrl }: StoreSettings,
  signal: AbortSignal,
): Promise<Audit> {
  const child = spawn(
    process.execPath,
    [
      '--no-orphans',
      '--no-env-file',
      '--config=/dev/null',
      commandLine,
      'audit',
      '--json',
      '--data',
      dataDir,
    ],
    {
      env: { ...process.env, TOLLGATE_CONFIG: '', DATABASE_URL: databaseUrl ?? '' },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    },
  )
  const ended = Promise.withResolvers<void>()
  child.on('error', ended.reject)
  child.on('close', () => ended.resolve())
  const [said, failure] = await Promise.all([text(child.stdout), text(child.stderr), ended.promise])
  // It ends with 1 also where it found something.
  if (said === '') throw new Error(failure.trim() || 'the audit gave no answer')
  return JSON.parse(said) as Audit
}
