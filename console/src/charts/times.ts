// Names buckets of time on an axis and in a tooltip.

import type { Bucket } from './series.ts'

const dayMs = 86_400_000
/** A day on which clocks are set forward has 23 hours. */
const shortestDayMs = dayMs - 2 * 3_600_000

function lengthMs({ start, end }: Bucket): number {
  return Date.parse(end) - Date.parse(start)
}

/** Both bounds: `Nov 22, 14:00 – 15:00`; of whole days the days: `Nov 16 – 22, 2026`. */
export function spanText(bucket: Bucket, locale: string, timeZone: string): string {
  const start = Date.parse(bucket.start)
  const end = Date.parse(bucket.end)
  const isOfDays = lengthMs(bucket) >= shortestDayMs
  const format = new Intl.DateTimeFormat(
    locale,
    isOfDays
      ? { dateStyle: 'medium', timeZone }
      : {
          month: 'short',
          day: 'numeric',
          hour: '2-digit',
          minute: '2-digit',
          hourCycle: 'h23',
          timeZone,
        },
  )
  return format.formatRange(start, isOfDays ? end - 1 : end)
}

export interface AxisLabel {
  readonly bucket: number
  readonly text: string
}

/** Minutes of the clock between labels. */
const clockSteps = [15, 30, 60, 120, 180, 240, 360, 720, 1_440]

/**
 * At most this many labels of an axis: days if buckets are days or longer, else times that are round in the zone's
 * local time, with the date at midnight.
 */
export function axisLabels(
  buckets: readonly Bucket[],
  fitting: number,
  locale: string,
  timeZone: string,
): readonly AxisLabel[] {
  const date = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone })
  const dateOf = (bucket: number) => date.format(Date.parse(buckets[bucket]?.start ?? ''))
  const isOfDays = (buckets[1] ?? buckets[0]) !== undefined && longest(buckets) >= shortestDayMs
  if (isOfDays) {
    const every = Math.max(1, Math.ceil(buckets.length / fitting))
    return buckets.flatMap((_, bucket) =>
      (buckets.length - 1 - bucket) % every === 0 ? [{ bucket, text: dateOf(bucket) }] : [],
    )
  }
  const clock = new Intl.DateTimeFormat(locale, {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone,
  })
  const times = buckets.map(({ start }) => clock.format(Date.parse(start)))
  const minutes = times.map((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5)))
  const rounds = clockSteps.map((step) =>
    minutes.flatMap((minute, bucket) => (minute % step === 0 ? [bucket] : [])),
  )
  const kept = rounds.find((round) => round.length <= fitting) ?? rounds.at(-1) ?? []
  const every = Math.max(1, Math.ceil(kept.length / fitting))
  return kept
    .filter((_, index) => index % every === 0)
    .map((bucket) => ({
      bucket,
      text: minutes[bucket] === 0 ? dateOf(bucket) : (times[bucket] ?? ''),
    }))
}

/** The longer of the first two buckets, since the range may cut the first. */
function longest(buckets: readonly Bucket[]): number {
  return Math.max(...buckets.slice(0, 2).map(lengthMs))
}
