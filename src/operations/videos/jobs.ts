// Polls running videos at their vendors, each by one process at a time, to their end, timeout or removal.

import type { PriceBook } from '../../meter/meter.ts'
import type { RelayRooms } from '../../relay/request.ts'
import type { VideoChange, VideoChanged, VideoRow, VideoTable } from '../../store/video-table.ts'
import type { Log } from '../../telemetry/log.ts'
import { scrub } from '../../telemetry/scrub.ts'
import { MediaFault } from '../../vendors/media.ts'
import type { VideoNews } from '../../vendors/video.ts'
import type { VideoToolRooms } from './tools.ts'
import {
  abandonAtVendor,
  atVendor,
  cancelAtVendor,
  removeAtVendor,
  secretsOf,
} from './vendor-jobs.ts'
import {
  authorizationOf,
  completedRow,
  failedRow,
  leastHintMs,
  type VideoFailure,
  type VideoObject,
  type VideoWork,
  videoOf,
  workOf,
} from './work.ts'

interface VideoJobRooms extends VideoToolRooms {
  relay(): RelayRooms
  readonly table: VideoTable
  change(change: Exclude<VideoChange, { readonly kind: 'begin' }>): Promise<VideoChanged>
  prices(): PriceBook
  /** The age in ms at which an unfinished video counts as failed. */
  longestMs(): number
  readonly log: Log
}

/** How often the store is searched for videos to poll while any is running, whoever began it. */
const lookMs = 1_000
/** How often while none is: videos begun here are known, and another process polls its own unless it dies. */
const restMs = 15_000
/** The most videos polled at once. */
const most = 32
/** A process that claimed a video and has not reported after this long is assumed to hang. */
const claimMs = 60_000
/** A client's read makes the gateway poll the vendor, but no more often than this. */
const leastGapMs = 2_000
const firstGapMs = 1_000
const longestGapMs = 15_000
const longestMissMs = 60_000
/** A vendor may repeat the whole request in its message, and a list of videos has it in each. */
const mostMessageChars = 1_000
/** Within this time a vendor may not know its new job on all of its machines yet. */
const unknownMs = 60_000
const reportedMisses = 10
/** A job is lost only after refusals for this long: a vendor's machines may disagree for a moment. */
const refusedMs = 10_000
/** And only after so many of them, of which a 404 says more than others. */
const leastRefusals = { unknown: 4, other: 6 }
const writeRetriesMs = [250, 1_000, 4_000, 15_000]

export class VideoJobs {
  private readonly rooms: VideoJobRooms
  private readonly running = new Set<Promise<void>>()
  private timer: ReturnType<typeof setTimeout> | null = null
  private wakeAt = Number.POSITIVE_INFINITY
  private looking = false
  private stopped = true
  private failing = false

  constructor(rooms: VideoJobRooms) {
    this.rooms = rooms
  }

  start(): void {
    this.stopped = false
    this.sleepUntil(Date.now())
  }

  /** Resolves when nothing is polled any more; running videos are left to other processes, or the next start. */
  async stop(): Promise<void> {
    this.stopped = true
    if (this.timer !== null) clearTimeout(this.timer)
    while (this.running.size > 0) await Promise.all(this.running)
  }

  /** Schedules a look for a video begun here that is due at that time. */
  wake(pollAt: number): void {
    if (!this.stopped && pollAt < this.wakeAt) this.sleepUntil(pollAt)
  }

  /** Polls a video its account asks for, unless it was just polled or the vendor named a time. */
  async hasten(row: VideoRow): Promise<void> {
    const nowMs = Date.now()
    const polledBeforeMs = nowMs - leastGapMs
    if (this.stopped || row.state !== 'running' || workOf(row).hinted) return
    if ((row.polledAt ?? row.createdAt) > polledBeforeMs) return
    await this.poll(row, polledBeforeMs)
  }

