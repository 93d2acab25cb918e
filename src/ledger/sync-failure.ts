// The error of a failed disk sync: what the disk has is unknown from then on, and another sync would hide that.

export class SyncFailed extends Error {
  override readonly name = 'SyncFailed'
}

/** Also recognises SQLite's codes for a sync that failed within a commit. PostgreSQL stops its server in that case. */
export function isSyncFailure(error: unknown): boolean {
  if (error instanceof SyncFailed) return true
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code === 'SQLITE_IOERR_FSYNC' || code === 'SQLITE_IOERR_DIR_FSYNC'
}
