// A sync of the disk that failed: what the disk has is not known any more, and to sync again would hide it.

export class SyncFailed extends Error {
  override readonly name = 'SyncFailed'
}

/** Also SQLite's code for it, from within a commit. PostgreSQL ends itself then. */
export function isSyncFailure(error: unknown): boolean {
  if (error instanceof SyncFailed) return true
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code === 'SQLITE_IOERR_FSYNC' || code === 'SQLITE_IOERR_DIR_FSYNC'
}
