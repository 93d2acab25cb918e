// Videos as their account finds, lists, fetches and deletes them.

import { GatewayError, invalidRequest } from '../../errors.ts'
import { decodeId } from '../../http/endpoints.ts'
import type { Fields } from '../../http/respond.ts'
import type { RelayRooms } from '../../relay/request.ts'
import type { VideoChange, VideoChanged, VideoRow, VideoTable } from '../../store/video-table.ts'
import { type VideoVariant, videoVariants } from '../../vendors/video.ts'
import { openContent, type VideoBytes } from './content.ts'
import type { VideoJobs } from './jobs.ts'
import { notReady } from './request.ts'
import type { VideoToolRooms } from './tools.ts'
import { videoOf, workOf } from './work.ts'

export interface VideoRooms extends VideoToolRooms {
  relay(): RelayRooms
  readonly table: VideoTable
  readonly jobs: VideoJobs
  change(change: Exclude<VideoChange, { readonly kind: 'begin' }>): Promise<VideoChanged>
}

const usualVideos = 20
const mostVideos = 100
/** How long a client waits for news that it caused to be asked for. */
const newsMs = 1_500
const pollBounds = { leastMs: 250, mostMs: 10_000 }

/** The id in a path such as `/v1/videos/ID/content`. */
export function videoIdIn(pathname: string): string {
  const [, rest = ''] = pathname.split('/videos/')
  return decodeId(rest.split('/')[0] ?? '')
}

/** Throws GatewayError `not_found`, also for another account's. */
export async function findVideo(
  { table }: Pick<VideoRooms, 'table'>,
  account: string,
  id: string,
): Promise<VideoRow> {
  const row = await table.find(account, id)
  if (row !== null) return row
  throw new GatewayError('not_found', `Video with id '${id}' not found.`)
}

/** The video as JSON; `fields` is told when to ask again. */
export async function readVideo(
  rooms: VideoRooms,
  account: string,
  url: URL,
  fields: Fields,
): Promise<string> {
  const found = await findVideo(rooms, account, videoIdIn(url.pathname))
  const row = await withNews(rooms, found)
  if (row.state === 'running') fields['openai-poll-after-ms'] = String(pollAfterMs(row))
  return row.video
}

async function withNews(rooms: VideoRooms, row: VideoRow): Promise<VideoRow> {
  if (row.state !== 'running') return row
  const enough = Promise.withResolvers<void>()
  const timer = setTimeout(enough.resolve, newsMs)
  try {
    await Promise.race([rooms.jobs.hasten(row), enough.promise])
  } finally {
    clearTimeout(timer)
  }
  return (await rooms.table.find(row.account, row.id)) ?? row
}

/** When there may be something new. */
export function pollAfterMs({ pollAt }: Pick<VideoRow, 'pollAt'>): number {
  const { leastMs, mostMs } = pollBounds
  return Math.max(leastMs, Math.min(mostMs, Math.round(pollAt - Date.now())))
}

/** A page of the account's videos. Throws GatewayError. */
export async function listVideos(rooms: VideoRooms, account: string, url: URL): Promise<string> {
  const asked = url.searchParams
  const order = asked.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc')
    throw invalidRequest('order must be asc or desc', 'order')
  const limit = Number(asked.get('limit') ?? usualVideos)
  if (!Number.isInteger(limit) || limit < 0 || limit > mostVideos)
    throw invalidRequest(`limit must be a whole number from 0 to ${mostVideos}`, 'limit')
  const last = asked.get('after')
  const after = last === null ? null : await rooms.table.find(account, last)
  if (last !== null && after === null)
    throw invalidRequest('after is not one of the videos', 'after')
  const rows = await rooms.table.list(account, { limit: limit + 1, order, after })
  const data = rows.slice(0, limit).map(videoOf)
  return JSON.stringify({
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: rows.length > limit,
  })
}

/** Also ends one that is being made, which then costs nothing. */
export async function removeVideo(rooms: VideoRooms, account: string, url: URL): Promise<string> {
  const row = await findVideo(rooms, account, videoIdIn(url.pathname))
  const ended = row.state !== 'running' || !(await rooms.jobs.remove(row))
  if (ended) {
    const { state } = await rooms.change({ kind: 'remove', account, id: row.id })
    if (state === 'changed') rooms.jobs.abandon(workOf(row))
  }
  return JSON.stringify({ id: row.id, object: 'video.deleted', deleted: true })
}

/** The bytes of one that is made. Throws GatewayError. */
export async function readContent(
  rooms: VideoRooms,
  account: string,
  url: URL,
  range: string | null,
): Promise<VideoBytes> {
  const row = await findVideo(rooms, account, videoIdIn(url.pathname))
  const variant = variantOf(url.searchParams.get('variant') ?? 'video')
  if (row.state !== 'completed') throw notReady(row)
  return openContent(rooms, workOf(row), variant, range)
}

function variantOf(text: string): VideoVariant {
  const variant = videoVariants.find((each) => each === text)
  if (variant !== undefined) return variant
  throw invalidRequest(`variant must be one of ${videoVariants.join(', ')}`, 'variant')
}

/** A stream that lets its source go, however its reader leaves. */
export function streamOf({ body, close }: VideoBytes, onEnd: () => void): ReadableStream {
  let ended = false
  const end = () => {
    if (ended) return
    ended = true
    close()
    onEnd()
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await body.next()
          if (next.done !== true) {
            controller.enqueue(next.value)
            return
          }
          end()
          controller.close()
        } catch (error) {
          end()
          controller.error(error)
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}
