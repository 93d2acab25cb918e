// Builds the video jobs, which outlive configuration changes, and what requests for videos work with.

import type { Config } from '../config/types.ts'
import type { Front } from '../http/front.ts'
import type { Services } from '../operations/services.ts'
import { VideoJobs } from '../operations/videos/jobs.ts'
import type { RelayRooms } from '../relay/request.ts'
import type { ProcessParts } from './process.ts'

const hourMs = 3_600_000

export function createVideoJobs(
  {
    store,
    ledger,
    prices,
    spools,
    log,
  }: Pick<ProcessParts, 'store' | 'ledger' | 'prices' | 'spools' | 'log'>,
  present: () => { readonly config: Config; readonly front: Pick<Front, 'services'> },
): VideoJobs {
  return new VideoJobs({
    relay: () => present().front.services.relay,
    openSpool: () => spools.open(present().config.uploads.maxSpoolBytes),
    table: store.videos,
    change: (change) => ledger.changes.changeVideo(change),
    prices: () => prices.book,
    longestMs: () => present().config.videos.maxHours * hourMs,
    log,
  })
}

export function videosFor(
  config: Config,
  {
    store,
    ledger,
    spools,
    log,
    videoJobs,
  }: Pick<ProcessParts, 'store' | 'ledger' | 'spools' | 'log' | 'videoJobs'>,
  relay: RelayRooms,
): Services['videos'] {
  return {
    relay: () => relay,
    openSpool: () => spools.open(config.uploads.maxSpoolBytes),
    table: store.videos,
    jobs: videoJobs,
    change: (change) => ledger.changes.changeVideo(change),
    begin: {
      beginVideo: (hold, beginning) => ledger.changes.beginVideo(hold, beginning),
      observer: relay.observer,
      orphaned: (work) => videoJobs.abandon(work),
      wake: (pollAt) => videoJobs.wake(pollAt),
      onLost: (error, requestId) =>
        log.error(
          { err: error, request_id: requestId },
          'a video was begun at its vendor, and it is not known whether it is kept',
        ),
      keepMs: config.videos.keepDays * 24 * hourMs,
    },
  }
}
