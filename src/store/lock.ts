// One server on one data directory: a lock that dies with its process, however that dies.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DataError, isBusy, makeDataDir, naming, openFile } from './sqlite-file.ts'

interface DataLock {
  release(): void
}

/** Another server has this data directory. */
export class DataLocked extends DataError {
  override readonly name = 'DataLocked'
}

const reasons: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ENOENT: 'it does not exist and cannot be made here',
    EEXIST: 'it is a file, not a folder',
    ENOTDIR: 'a part of its path is a file, not a folder',
    EACCES: 'this user may not write there',
    EPERM: 'this user may not write there',
    EROFS: 'its file system is read-only',
    ENOSPC: 'its file system is full',
  }),
)

/**
 * Takes the data directory for this process. Throws `DataLocked` with the other's pid, or `DataError` where the
 * directory cannot be made or written to. The lock is a transaction held open on an SQLite file of its own, so the
 * system frees it when the process ends, also by kill -9. Commands that work beside a server do not take it.
 */
export function lockData(dataDir: string): DataLock {
  try {
    return lockFiles(dataDir)
  } catch (error) {
    if (error instanceof DataLocked || !(error instanceof Error)) throw error
    const reason = reasons.get('code' in error ? String(error.code) : '')
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

/** Whether the data directory is taken, and by this process. */
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

/** Keeps a lock from being collected, and so released, by a caller that does not keep its handle. */
const held = new Set<ReturnType<typeof openFile>>()

/** The pid the holder wrote; null in the moment before it has, when the file may still name a dead one. */
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
    // EPERM: it runs, under another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