  /** Polls a video, unless another process does or it was polled since. */
  async poll({ account, id }: VideoRow, polledBeforeMs: number): Promise<void> {
    const claimed = await this.claim(Date.now(), 1, { account, id, polledBeforeMs })
    await Promise.all(claimed.map((each) => this.follow(each)))
  }

  /**
   * Ends a running video that its account deletes, where its vendor stops making it; false where it was not running any
   * more. Throws GatewayError where the vendor makes, and bills, it nevertheless.
   */
  async cancel(row: VideoRow): Promise<boolean> {
    await cancelAtVendor(this.rooms, row)
    const nowMs = Date.now()
    const failure: VideoFailure = {
      status: 499,
      errorCode: 'client_closed_request',
      cause: 'the video was deleted before it was made',
      kind: 'cut',
    }
    const authorization = authorizationOf(row)
    const done = await this.rooms.change({
      ...endOf(row),
      state: 'removed',
      nowMs,
      row: failedRow(authorization, failure, nowMs),
      capNano: authorization.capNano,
    })
    return done.state === 'changed'
  }

  /** Removes a video that has ended at its vendor, where that is offered. Throws GatewayError where it is not reached. */
  async remove(row: VideoRow): Promise<void> {
    // Without its channel nobody can ask its vendor any more.
    if (this.rooms.relay().channels.has(workOf(row).channel)) await removeAtVendor(this.rooms, row)
  }

  /** Stops an unwanted job at its vendor, where the vendor allows that. */
  abandon(work: VideoWork): void {
    this.track(abandonAtVendor(this.rooms, work))
  }

  private sleepUntil(atMs: number, longestMs = lookMs): void {
    if (this.stopped) return
    if (this.timer !== null) clearTimeout(this.timer)
    this.wakeAt = atMs
    // Bounded, because the clock may be set back meanwhile.
    const delayMs = Math.max(0, Math.min(atMs - Date.now(), longestMs))
    this.timer = setTimeout(() => this.track(this.look()), delayMs)
    this.timer.unref()
  }

  private track(work: Promise<void>): void {
    const tracked: Promise<void> = work.finally(() => this.running.delete(tracked))
    this.running.add(tracked)
  }

  private async look(): Promise<void> {
    if (this.looking || this.stopped) return
    this.looking = true
    // A video that begins during the search may not be found by it.
    this.wakeAt = Number.POSITIVE_INFINITY
    let nextAt: number | null = null
    let longestMs = lookMs
    try {
      nextAt = await this.rooms.table.nextPollAt(Date.now())
      const free = most - this.running.size + 1
      if (nextAt !== null && nextAt <= Date.now()) {
        const rows = free > 0 ? await this.claim(Date.now(), free) : []
        for (const row of rows) this.track(this.follow(row))
        // If others claimed them, or no more can be polled now, the next search is not urgent.
        nextAt = rows.length === 0 ? null : await this.rooms.table.nextPollAt(Date.now())
      }
      if (nextAt === null && !(await this.rooms.table.isAnyRunning())) longestMs = restMs
      this.reached()
    } catch (error) {
      this.unreached(error)
      nextAt = null
    }
    this.looking = false
    this.sleepUntil(Math.min(this.wakeAt, nextAt ?? Date.now() + longestMs), longestMs)
  }

  private async claim(
    nowMs: number,
    limit: number,
    only?: { readonly account: string; readonly id: string; readonly polledBeforeMs: number },
  ): Promise<readonly VideoRow[]> {
    const claim = { kind: 'claim', nowMs, untilMs: nowMs + claimMs, limit } as const
    const done = await this.rooms.change(only === undefined ? claim : { ...claim, only })
    return done.rows
  }

  /** Polls a claimed video and stores the news. Never rejects. */
  private async follow(row: VideoRow): Promise<void> {
    const news = await this.ask(row)
    const change = this.changeFor(row, news)
    try {
      const { state } = await this.write(change)
      if (change.kind === 'note') this.wake(change.pollAt)
      else if (state === 'changed') this.tell(row, change.state, change.row.errorCause)
    } catch (error) {
      // The claim expires, and then the video is polled again.
      this.rooms.log.error(
        { err: error, video: row.id },
        'the state of a video could not be stored',
      )
    }
  }

