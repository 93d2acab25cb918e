// Asks the vendor of a video's job: for its state, to stop it, or to remove it.

import { GatewayError, invalidRequest } from '../../errors.ts'
import type { VideoRow } from '../../store/video-table.ts'
import type { Log } from '../../telemetry/log.ts'
import { scrub } from '../../telemetry/scrub.ts'
import { MediaFault, type MediaTools } from '../../vendors/media.ts'
import type { VideoAdapter } from '../../vendors/video.ts'
import { openTools, type VideoToolRooms, within } from './tools.ts'
import { type VideoWork, workOf } from './work.ts'

interface VendorJobRooms extends VideoToolRooms {
  readonly log: Log
}

type Task<Result> = (adapter: VideoAdapter, tools: MediaTools) => Promise<Result>

const askLimitMs = 30_000
/** A vendor that answers so was reached, and does not do what it was asked. */
const refusedStatuses: ReadonlySet<number> = new Set([400, 404, 405, 409, 422, 501])

/** Runs a task at the vendor of a video. Rejects with MediaFault where the channel is gone. */
export async function atVendor<Result>(
  rooms: VendorJobRooms,
  { channel: id }: VideoWork,
  task: Task<Result>,
): Promise<Result> {
  const channel = rooms.relay().channels.get(id)
  const videos = channel?.vendor.videos
  if (channel === undefined || videos === undefined)
    throw new MediaFault({ kind: 'unreachable', message: 'its channel is not configured' })
  const tools = openTools(rooms, channel)
  try {
    return await within(askLimitMs, task(await videos.load(), tools.work))
  } finally {
    tools.close()
  }
}

/** Stops a running job. Rejects with GatewayError where the vendor goes on with it, or is not reached. */
export async function cancelAtVendor(rooms: VendorJobRooms, row: VideoRow): Promise<void> {
  const isStopped = await asked(rooms, row, async (adapter, tools) => {
    await adapter.cancel?.(workOf(row), tools)
    return adapter.cancel !== undefined
  })
  if (isStopped) return
  const message = `The video '${row.id}' is being made and cannot be stopped: delete it when it has ended.`
  throw invalidRequest(message, null)
}

/** Removes an ended job, unless the vendor refuses. Rejects with GatewayError where it is not reached. */
export async function removeAtVendor(rooms: VendorJobRooms, row: VideoRow): Promise<void> {
  await asked(rooms, row, async (adapter, tools) => {
    await adapter.remove?.(workOf(row), tools)
    return true
  })
}

/** Stops or removes a job that nobody waits for, where the vendor allows either. Never rejects. */
export async function abandonAtVendor(rooms: VendorJobRooms, work: VideoWork): Promise<void> {
  try {
    await atVendor(rooms, work, async (adapter, tools) => {
      if (adapter.cancel !== undefined) await adapter.cancel(work, tools)
      else await adapter.remove?.(work, tools)
    })
  } catch (error) {
    const fields = { err: error, channel: work.channel }
    rooms.log.warn(fields, 'an abandoned video could not be stopped at its vendor')
  }
}

/** Resolves to false where the vendor refuses. */
async function asked(rooms: VendorJobRooms, row: VideoRow, task: Task<boolean>): Promise<boolean> {
  const work = workOf(row)
  try {
    return await atVendor(rooms, work, task)
  } catch (error) {
    if (!(error instanceof MediaFault)) throw error
    const { kind, status = 0, message } = error.fault
    const detail = scrub(message, secretsOf(rooms, row))
    const fields = { video: row.id, channel: work.channel, kind, status, detail }
    rooms.log.warn(fields, 'a video could not be removed at its vendor')
    if (refusedStatuses.has(status) || kind === 'rejected') return false
    throw new GatewayError(
      'service_unavailable',
      'The vendor of this video could not be asked to remove it; retry shortly.',
      { retryAfterMs: 1_000 },
    )
  }
}

export function secretsOf({ relay }: VideoToolRooms, row: VideoRow): readonly string[] {
  return relay().channels.get(workOf(row).channel)?.secrets ?? []
}
