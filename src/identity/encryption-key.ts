// The deployment's encryption key: configured by its operator, or made once and stored in the data directory.

import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/types.ts'
import { DataError } from '../store/data-error.ts'
import { keptText } from './kept-text.ts'

/** File in the data directory, readable by its owner only. */
const keyFile = 'encryption.key'
const keyBytes = 32

/** Throws DataError if the stored key is damaged. */
export function encryptionKey({ encryptionKey: given, dataDir }: KeySettings): Uint8Array {
  if (given !== null) return Buffer.from(given, 'utf8')
  const path = join(dataDir, keyFile)
  const key = Buffer.from(
    keptText(path, () => randomBytes(keyBytes).toString('base64')),
    'base64',
  )
  if (key.length === keyBytes) return key
  throw new DataError(
    `${path} is damaged: put it back from a copy, or remove it and have a new one made: then signed addresses are void, and the secrets of channels and webhooks that were made at run time have to be entered again.`,
  )
}

/** Whether the key is given or kept, so that none would be made. */
export function hasEncryptionKey({ encryptionKey: given, dataDir }: KeySettings): boolean {
  return given !== null || existsSync(join(dataDir, keyFile))
}

type KeySettings = Pick<Config, 'encryptionKey' | 'dataDir'>
