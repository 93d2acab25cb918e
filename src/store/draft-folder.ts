// Folders in which copies are made, each locked by its process, so that a later copy removes what a killed one left.

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isBusy, makeDataDir, naming, openFile } from './sqlite-file.ts'

interface DraftFolder {
  readonly path: string
  remove(): void
}

const lockName = 'draft.lock'
const draftName = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Makes `FILE.ID` and removes such folders of processes that were killed, also those for files of other names beside
 * this one. Throws `DataError` if it cannot be written.
 */
export function openDraft(file: string): DraftFolder {
  const beside = dirname(file)
  if (existsSync(beside)) for (const name of readdirSync(beside)) removeDead(join(beside, name))
  const path = `${file}.${crypto.randomUUID()}`
  naming(path, () => makeDataDir(path))
  try {
    const lock = openFile(join(path, lockName))
    lock.run('BEGIN EXCLUSIVE')
    return {
      path,
      remove() {
        lock.close()
        rmSync(path, { recursive: true, force: true })
      },
    }
  } catch (error) {
    rmSync(path, { recursive: true, force: true })
    // Another process took it for a dead one's, in the moment before it was locked.
    if (isBusy(error)) return openDraft(file)
    throw error
  }
}

/** Does nothing with a folder that is in use, or that is no draft. */
function removeDead(path: string): void {
  const lockFile = join(path, lockName)
  if (!draftName.test(basename(path)) || !existsSync(lockFile)) return
  const lock = openFile(lockFile)
  try {
    lock.run('BEGIN EXCLUSIVE')
    rmSync(path, { recursive: true, force: true })
  } catch (error) {
    if (!isBusy(error)) throw error
  } finally {
    lock.close()
  }
}
