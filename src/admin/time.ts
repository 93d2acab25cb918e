// Times as people write them, and as results show them.

const unitMs: ReadonlyMap<string, number> = new Map(
  Object.entries({
    s: 1_000,
    m: 60_000,
    h: 3_600_000,
    d: 86_400_000,
    w: 604_800_000,
  }),
)

const iso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/

/**
 * Reads a date (`2027-01-31`, midnight UTC) or a time with its offset (`2027-01-31T08:00:00Z`) as Unix milliseconds;
 * null where it is neither. A time without an offset would depend on the machine's zone.
 */
export function readTime(text: string): number | null {
  const ms = iso.test(text) ? Date.parse(text) : Number.NaN
  // Date.parse rolls 2027-02-31 over into March.
  return Number.isNaN(ms) || !isRealDay(text.slice(0, 10)) ? null : ms
}

/** Reads a time, or an age: `30s`, `10m`, `1h`, `2d`, `1w` before now. */
export function readSince(text: string, nowMs: number): number | null {
  const ageMs = readDuration(text)
  return ageMs === null ? readTime(text) : nowMs - ageMs
}

/** `30s`, `10m`, `1h`, `2d`, `1w` in milliseconds; null where the text is no duration. */
export function readDuration(text: string): number | null {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  return count === undefined ? null : Number(count) * (unitMs.get(unit) ?? 0)
}

function isRealDay(day: string): boolean {
  const ms = Date.parse(day)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day)
}

/** RFC 3339 in UTC. */
export function timeText(ms: number): string
export function timeText(ms: number | null): string | null
export function timeText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
