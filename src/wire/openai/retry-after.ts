// Reads how long a vendor asks clients to wait, from the headers in use for that.

/** Longer waits are capped: the channel is tried again after this. */
const maxWaitMs = 60_000

const unitMs: ReadonlyMap<string, number> = new Map(
  Object.entries({
    h: 3_600_000,
    m: 60_000,
    s: 1_000,
    ms: 1,
    us: 0.001,
    µs: 0.001,
    ns: 0.000_001,
  }),
)

function clamped(ms: number): number | null {
  return Number.isFinite(ms) ? Math.min(maxWaitMs, Math.max(0, Math.ceil(ms))) : null
}

function number(text: string | null): number | null {
  return text !== null && /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null
}

/** Milliseconds of a duration in Go's notation (`1m30.5s`, `6ms`), else null. */
export function goDurationMs(text: string): number | null {
  if (!/^(\d+(\.\d+)?(h|m|s|ms|us|µs|ns))+$/.test(text)) return null
  let total = 0
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|us|µs|ns|h|m|s)/g)) {
    total += Number(count) * (unitMs.get(unit ?? '') ?? 0)
  }
  return total
}

/** Reads Retry-After (RFC 9110, 10.2.3): seconds, or an HTTP date. */
function retryAfter(value: string, nowMs: number): number | null {
  const seconds = number(value)
  if (seconds !== null) return clamped(seconds * 1000)
  const at = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? null : clamped(at - nowMs)
}

/** Reads `x-ratelimit-reset-requests` and the like: Go durations (OpenAI, Groq) or seconds. */
function reset(value: string | null, nowMs: number): number | null {
  if (value === null) return null
  const duration = goDurationMs(value.trim())
  if (duration !== null) return clamped(duration)
  const plain = number(value)
  if (plain === null) return retryAfter(value, nowMs)
  // Large numbers are points in time: Unix seconds, or milliseconds (OpenRouter).
  if (plain > 1e12) return clamped(plain - nowMs)
  return clamped(plain > 1e9 ? plain * 1000 - nowMs : plain * 1000)
}

/** The wait until a limit resets; where the headers show which limit is exhausted, that one's reset counts. */
function resetMs(header: (name: string) => string | null, nowMs: number): number | null {
  const waits: number[] = []
  const spent: number[] = []
  for (const suffix of ['-requests', '-tokens', '']) {
    const wait = reset(header(`x-ratelimit-reset${suffix}`), nowMs)
    if (wait === null) continue
    waits.push(wait)
    if (number(header(`x-ratelimit-remaining${suffix}`)) === 0) spent.push(wait)
  }
  const counted = spent.length > 0 ? spent : waits
  return counted.length === 0 ? null : Math.max(...counted)
}

/** Milliseconds between 0 and 60,000, or null where no header is readable. */
export function retryAfterMs(
  header: (name: string) => string | null,
  nowMs: number = Date.now(),
): number | null {
  const exact = number(header('retry-after-ms'))
  if (exact !== null) return clamped(exact)
  const stated = header('retry-after')
  const wait = stated === null ? null : retryAfter(stated, nowMs)
  return wait ?? resetMs(header, nowMs)
}
