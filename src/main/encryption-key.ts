// The key a deployment signs with: given by its operator, or made once and kept in the data folder.

import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/types.ts'
import { StartError } from './start-error.ts'

/** In the data folder, for its owner alone. */
const keyFile = 'encryption.key'
const keyBytes = 32

/** Throws StartError where the kept key is damaged. */
export function encryptionKey({ encryptionKey: given, dataDir }: KeySettings): Uint8Array {
  if (given !== null) return Buffer.from(given, 'utf8')
  const path = join(dataDir, keyFile)
  const key = Buffer.from(keptKey(path).trim(), 'base64')
  if (key.length === keyBytes) return key
  throw new StartError(
    `${path} is damaged: put it back from a copy, or remove it and have a new one made; what was signed with it is void then.`,
  )
}

type KeySettings = Pick<Config, 'encryptionKey' | 'dataDir'>

function keptKey(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
  // Several processes may start at once: the first whole file counts for all.
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${randomBytes(keyBytes).toString('base64')}\n`, { mode: 0o600 })
  try {
    linkSync(draft, path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return readFileSync(path, 'utf8')
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
