// Allows one server on a data directory, by a lock that ends with its process however that ends.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DataError } from './data-error.ts'
import { isBusy, makeDataDir, naming, openFile, whyUnusable } from './sqlite-file.ts'

export interface DataLock {
  release(): void
}

/** Another server uses this data directory. */
export class DataLocked extends DataError {
  override readonly name = 'DataLocked'
}

/**
 * Locks the data directory for this process. Throws `DataLocked` with the other server's pid, or `DataError` if the
 * directory cannot be created or written. The lock is a transaction held open on a separate SQLite file, so the system
 * releases it when the process ends, even by kill -9. Commands that run beside a server do not take it.
 */
export function lockData(dataDir: string): DataLock {
  try {
    return lockFiles(dataDir)
  } catch (error) {
    if (error instanceof DataLocked || !(error instanceof Error)) throw error
    const reason = whyUnusable.get('code' in error ? String(error.code) : '')
    if (reason === undefined && error instanceof DataError) throw error
    throw new DataError(
      `Cannot use the data directory ${dataDir}: ${reason ?? error.message}. Name another with --data.`,
      { cause: error },
    )
  }
}

function lockFiles(dataDir: string): DataLock {
  makeDataDir(dataDir)
  const path = join(dataDir, 'server.lock')
  const lock = openFile(path)
  const pidFile = join(dataDir, 'server.pid')
  try {
    naming(path, () => lock.run('BEGIN EXCLUSIVE'))
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw error
    const holder = runningPid(pidFile)
    throw new DataLocked(
      `Another Tollgate server${holder === null ? '' : ` (pid ${holder})`} has the data in ${resolve(dataDir)}. Stop it first, or name another directory with --data.`,
    )
  }
  naming(pidFile, () => writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 }))
  held.add(lock)
  return {
    release() {
      held.delete(lock)
      lock.close()
    },
  }
}

/** Whether the data directory is locked, and by the process with this pid. */
export function isHolder(dataDir: string, pid: number): boolean {
  const pidFile = join(dataDir, 'server.pid')
  if (runningPid(pidFile) !== pid) return false
  const lock = openFile(join(dataDir, 'server.lock'))
  try {
    lock.run('BEGIN EXCLUSIVE')
    return false
  } catch (error) {
    if (!isBusy(error)) throw error
    return true
  } finally {
    lock.close()
  }
}

/** Keeps a lock from being garbage-collected, and so released, if the caller drops its handle. */
const held = new Set<ReturnType<typeof openFile>>()

/** The pid the lock's holder wrote; null before it is written, when the file may still name a dead process. */
function runningPid(pidFile: string): number | null {
  if (!existsSync(pidFile)) return null
  const pid = Number(readFileSync(pidFile, 'utf8'))
  return Number.isSafeInteger(pid) && pid > 0 && isRunning(pid) ? pid : null
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process runs under another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
