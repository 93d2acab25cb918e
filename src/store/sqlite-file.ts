// Creates and opens SQLite files of the data directory, private to their owner, with errors that name the file.

import { Database } from 'bun:sqlite'
import { closeSync, existsSync, linkSync, mkdirSync, openSync, rmSync } from 'node:fs'

/** The data directory, a file in it or the database cannot be used: the message says which and why, on one line. */
export class DataError extends Error {
  override readonly name: string = 'DataError'
  /** Error code of the system or SQLite; '' if there is none. */
  readonly code: string

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = codeOf(options?.cause)
  }
}

/** Creates the directory for its owner only; an existing one keeps its mode. */
export function makeDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
}

/**
 * Opens an SQLite file, created for its owner only if it is missing. Throws `DataError`.
 *
 * Only SQLite may open such a file in this process: POSIX drops a process's locks on a file when the process closes any
 * descriptor of it, and without them another program could remove the log under a running server.
 */
export function openFile(path: string): Database {
  return naming(path, () => {
    if (!existsSync(path)) makePrivate(path)
    return new Database(path, { readwrite: true, create: false })
  })
}

/**
 * Created under another name and linked, so that no descriptor of it is closed once others can find it. SQLite gives
 * its side files (-wal, -shm, -journal) the mode of the main file.
 */
function makePrivate(path: string): void {
  const draft = `${path}.${crypto.randomUUID()}`
  closeSync(openSync(draft, 'wx', 0o600))
  try {
    linkSync(draft, path)
  } catch (error) {
    // Another process or thread created the file first.
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Does the work; its errors are changed to name the file, except for a lock held by another connection. */
export function naming<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw isBusy(error) ? error : unusable(path, error)
  }
}

/** Describes a failure with this file, on one line. */
export function unusable(path: string, error: unknown): DataError {
  if (error instanceof DataError) return error
  const reason = (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ')
  const advice = isDamage(error)
    ? '. It is damaged: put it back from a backup, or move it away'
    : ''
  return new DataError(`Cannot use ${path}: ${reason}${advice}.`, { cause: error })
}

/** Whether SQLite reports that the file is corrupt or no database. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error)
  return ['SQLITE_NOTADB', 'SQLITE_CORRUPT'].some((each) => code.startsWith(each))
}

/** Whether another connection holds a lock that is needed. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
