// Folders in which copies are made, each locked by its process, so that a later copy removes or continues what a killed
// one left.

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isBusy, makeDataDir, naming, openFile } from './sqlite-file.ts'

interface LockedFolder {
  readonly path: string
  release(): void
  /** Releases and removes it. */
  remove(): void
}

const lockName = 'draft.lock'
const draftName = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Makes the folder unless it is there. Null if another process has it locked. Throws `DataError`. */
export function lockFolder(path: string): LockedFolder | null {
  naming(path, () => makeDataDir(path))
  const lock = openFile(join(path, lockName))
  try {
    lock.run('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (isBusy(error)) return null
    throw error
  }
  return {
    path,
    release: () => lock.close(),
    remove() {
      // The lock goes last: without it nobody would remove the rest.
      for (const name of readdirSync(path).filter((each) => !each.startsWith(lockName)))
        rmSync(join(path, name), { recursive: true, force: true })
      lock.close()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

/**
 * Makes `FILE.ID` and removes such folders of processes that were killed, also those for files of other names beside
 * this one. Throws `DataError` if it cannot be written.
 */
export function openDraft(file: string): LockedFolder {
  const beside = dirname(file)
  if (existsSync(beside)) for (const name of readdirSync(beside)) removeDead(join(beside, name))
  const path = `${file}.${crypto.randomUUID()}`
  try {
    // Another process may take it for a dead one's, in the moment before it is locked.
    return lockFolder(path) ?? openDraft(file)
  } catch (error) {
    if (existsSync(path)) rmSync(path, { recursive: true, force: true })
    throw error
  }
}

/** Does nothing with a folder that is in use, or that is no draft. */
function removeDead(path: string): void {
  if (!draftName.test(basename(path))) return
  if (existsSync(join(path, lockName))) lockFolder(path)?.remove()
  else if (isUnlocked(path)) rmSync(path, { recursive: true, force: true })
}

const soonMs = 60_000

/** Whether its process was killed before it could lock it, or after it had removed the rest. */
function isUnlocked(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  // A new one may be about to be locked.
  if (!found?.isDirectory() || Date.now() - found.mtimeMs < soonMs) return false
  return readdirSync(path).every((name) => name.startsWith(lockName))
}
