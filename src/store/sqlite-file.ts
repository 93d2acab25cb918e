// Creates and opens SQLite files of the data directory, private to their owner, with errors that name the file.

import { Database } from 'bun:sqlite'
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  rmSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, DataError } from './data-error.ts'

/** By the system's error code, what is wrong with the data directory. */
export const whyUnusable: ReadonlyMap<string, string> = new Map(
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
  return new DataError(`Cannot use ${path}: ${reason}${adviceOn(path, error)}.`, { cause: error })
}

function adviceOn(path: string, error: unknown): string {
  if (isDamage(error)) return '. It is damaged: put it back from a backup, or move it away'
  if (!codeOf(error).startsWith('SQLITE_CANTOPEN')) return ''
  // SQLite also writes beside a file that it only reads.
  const reason = whyUnusable.get(whyReadOnly(dirname(path)))
  return reason === undefined ? '' : `: ${reason}`
}

/** The system's code for why this folder cannot be written; '' if it can. */
function whyReadOnly(folder: string): string {
  try {
    accessSync(folder, constants.W_OK)
    return ''
  } catch (error) {
    return codeOf(error)
  }
}

const ofFiles = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|NOTADB|CORRUPT)/

/** The error with the name of the file, if it or one of its causes says that the file cannot be used; else as it is. */
export function named(path: string, error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (ofFiles.test(codeOf(cause))) return unusable(path, error)
  return error
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
