// Files that are kept permanently: in a folder on this machine, or in an S3-compatible store.

import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BucketSettings } from '../config/types.ts'
import { openBucket } from './hosting-s3.ts'

export interface ArchiveFiles {
  /** Resolves when the file is stored durably, replacing one of the same name. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** Null where there is no file of this name. */
  get(name: string): Promise<Uint8Array | null>
}

/** A store that does not answer within this time counts as away. */
const answerMs = 60_000

const inArchive = { folder: 'archive/', what: 'the archive' }

export function archiveFiles(
  dataDir: string,
  bucket: BucketSettings | null,
  withinMs = answerMs,
): ArchiveFiles {
  return bucket === null
    ? onDisk(join(dataDir, 'archive'))
    : filesInBucket(bucket, inArchive, withinMs)
}

function onDisk(folder: string): ArchiveFiles {
  return {
    async put(name, bytes) {
      const path = join(folder, name)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const part = `${path}.part`
      try {
        await synced(part, 'w', (file) => file.writeFile(bytes))
        await rename(part, path)
      } catch (error) {
        // The disk may be full.
        await rm(part, { force: true })
        throw error
      }
      // Syncs the folders too: a power cut must not undo the file whose rows are deleted by then.
      for (let at = dirname(path); at.length >= dirname(folder).length; at = dirname(at))
        await synced(at, 'r')
    },
    async get(name) {
      try {
        return await readFile(join(folder, name))
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return null
        throw error
      }
    },
  }
}

type Handle = Awaited<ReturnType<typeof open>>

async function synced(
  path: string,
  flags: 'r' | 'w',
  work: (file: Handle) => Promise<void> = async () => undefined,
): Promise<void> {
  const file = await open(path, flags, 0o600)
  try {
    await work(file)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Files below a folder of a bucket; `what`: their description for messages. */
export function filesInBucket(
  settings: BucketSettings,
  { folder, what }: { readonly folder: string; readonly what: string },
  withinMs = answerMs,
): ArchiveFiles {
  const client = openBucket(settings)
  const fileOf = (name: string) => client.file(`${settings.prefix}${folder}${name}`)
  return {
    async put(name, bytes) {
      const type = 'application/gzip'
      await answered(fileOf(name).write(bytes, { type, retry: 3 }), withinMs).catch((error) => {
        throw unheard(error, what)
      })
    },
    async get(name) {
      try {
        return await answered(fileOf(name).bytes(), withinMs)
      } catch (error) {
        if (codeOf(error) === 'NoSuchKey') return null
        throw unheard(error, what)
      }
    },
  }
}

async function answered<Answer>(answer: Promise<Answer>, withinMs: number): Promise<Answer> {
  const late = Promise.withResolvers<never>()
  const error = Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })
  const timer = setTimeout(() => late.reject(error), withinMs)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The client's own messages may contain addresses and keys. */
function unheard(error: unknown, what: string): Error {
  return new Error(`the store of ${what} failed with ${codeOf(error) ?? 'unknown'}`)
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null
}
