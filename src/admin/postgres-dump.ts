// Dumps a PostgreSQL database to a file and restores it, with PostgreSQL's own programs.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, linkSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDraft } from '../store/draft-folder.ts'
import { openStore } from '../store/open.ts'
import { auditLedger } from './audit.ts'
import { AdminError } from './use-case.ts'

/** Writes a new file, whole or not at all: the state of one moment, in pg_dump's custom format. */
export function dumpDatabase(databaseUrl: string, file: string) {
  return interruptible((running) => dump(running, databaseUrl, file))
}

async function dump(running: Running, databaseUrl: string, file: string) {
  const draft = openDraft(file)
  try {
    const whole = join(draft.path, 'dump')
    // Readable by its owner only; pg_dump keeps the mode of an existing file.
    writeFileSync(whole, '', { mode: 0o600, flag: 'wx' })
    const args = ['--format=custom', '--no-owner', '--no-privileges', `--file=${whole}`]
    await run(running, 'pg_dump', databaseUrl, args, draft.path)
    linkSync(whole, file)
    // null: counted when the file is restored.
    const counts = {
      transfers: null,
      usageRows: null,
      settled: null,
      wallets: null,
      findings: null,
    }
    return { ok: true, file, bytes: statSync(file).size, ...counts }
  } finally {
    draft.remove()
  }
}

/**
 * Restores such a file into an empty database, whole or not at all, migrates it to the present schema and audits it.
 */
export async function restoreDatabase(databaseUrl: string, file: string) {
  if (!existsSync(file)) throw refused(`${file} is not there`)
  const { holdsData } = await import('../store/postgres.ts')
  if (await holdsData(databaseUrl)) {
    throw refused('the database holds data already: name an empty one (DATABASE_URL)')
  }
  const whole = ['--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges']
  await interruptible(async (running) => {
    const draft = openDraft(file)
    try {
      await run(running, 'pg_restore', databaseUrl, [...whole, file], draft.path)
    } finally {
      draft.remove()
    }
  })
  const store = await openStore({ dataDir: '', databaseUrl })
  try {
    const { ok, transfers, usageRows, wallets, findings } = await auditLedger({ store })
    const counts = { transfers, usageRows, wallets, findings: findings.length }
    return { ok, file, dataDir: null, ...counts, aside: null }
  } finally {
    await store.close()
  }
}

/** As long as other commands wait for a connection. */
const connectSeconds = 5

/**
 * Passes the password in a file of a folder that only its owner can read: every user of the machine can see a program's
 * arguments.
 */
async function run(
  running: Running,
  program: string,
  databaseUrl: string,
  args: readonly string[],
  folder: string,
): Promise<void> {
  const url = new URL(databaseUrl)
  if (url.password !== '') {
    const password = decodeURIComponent(url.password).replaceAll(/[\\:]/g, '\\$&')
    const passwords = join(folder, 'password')
    writeFileSync(passwords, `*:*:*:*:${password}\n`, { mode: 0o600, flag: 'wx' })
    url.password = ''
    url.searchParams.set('passfile', passwords)
  }
  if (!url.searchParams.has('connect_timeout'))
    url.searchParams.set('connect_timeout', String(connectSeconds))
  // URLSearchParams writes a space as `+`, which the programs do not read back.
  url.search = url.search.replaceAll('+', '%20')
  await finish(running, program, [`--dbname=${url.href}`, ...args])
}

const interruptions = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

interface Running {
  program: ChildProcess | null
}

/**
 * A signal ends the program first, and with it this command, whose files would be left behind otherwise. To be begun
 * before the first file is written.
 */
async function interruptible<Result>(work: (running: Running) => Promise<Result>): Promise<Result> {
  const running: Running = { program: null }
  const interrupted = (signal: NodeJS.Signals) => void running.program?.kill(signal)
  for (const signal of interruptions) process.on(signal, interrupted)
  try {
    return await work(running)
  } finally {
    for (const signal of interruptions) process.off(signal, interrupted)
  }
}

async function finish(running: Running, program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  running.program = child
  const said: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(missing(program, error)))
    child.once('close', resolve)
  })
  if (code === 0) return
  const [reason] = said.join('').split('\n')
  const usual = code === null ? 'interrupted' : `${program} ended with ${code}`
  throw refused(reason?.trim() || usual)
}

function missing(program: string, error: Error): Error {
  if (!('code' in error) || error.code !== 'ENOENT') return error
  return refused(
    `${program} is not on this machine: install PostgreSQL's client programs, of the server's version or newer`,
  )
}

function refused(message: string): AdminError {
  return new AdminError('conflict', 'file', message)
}
