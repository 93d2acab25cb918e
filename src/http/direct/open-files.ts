// How many client connections a process can serve with the files it may open.

import { readFileSync } from 'node:fs'

/** Databases, logs, uploads and threads need some files of their own. */
const othersFiles = 150
/** A client's connection, and one to a vendor for its request. */
const filesOfClient = 2

/**
 * The most client connections for a limit of open files, from the text of `/proc/self/limits` (proc_pid_limits(5)).
 * Infinity where that names no limit.
 */
export function mostConnections(limits: string): number {
  const [, files] = /^Max open files +(\d+)/m.exec(limits) ?? []
  if (files === undefined) return Number.POSITIVE_INFINITY
  return Math.max(1, Math.floor((Number(files) - othersFiles) / filesOfClient))
}

/** The text of `/proc/self/limits`; empty on systems without it. */
export function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}
