// Takes the data directory for this server, or says in one line why it cannot be used.

import { type DataLock, DataLocked, lockData } from '../store/lock.ts'
import { StartError } from './start-error.ts'

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist and cannot be made here',
  EEXIST: 'it is a file, not a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'its file system is read-only',
  ENOSPC: 'its file system is full',
}

/** Throws DataLocked where another server has it, StartError where the directory cannot be made or written to. */
export function takeData(dataDir: string): DataLock {
  try {
    return lockData(dataDir)
  } catch (error) {
    if (error instanceof DataLocked || !(error instanceof Error)) throw error
    const code = 'code' in error ? String(error.code) : ''
    throw new StartError(
      `Cannot use the data directory ${dataDir}: ${reasons[code] ?? error.message}. Name another with --data.`,
    )
  }
}
