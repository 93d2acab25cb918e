// What is stored of a video besides what its account sees: where it is made, and the record to complete at its end.

import { noUsage } from '../../billing/authorization.ts'
import { emptyRow } from '../../history/row.ts'
import type { PriceBook, Units } from '../../meter/meter.ts'
import type { Nano } from '../../money.ts'
import type { FailedAttempt, UsageRow } from '../../store/usage-row.ts'
import type { VideoRow } from '../../store/video-table.ts'
import type { VideoJob } from '../../vendors/video.ts'
import type { JsonObject } from '../../wire/ir.ts'

/** A shorter time between polls that a vendor names is ignored: some servers name 0. */
export const leastHintMs = 50

/** Where a video is made, and the state of polling. */
export interface VideoWork extends VideoJob {
  readonly channel: string
  /** Failed polls in a row. */
  readonly misses: number
  /** Refusals by the vendor to report on the job since it last did, and the time of the first; left out: none. */
  readonly refusals?: { readonly count: number; readonly sinceMs: number }
  /** The vendor named the time of the next poll. */
  readonly hinted: boolean
}

/** OpenAI's video object, as the account sees it. */
export interface VideoObject extends JsonObject {
  id: string
  object: 'video'
  model: string
  status: 'queued' | 'in_progress' | 'completed' | 'failed'
  progress: number
  created_at: number
  completed_at: number | null
  expires_at: number | null
  prompt: string
  size: string
  seconds: string
  remixed_from_video_id: string | null
  error: { code: string; message: string } | null
}

interface VideoAuthorization {
  /** The record of a finished video, with its whole charge. */
  readonly row: UsageRow
  readonly capNano: Nano | null
}

export function workOf(row: Pick<VideoRow, 'work'>): VideoWork {
  return JSON.parse(row.work) as VideoWork
}

export function videoOf(row: Pick<VideoRow, 'video'>): VideoObject {
  return JSON.parse(row.video) as VideoObject
}

const moneyFields = ['chargeNano', 'writeoffNano', 'vendorCostNano', 'heldNano'] as const

export function encodeAuthorization({ row, capNano }: VideoAuthorization): string {
  const money = Object.fromEntries(moneyFields.map((name) => [name, String(row[name])]))
  return JSON.stringify({
    row: { ...row, ...money },
    capNano: capNano === null ? null : String(capNano),
  })
}

export function authorizationOf({ bill }: Pick<VideoRow, 'bill'>): VideoAuthorization {
  const { row, capNano } = JSON.parse(bill) as {
    readonly row: Omit<UsageRow, (typeof moneyFields)[number]> &
      Record<Exclude<(typeof moneyFields)[number], 'heldNano'>, string> & {
        readonly heldNano?: string
      }
    readonly capNano: string | null
  }
  return {
    row: {
      // Jobs begun by an earlier version lack fields added since.
      ...emptyRow,
      ...row,
      chargeNano: BigInt(row.chargeNano),
      writeoffNano: BigInt(row.writeoffNano),
      vendorCostNano: BigInt(row.vendorCostNano),
      heldNano: BigInt(row.heldNano ?? 0),
    },
    capNano: capNano === null ? null : BigInt(capNano),
  }
}

/** The record of a finished video: at the prices of its beginning, for at most the seconds that were asked for. */
export function completedRow(
  { row }: VideoAuthorization,
  seconds: number | null,
  prices: PriceBook,
  nowMs: number,
): UsageRow {
  const durationMs = Math.max(0, nowMs - row.at)
  const units = unitsOf(row.units, seconds)
  const done = { ...row, units, usageSource: 'reported', durationMs } as const
  const rate =
    row.priceVersion === null ? null : prices.version(row.priceVersion, row.multiplierPpm)
  if (rate === null || units === row.units) return done
  return {
    ...done,
    chargeNano: rate.charge(noUsage, units),
    vendorCostNano: rate.cost(noUsage, units) + costOf(row.failedAttempts),
  }
}

function unitsOf(asked: Units | null, seconds: number | null): Units | null {
  if (asked === null || seconds === null || !(seconds > 0)) return asked
  const entries = Object.entries(asked)
  const at = entries.findIndex(([name]) => name.split('/')[0] === 'second')
  const entry = entries[at]
  if (entry === undefined || seconds >= entry[1]) return asked
  return Object.fromEntries(entries.with(at, [entry[0], seconds]))
}

function costOf(attempts: readonly FailedAttempt[] | null): Nano {
  return (attempts ?? []).reduce((sum, { costNano }) => sum + BigInt(costNano), 0n)
}

/** Why a video costs nothing, as its record states it. */
export interface VideoFailure {
  readonly status: number
  readonly errorCode: string
  readonly cause: string
  /** A fault's kind, for the cost that the vendor may charge anyway. */
  readonly kind: string
}

/** The record of a failed video: its vendor had accepted the job, and may charge for it. */
export function failedRow(
  { row }: VideoAuthorization,
  failure: VideoFailure,
  nowMs: number,
): UsageRow {
  const { status, errorCode, cause, kind } = failure
  const before = row.failedAttempts ?? []
  const costNano = row.vendorCostNano - costOf(before)
  const failed = { channel: row.channel ?? '', kind, costNano: String(costNano) }
  return {
    ...row,
    units: null,
    usageSource: 'none',
    chargeNano: 0n,
    durationMs: Math.max(0, nowMs - row.at),
    status,
    errorCode,
    errorCause: cause,
    failedAttempts: [...before, failed],
  }
}
