// Where results other than text (images, sound, videos) are stored and served, as the configuration says.

import { join } from 'node:path'
import { createHosting, type FileStore } from '../blobs/hosting.ts'
import { DiskFiles } from '../blobs/hosting-disk.ts'
import { BucketFiles } from '../blobs/hosting-s3.ts'
import { createResults, type Results } from '../blobs/results.ts'
import type { Config } from '../config/types.ts'
import { encryptionKey } from '../identity/encryption-key.ts'
import type { ProcessParts } from './process.ts'

/** Longest time without a byte while a result is fetched; the whole may take as long as its request. */
const quietMs = 30_000
const sweepMs = 300_000
const nowMs = () => Date.now()

export function openDiskFiles(config: Config): DiskFiles {
  return new DiskFiles({ folder: join(config.dataDir, 'media'), key: encryptionKey(config), nowMs })
}

type ResultParts = Pick<ProcessParts, 'dialer' | 'diskFiles' | 'log'>

export function resultsFor(config: Config, { dialer, diskFiles, log }: ResultParts): Results {
  const { media, uploads } = config
  const store = storeFor(config, diskFiles)
  const hosting = createHosting({
    store,
    urlHours: media.urlHours,
    nowMs,
    hosted: (account, { id, expires }, bytes) =>
      log.info({ account, file: id, expires, bytes }, 'a result is hosted'),
  })
  const safeFetch = { dialer, maxBytes: media.maxResultBytes, timeoutMs: quietMs, untilQuiet: true }
  return createResults({ ...safeFetch, accept: '*/*' }, hosting, {
    maxBytes: uploads.maxImageBytes,
    maxTotalBytes: uploads.maxFormBytes,
  })
}

function storeFor({ media }: Config, diskFiles: DiskFiles): FileStore {
  return media.s3 === null
    ? diskFiles.store(media.maxStoredBytes)
    : new BucketFiles({ settings: media.s3, nowMs })
}

/** Removes expired results now and at intervals, also from a disk that was in use before a bucket. */
export function sweepResults(
  config: () => Config,
  { diskFiles, log }: Pick<ResultParts, 'diskFiles' | 'log'>,
): void {
  const sweep = async () => {
    try {
      await diskFiles.sweep(nowMs())
      if (config().media.s3 !== null) await storeFor(config(), diskFiles).sweep(nowMs())
    } catch (error) {
      log.warn({ err: error }, 'expired results could not be removed; it is tried again')
    }
  }
  void sweep()
  setInterval(() => void sweep(), sweepMs).unref()
}
