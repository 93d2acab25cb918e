// How money, tokens, durations and times are written; the only place that turns numbers into text.

export type Nano = bigint

const nanosPerUnit = 1_000_000_000n

/** Of the API's decimal strings of nano-units. */
export function nano(text: string): Nano {
  return BigInt(text)
}

function symbolOf(currency: string, locale: string): string {
  try {
    const parts = new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
    }).formatToParts(0)
    const symbol = parts.find(({ type }) => type === 'currency')?.value ?? currency
    return /^[A-Z]{3}$/.test(symbol) ? `${symbol}\u00a0` : symbol
  } catch {
    // A deployment may count in a unit that is no currency of the world.
    return `${currency}\u00a0`
  }
}

/** Every digit: `$0.000012345`, `-¥1,234.50`. At least two decimals. */
export function exactMoney(amount: string | Nano, currency: string, locale: string): string {
  const value = BigInt(amount)
  const size = value < 0n ? -value : value
  const whole = (size / nanosPerUnit).toLocaleString(locale)
  const decimals = (size % nanosPerUnit)
    .toString()
    .padStart(9, '0')
    .replace(/0{1,7}$/, '')
  return `${value < 0n ? '−' : ''}${symbolOf(currency, locale)}${whole}.${decimals}`
}

/**
 * Two decimals from 1 up, up to four significant digits below, never an exponent. Rounded to the nearest, or with `down`
 * towards zero: a balance is never shown larger than it is.
 */
export function shortMoney(
  amount: string | Nano,
  currency: string,
  locale: string,
  down = false,
): string {
  const value = BigInt(amount)
  const size = value < 0n ? -value : value
  const sign = value < 0n ? '−' : ''
  const symbol = symbolOf(currency, locale)
  if (size === 0n) return `${symbol}0.00`
  if (size >= nanosPerUnit) {
    const cents = (size + (down ? 0n : 5_000_000n)) / 10_000_000n
    const whole = (cents / 100n).toLocaleString(locale)
    return `${sign}${symbol}${whole}.${(cents % 100n).toString().padStart(2, '0')}`
  }
  const digits = size.toString().padStart(9, '0')
  const first = digits.search(/[1-9]/)
  const kept = BigInt(`1${'0'.repeat(Math.max(0, 9 - first - 4))}`)
  const rounded = ((size + (down ? 0n : kept / 2n)) / kept) * kept
  if (rounded >= nanosPerUnit) return `${sign}${symbol}1.00`
  const decimals = rounded
    .toString()
    .padStart(9, '0')
    .replace(/0{1,7}$/, '')
  return `${sign}${symbol}0.${decimals}`
}

/** `12.4 K`, `3.1 M`; below ten thousand all digits. */
export function shortCount(count: number, locale: string): string {
  if (Math.abs(count) < 10_000) return count.toLocaleString(locale)
  const [size, unit] =
    Math.abs(count) >= 1e9 ? [1e9, 'B'] : Math.abs(count) >= 1e6 ? [1e6, 'M'] : [1e3, 'K']
  return `${(count / size).toLocaleString(locale, { maximumFractionDigits: 1 })}\u00a0${unit}`
}

/** `840 ms`, `12.4 s`, `3 min 20 s`. */
export function duration(ms: number, locale: string): string {
  if (ms < 1_000) return `${Math.round(ms).toLocaleString(locale)}\u00a0ms`
  if (ms < 120_000)
    return `${(ms / 1_000).toLocaleString(locale, { maximumFractionDigits: 1 })}\u00a0s`
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)}\u00a0min ${seconds % 60}\u00a0s`
}

/** Of a ratio from 0 to 1: `12.3 %`. */
export function percent(ratio: number, locale: string): string {
  return `${(ratio * 100).toLocaleString(locale, { maximumFractionDigits: ratio < 0.1 ? 2 : 1 })}\u00a0%`
}

export function dateTime(at: string | number | Date, locale: string, timeZone: string): string {
  return new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone,
    hourCycle: 'h23',
  }).format(new Date(at))
}

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

/** `3 minutes ago`; past 30 days the date. */
export function relativeTime(
  at: string | number | Date,
  nowMs: number,
  locale: string,
  timeZone: string,
): string {
  const seconds = (new Date(at).getTime() - nowMs) / 1_000
  if (Math.abs(seconds) > 30 * 86_400) {
    return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone }).format(new Date(at))
  }
  const [unit, size] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(
    Math.trunc(seconds / size),
    unit,
  )
}

/** `req_01J…9QX`: ids are told apart by both ends. */
export function shortId(id: string): string {
  return id.length <= 16 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`
}