  private async ask(row: VideoRow): Promise<VideoNews | MediaFault> {
    const work = workOf(row)
    try {
      return await atVendor(this.rooms, work, (adapter, tools) => adapter.poll(work, tools))
    } catch (error) {
      if (error instanceof MediaFault) return error
      this.rooms.log.error(
        { err: error, video: row.id },
        'the request for a video could not be sent to its vendor',
      )
      return new MediaFault({ kind: 'unreadable', message: 'the gateway could not read the reply' })
    }
  }

  private changeFor(row: VideoRow, news: VideoNews | MediaFault) {
    const nowMs = Date.now()
    if (!(news instanceof MediaFault) && news.state === 'completed')
      return completed(row, news, this.rooms.prices(), nowMs)
    if (!(news instanceof MediaFault) && news.state === 'failed')
      return failed(row, shown(news, secretsOf(this.rooms, row)), 'vendor_error', nowMs)
    const ageMs = nowMs - row.createdAt
    const refusals = refusalsAfter(row, news, nowMs)
    if (ageMs > unknownMs && isLost(news, refusals, nowMs))
      return failed(row, { code: 'job_lost', message: unknownJob }, 'vendor_error', nowMs)
    if (ageMs > this.rooms.longestMs()) {
      this.abandon(workOf(row))
      return failed(row, { code: 'timeout', message: tooLong }, 'timeout', nowMs)
    }
    if (news instanceof MediaFault) this.tellMiss(row, news)
    return noted(row, news, refusals, nowMs)
  }

  private async write(change: Parameters<VideoJobRooms['change']>[0]): Promise<VideoChanged> {
    for (const waitMs of writeRetriesMs) {
      try {
        return await this.rooms.change(change)
      } catch (error) {
        if (this.stopped) throw error
        await new Promise<void>((resolve) => setTimeout(resolve, waitMs))
      }
    }
    return this.rooms.change(change)
  }

  /** Logged once in a while, so that the operator notices a refused key or an absent vendor. */
  private tellMiss(row: VideoRow, { fault }: MediaFault): void {
    const { channel: id, misses } = workOf(row)
    if (misses % reportedMisses !== 0) return
    const detail = scrub(fault.message, secretsOf(this.rooms, row))
    const fields = { video: row.id, channel: id, kind: fault.kind, status: fault.status, detail }
    this.rooms.log.warn(
      { ...fields, misses: misses + 1 },
      'a vendor could not be asked for the state of a video',
    )
  }

  private tell({ id, requestId, account }: VideoRow, state: string, cause: string | null): void {
    const fields = { video: id, request_id: requestId, account, state }
    this.rooms.log.info(cause === null ? fields : { ...fields, cause }, 'a video has ended')
  }

  private unreached(error: unknown): void {
    if (this.failing || this.stopped) return
    this.failing = true
    this.rooms.log.warn({ err: error }, 'running videos cannot be polled; trying again')
  }

  private reached(): void {
    if (this.failing) this.rooms.log.info({}, 'running videos are polled again')
    this.failing = false
  }
}

const unknownJob = 'The vendor does not know this video any more.'
const tooLong = 'The video was not made in time.'

const isRefusal = ({ fault }: MediaFault) => fault.status === 404 || fault.kind === 'rejected'

/** Failures of other kinds say nothing of the job. */
function refusalsAfter(
  row: VideoRow,
  news: VideoNews | MediaFault,
  nowMs: number,
): VideoWork['refusals'] {
  if (!(news instanceof MediaFault)) return undefined
  const before = workOf(row).refusals
  if (!isRefusal(news)) return before
  return { count: (before?.count ?? 0) + 1, sinceMs: before?.sinceMs ?? nowMs }
}

