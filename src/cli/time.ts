// Times as people write them on a command line.

import { UsageError } from './command.ts'

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

const iso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/

/**
 * A date (`2027-01-31`, midnight UTC) or a time with its offset (`2027-01-31T08:00:00Z`), as Unix
 * milliseconds. A time without an offset is refused: it would mean something else on each machine.
 */
export function readTime(flag: string, text: string): number {
  const ms = iso.test(text) ? Date.parse(text) : Number.NaN
  // Date.parse rolls 2027-02-31 over into March.
  if (Number.isNaN(ms) || !isRealDay(text.slice(0, 10))) {
    throw new UsageError(`--${flag} ${text}: expected a time such as 2027-01-31T08:00:00Z`)
  }
  return ms
}

/** The same, or an age: `30s`, `10m`, `1h`, `2d`, `1w` before now. */
export function readSince(flag: string, text: string, nowMs: number): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  if (count !== undefined) return nowMs - Number(count) * (unitMs[unit] ?? 0)
  try {
    return readTime(flag, text)
  } catch {
    throw new UsageError(
      `--${flag} ${text}: expected 1h, 2d or a time such as 2027-01-31T08:00:00Z`,
    )
  }
}

function isRealDay(day: string): boolean {
  const ms = Date.parse(day)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day)
}
