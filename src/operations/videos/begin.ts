// Begins a video: the request is relayed like any other, but the result is a job, and its money stays held.

import { Buffer } from 'node:buffer'
import { finishedOf, type Priced, price } from '../../billing/settle.ts'
import type { Settlement } from '../../billing/settlement.ts'
import { GatewayError } from '../../errors.ts'
import type { Hold } from '../../ledger/ledger.ts'
import type { VideoBeginning } from '../../ledger/messages.ts'
import { settleRequest } from '../../relay/ending.ts'
import type { Observer, RelayRequest, ResponseTransform } from '../../relay/request.ts'
import type { JsonObject } from '../../wire/ir.ts'
import { objectOf } from '../../wire/json/value.ts'
import { encodeAuthorization, leastHintMs, type VideoObject, type VideoWork } from './work.ts'

export interface BeginRooms {
  beginVideo(hold: Hold, beginning: VideoBeginning): Promise<'begun' | 'insufficient'>
  readonly observer: Observer
  /** Reports a job that runs at the vendor although no record of it could be made. */
  orphaned(work: VideoWork): void
  /** Schedules the first poll of a video begun here. */
  wake(pollAt: number): void
  onLost(error: unknown, requestId: string): void
  readonly keepMs: number
}

/** The parameters of a new video. */
interface VideoRequest {
  readonly requestId: string
  readonly account: string
  readonly at: number
  readonly model: string
  readonly prompt: string
  readonly size: string
  readonly seconds: number
  readonly remixedFrom: string | null
}

/** The settlement and the transform for the call of a new video. */
interface VideoStart {
  readonly settle: NonNullable<RelayRequest['settle']>
  readonly transform: ResponseTransform
  /** Rejects where the vendor accepted the job and it could not be stored. */
  readonly lost: Promise<never>
}

const firstPollMs = 500
const longestHintMs = 60_000

/** The id of the video that a request began, from what follows `req_`. */
function videoIdOf(requestId: string): string {
  return `video_${requestId.slice(requestId.indexOf('_') + 1)}`
}

export function startVideo(rooms: BeginRooms, asked: VideoRequest): VideoStart {
  const lost = Promise.withResolvers<never>()
  lost.promise.catch(() => undefined)
  const video = newVideo(asked)
  let begun: JsonObject | null = null
  return {
    lost: lost.promise,
    transform(bytes, kind) {
      // The client gets nothing of the vendor's own reply.
      if (kind === 'piece') return new Uint8Array()
      begun = JSON.parse(Buffer.from(bytes).toString('utf8')) as JsonObject
      return Buffer.from(JSON.stringify(video), 'utf8')
    },
    settle(request, priced, keeping) {
      const { errorCode } = priced.settlement
      const job = errorCode === null && begun !== null ? begun : null
      if (job === null || keeping === null || !('then' in keeping)) {
        settleRequest(rooms.observer, request, price(notMade(priced.settlement)), keeping)
        return
      }
      void keep(rooms, { request, priced, job, keeping, video, asked }).catch(lost.reject)
    },
  }
}

function newVideo(asked: VideoRequest): VideoObject {
  return {
    id: videoIdOf(asked.requestId),
    object: 'video',
    model: asked.model,
    status: 'queued',
    progress: 0,
    created_at: Math.floor(asked.at / 1000),
    completed_at: null,
    expires_at: null,
    prompt: asked.prompt,
    size: asked.size,
    seconds: String(asked.seconds),
    remixed_from_video_id: asked.remixedFrom,
    error: null,
  }
}

/** A reply without a job counts as a failure. */
function notMade(settlement: Settlement): Settlement {
  if (settlement.errorCode !== null) return settlement
  const fault = { kind: 'unreadable', message: "the vendor's reply has no job id" } as const
  return { ...settlement, status: 503, errorCode: 'service_unavailable', fault, summary: null }
}

interface Kept {
  readonly request: RelayRequest
  readonly priced: Priced
  readonly job: JsonObject
  readonly keeping: { readonly then: () => void }
  readonly video: VideoObject
  readonly asked: VideoRequest
}

/** Answers the client only when the job and its money are in the ledger. */
async function keep(rooms: BeginRooms, kept: Kept): Promise<void> {
  const { request, priced, job, keeping, video, asked } = kept
  const { settlement } = priced
  const { row, capNano, idempotency } = finishedOf(priced)
  const work = workFor(settlement, job, asked)
  const pollAt = Date.now() + (hintOf(job) ?? firstPollMs)
  const beginning: VideoBeginning = {
    row: {
      account: asked.account,
      id: video.id,
      requestId: asked.requestId,
      video: JSON.stringify(video),
      work: JSON.stringify(work),
      bill: encodeAuthorization({ row, capNano }),
      pollAt,
      createdAt: asked.at,
      expiresAt: asked.at + rooms.keepMs,
    },
    idempotency,
  }
  const state = await rooms
    .beginVideo(request.authorization.hold, beginning)
    .catch((error: unknown) => {
      rooms.onLost(error, asked.requestId)
      return 'unknown' as const
    })
  if (state === 'begun') {
    rooms.observer.settled(request, priced)
    rooms.wake(pollAt)
    keeping.then()
    return
  }
  const unmade = price(notMade(settlement))
  if (state === 'insufficient') {
    rooms.orphaned(work)
    settleRequest(rooms.observer, request, unmade, null)
  }
  // It may or may not be stored: if it is, it goes on, is recorded at its end, and appears in its account's list.
  else rooms.observer.settled(request, unmade)
  throw new GatewayError(
    'service_unavailable',
    'The gateway cannot account for this video at present; retry shortly.',
    { retryAfterMs: 1_000 },
  )
}

function workFor({ candidate }: Settlement, job: JsonObject, asked: VideoRequest): VideoWork {
  const { kept } = job
  return {
    channel: candidate?.channelId ?? '',
    model: candidate?.model ?? asked.model,
    handle: String(job['id']),
    kept: objectOf(kept),
    seconds: asked.seconds,
    size: asked.size,
    misses: 0,
    hinted: hintOf(job) !== null,
  }
}

function hintOf({ poll_after_ms: hint }: JsonObject): number | null {
  return typeof hint === 'number' && hint >= leastHintMs ? Math.min(hint, longestHintMs) : null
}
