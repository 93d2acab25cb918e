// Lets an account find, list, fetch and delete its videos.

import { invalidRequest } from '../../errors.ts'
import type { RelayRooms } from '../../relay/request.ts'
import type { VideoChange, VideoChanged, VideoRow, VideoTable } from '../../store/video-table.ts'
import { type VideoVariant, videoVariants } from '../../vendors/video.ts'
import { openaiClient } from '../../wire/openai/base.ts'
import type { Fields, Reading, Reply } from '../operation.ts'
import { idIn } from '../path.ts'
import { openContent, type VideoBytes } from './content.ts'
import type { VideoJobs } from './jobs.ts'
import { findVideo, notReady } from './request.ts'
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
/** How long a client's read waits for the poll that it caused. */
const newsMs = 1_500
const pollBounds = { leastMs: 250, mostMs: 10_000 }

type OwnReading = Pick<Reading, 'principal' | 'url'>

interface WithVideos {
  readonly videos: VideoRooms
}

function videoIdIn({ pathname }: URL): string {
  return idIn(pathname, 'videos')
}

/** The video as JSON, and in a header when to ask again. */
export async function readVideo(
  { principal, url }: OwnReading,
  { videos }: WithVideos,
): Promise<Reply> {
  const found = await findVideo(videos, principal.account, videoIdIn(url))
  const row = await withNews(videos, found)
  if (row.state !== 'running') return { body: row.video }
  return { body: row.video, headers: { 'openai-poll-after-ms': String(pollAfterMs(row)) } }
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

/** Milliseconds before there may be news. */
function pollAfterMs({ pollAt }: Pick<VideoRow, 'pollAt'>): number {
  const { leastMs, mostMs } = pollBounds
  return Math.max(leastMs, Math.min(mostMs, Math.round(pollAt - Date.now())))
}

/** A page of the account's videos. Throws GatewayError. */
export async function listVideos(
  { principal, url }: OwnReading,
  { videos: rooms }: WithVideos,
): Promise<Reply> {
  const { account } = principal
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
  const list = {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: rows.length > limit,
  }
  return { body: JSON.stringify(list) }
}

/** Also ends a video that is being made, which then costs nothing, where its vendor stops making it. */
export async function removeVideo(
  { principal, url }: OwnReading,
  { videos: rooms }: WithVideos,
): Promise<Reply> {
  const { account } = principal
  const { table, jobs } = rooms
  const id = videoIdIn(url)
  const seen = await findVideo(rooms, account, id)
  // One that has been made by now is paid for.
  if (seen.state === 'running') await jobs.poll(seen, Date.now())
  const row = await table.find(account, id)
  if (row !== null && (row.state !== 'running' || !(await jobs.cancel(row)))) {
    await jobs.remove(row)
    await rooms.change({ kind: 'remove', account, id })
  }
  return { body: JSON.stringify({ id, object: 'video.deleted', deleted: true }) }
}

/** The content of a finished video; counts as a request under way while it is fetched. Throws GatewayError. */
export async function readContent(
  { principal, url, headers, method, hold }: Reading,
  { videos }: WithVideos,
): Promise<Reply> {
  const release = hold()
  try {
    const row = await findVideo(videos, principal.account, videoIdIn(url))
    const variant = variantOf(url.searchParams.get('variant') ?? 'video')
    if (row.state !== 'completed') throw notReady(row)
    const bytes = await openContent(videos, workOf(row), variant, headers.get('range'))
    if (bytes.status === 416) {
      release()
      return noSuchRange(bytes.contentRange)
    }
    const shown = { status: bytes.status, headers: bytes.headers }
    if (method !== 'HEAD') return { body: streamOf(bytes, release), ...shown }
    bytes.close()
    release()
    return { body: null, ...shown }
  } catch (error) {
    release()
    throw error
  }
}

function noSuchRange(contentRange: string | null): Reply {
  const error = invalidRequest('range: the video has no such bytes.', 'range')
  const headers: Fields = contentRange === null ? {} : { 'content-range': contentRange }
  return { status: 416, body: openaiClient.refuse(error), headers }
}

function variantOf(text: string): VideoVariant {
  const variant = videoVariants.find((each) => each === text)
  if (variant !== undefined) return variant
  throw invalidRequest(`variant must be one of ${videoVariants.join(', ')}`, 'variant')
}

/** A stream that closes its source, whether it is read to its end or cancelled. */
function streamOf({ body, close }: VideoBytes, onEnd: () => void): ReadableStream {
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
