// The thread that archives usage rows: it ends when nothing is left to archive.

import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { archiveUsage } from '../admin/usage-archive.ts'
import { archiveFiles } from '../blobs/archive-files.ts'
import type { BucketSettings } from '../config/types.ts'
import { openStore, type StoreSettings } from '../store/open.ts'

export interface ArchiveStart extends StoreSettings {
  readonly bucket: BucketSettings | null
  readonly holder: string
  readonly before: number
}

export type ArchiveWord =
  | { readonly file: string; readonly requests: number; readonly bytes: number }
  | { readonly failure: string }

const { bucket, holder, before, ...settings } = workerData as ArchiveStart
const tell = (word: ArchiveWord) => parentPort?.postMessage(word)

try {
  const store = await openStore(settings)
  try {
    await archiveUsage({
      store,
      files: archiveFiles(settings.dataDir, bucket),
      holder,
      before,
      // Pauses as long as the removal took, so that settling gets half of the time.
      pause: (tookMs) => delay(tookMs),
      onFile: ({ name, requests, bytes }) => tell({ file: name, requests, bytes }),
    })
  } finally {
    await store.close()
  }
} catch (error) {
  tell({ failure: error instanceof Error ? error.message : String(error) })
}
