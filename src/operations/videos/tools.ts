// Tools for requests to a video's vendor outside of any client's request, and a time limit for them.

import type { Channel } from '../../relay/channel.ts'
import type { RelayRooms } from '../../relay/request.ts'
import { MediaFault, type Spool } from '../../vendors/media.ts'
import { MediaWork } from '../adapters/tools.ts'

export interface VideoToolRooms {
  relay(): RelayRooms
  openSpool(): Spool
}

/** Open tools; whoever opened them closes them. */
interface OpenTools {
  readonly work: MediaWork
  close(): void
}

export function openTools({ relay, openSpool }: VideoToolRooms, channel: Channel): OpenTools {
  const rooms = relay()
  const { connectMs, sendIdleMs } = { ...rooms.timeouts, ...channel.timeouts }
  const spool = openSpool()
  const media = { isForm: false, uploads: [], spool }
  const dialect = rooms.dialects['openai-videos']
  const work = new MediaWork({ rooms, request: { media }, channel, dialect, connectMs, sendIdleMs })
  return {
    work,
    close() {
      work.letGo()
      spool.close()
    },
  }
}

/** Rejects with MediaFault `timeout` where the work takes longer. */
export async function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const message = 'the vendor did not answer in time'
  const timer = setTimeout(() => late.reject(new MediaFault({ kind: 'timeout', message })), limitMs)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
