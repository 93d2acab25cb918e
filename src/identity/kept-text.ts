// A line of text in the data directory that is made once, by whichever process is first.

import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/** Readable by its owner only; returned without the line end. */
export function keptText(path: string, make: () => string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
  // Several processes may start at once: the first complete file counts for all.
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${make()}\n`, { mode: 0o600 })
  try {
    linkSync(draft, path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return readFileSync(path, 'utf8').trim()
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