function isLost(
  news: VideoNews | MediaFault,
  refusals: VideoWork['refusals'],
  nowMs: number,
): boolean {
  if (!(news instanceof MediaFault) || !isRefusal(news) || refusals === undefined) return false
  const least = news.fault.status === 404 ? leastRefusals.unknown : leastRefusals.other
  return refusals.count >= least && nowMs - refusals.sinceMs >= refusedMs
}

function endOf(row: VideoRow) {
  const { account, id, video, work } = row
  return { kind: 'end', account, id, video, work } as const
}

function completed(
  row: VideoRow,
  news: Extract<VideoNews, { state: 'completed' }>,
  prices: PriceBook,
  nowMs: number,
) {
  const work = workOf(row)
  const authorization = authorizationOf(row)
  const video: VideoObject = {
    ...videoOf(row),
    status: 'completed',
    progress: 100,
    completed_at: Math.floor(nowMs / 1000),
    expires_at: news.expiresAt === undefined ? null : Math.floor(news.expiresAt / 1000),
  }
  return {
    ...endOf(row),
    state: 'completed' as const,
    video: JSON.stringify(video),
    work: JSON.stringify({ ...work, kept: news.kept ?? work.kept }),
    nowMs,
    row: completedRow(authorization, news.seconds ?? null, prices, nowMs),
    capNano: authorization.capNano,
  }
}

interface Failure {
  readonly code: string
  readonly message: string
}

/** What the client may see of a vendor's failure. */
function shown({ code, message }: Failure, secrets: readonly string[]): Failure {
  const without = (text: string) => scrub(text, secrets).slice(0, mostMessageChars)
  return { code: without(code), message: without(message) }
}

function failed(row: VideoRow, { code, message }: Failure, kind: string, nowMs: number) {
  const authorization = authorizationOf(row)
  const video: VideoObject = { ...videoOf(row), status: 'failed', error: { code, message } }
  const cause = `${code}: ${message}`
  const failure = { status: 500, errorCode: 'server_error', cause, kind }
  return {
    ...endOf(row),
    state: 'failed' as const,
    video: JSON.stringify(video),
    nowMs,
    row: failedRow(authorization, failure, nowMs),
    capNano: authorization.capNano,
  }
}

/** Polls without news become rarer; a time named by the vendor takes precedence. */
function noted(
  row: VideoRow,
  news: Extract<VideoNews, { state: 'running' }> | MediaFault,
  refusals: VideoWork['refusals'],
  nowMs: number,
) {
  const { account, id } = row
  const before = workOf(row)
  const missed = news instanceof MediaFault
  const misses = missed ? before.misses + 1 : 0
  const asked = missed ? undefined : news.pollAfterMs
  const isUsable = asked !== undefined && asked >= leastHintMs
  const hintMs = missed ? news.fault.retryAfterMs : isUsable ? asked : undefined
  const kept = missed ? before.kept : (news.kept ?? before.kept)
  const { refusals: _, ...same } = before
  const work: VideoWork = {
    ...same,
    ...{ kept, misses, hinted: hintMs !== undefined },
    ...(refusals !== undefined && { refusals }),
  }
  const seen = videoOf(row)
  const video: VideoObject = missed
    ? seen
    : {
        ...seen,
        status: news.queued === true && seen.status === 'queued' ? 'queued' : 'in_progress',
        progress: Math.min(99, Math.max(seen.progress, Math.floor(news.progress ?? 0))),
      }
  const gapMs = missed
    ? Math.min(firstGapMs * 2 ** misses, longestMissMs)
    : Math.min(firstGapMs * 1.25 ** row.polls, longestGapMs)
  const pollAfterMs = Math.min(Math.max(hintMs ?? gapMs, leastHintMs), longestMissMs)
  const pollAt = nowMs + Math.round(pollAfterMs)
  return {
    kind: 'note' as const,
    account,
    id,
    video: JSON.stringify(video),
    work: JSON.stringify(work),
    nowMs,
    pollAt,
  }
}
