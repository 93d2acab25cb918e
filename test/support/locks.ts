// The POSIX locks that processes have on a file, as Linux reports them.

import { readFileSync, statSync } from 'node:fs'

/** The locks of one process on one file, each `READ` or `WRITE`. */
export function locksOn(path: string, pid: number): string[] {
  const { ino } = statSync(path)
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, type, , mode, holder, file] = line.trim().split(/\s+/)
      const ours = type === 'POSIX' && holder === String(pid) && file?.endsWith(`:${ino}`)
      return ours && mode !== undefined ? [mode] : []
    })
}
