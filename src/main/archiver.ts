// Archives usage rows in a thread, since reading, compressing and writing them would block requests.

import { hostname } from 'node:os'
import { Worker as Thread } from 'node:worker_threads'
import type { Config } from '../config/types.ts'
import { moduleAt } from '../installation.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { ArchiveStart, ArchiveWord } from './archive-thread.ts'
import type { Offloading } from './offloading.ts'
import type { Worker } from './worker.ts'

interface ArchiverParts {
  readonly config: () => Config
  /** Among several serving processes on one data directory, the first archives. */
  readonly worker: Worker | null
  readonly store: Pick<Store, 'archive' | 'failingWork'>
  readonly offloading: Offloading
  readonly log: Log
}

const script = moduleAt(new URL('./archive-thread.ts', import.meta.url))
const work = { work: 'archive', subject: '' } as const

export function openArchiver({ config, worker, store, offloading, log }: ArchiverParts) {
  let thread: Thread | null = null

  function run(start: ArchiveStart): Promise<void> {
    const made = new Thread(script, { workerData: start })
    thread = made
    made.unref()
    return new Promise((resolve, reject) => {
      made.on('message', (word: ArchiveWord) => {
        if ('failure' in word) {
          reject(new Error(word.failure))
          // A call that is never answered would keep the thread alive.
          void made.terminate()
        } else log.info(word, 'usage rows are archived, and will be removed')
      })
      made.on('error', reject)
      made.on('exit', () => resolve())
    })
  }

  async function noted(archive: () => Promise<void>): Promise<void> {
    try {
      await archive()
      await store.failingWork.note(work, null)
    } catch (error) {
      await store.failingWork.note(work, error instanceof Error ? error.message : String(error))
      log.warn({ err: error }, 'requests could not be archived, so none is removed; trying again')
    }
  }

  return {
    /** Archives requests from before that moment, which is the beginning of a UTC day. */
    async archive(before: number): Promise<void> {
      if (worker !== null && worker.slot > 0) return
      const { dataDir, databaseUrl, media } = config()
      const holder = `${hostname()} ${dataDir}`
      if (await store.archive.isDue({ holder, nowMs: Date.now() }, before))
        await noted(() => run({ dataDir, databaseUrl, bucket: media.s3, holder, before }))
      // Read also where another process archives.
      const failing = (await store.failingWork.all()).find((each) => each.work === work.work)
      offloading.archiveFailingSince = failing?.since ?? null
    },
    /** Each step is complete by itself: the next start continues from it. */
    close() {
      void thread?.terminate()
    },
  }
}
