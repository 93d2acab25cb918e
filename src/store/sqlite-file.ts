// The files that SQLite keeps in the data directory: made private, opened, and named where they cannot be used.

import { Database } from 'bun:sqlite'
import { closeSync, existsSync, linkSync, mkdirSync, openSync, rmSync } from 'node:fs'

/** The data directory, or a file in it, cannot be used: the message says which and why, in one line. */
export class DataError extends Error {
  override readonly name: string = 'DataError'
  /** Of the system or of SQLite; '' where there is none. */
  readonly code: string

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = codeOf(options?.cause)
  }
}

/** Makes the directory for its owner alone; one that is there keeps its mode. */
export function makeDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
}

/**
 * Opens an SQLite file, made for its owner alone where it is missing. Throws `DataError`.
 *
 * Nothing in this process may open such a file but SQLite: POSIX gives a process's locks on a file up as soon as the
 * process closes any descriptor of it, and without them another program takes the log away under a running server.
 */
export function openFile(path: string): Database {
  return naming(path, () => {
    if (!existsSync(path)) makePrivate(path)
    return new Database(path, { readwrite: true, create: false })
  })
}

/**
 * Made under another name and linked, so that no descriptor of it is closed once others can find it. SQLite gives its
 * side files (-wal, -shm, -journal) the mode of the main one.
 */
function makePrivate(path: string): void {
  const draft = `${path}.${crypto.randomUUID()}`
  closeSync(openSync(draft, 'wx', 0o600))
  try {
    linkSync(draft, path)
  } catch (error) {
    // Another process or thread was first.
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Does the work; what it throws names the file, but for a lock that another connection holds. */
export function naming<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw isBusy(error) ? error : unusable(path, error)
  }
}

/** What went wrong with this file, in one line. */
export function unusable(path: string, error: unknown): DataError {
  if (error instanceof DataError) return error
  const reason = (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ')
  const advice = isDamage(error)
    ? '. It is damaged: put it back from a backup, or move it away'
    : ''
  return new DataError(`Cannot use ${path}: ${reason}${advice}.`, { cause: error })
}

/** SQLite says that the file is not what it wrote. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error)
  return ['SQLITE_NOTADB', 'SQLITE_CORRUPT'].some((each) => code.startsWith(each))
}

/** Another connection holds a lock that is needed now. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
