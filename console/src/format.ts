// How money, tokens, durations and times are written; the only place that turns numbers into text.

export type Nano = bigint

const nanosPerUnit = 1_000_000_000n

/** In typed form: `12.5`, `0.000000001`. */
export function unitsOfNano(amount: string): string {
  const digits = amount.padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '')
}

/** The reverse: from a decimal with at most nine places. */
export function nanoOfUnits(units: string): string {
  const [whole = '', fraction = ''] = units.split('.')
  return String(BigInt(whole + fraction.padEnd(9, '0')))
}

/** Making a format takes far longer than using it, and a table uses few of them in hundreds of cells. */
function kept<Format>(make: (locale: string, detail: string) => Format) {
  const made = new Map<string, Format>()
  return (locale: string, detail = ''): Format => {
    const key = `${locale} ${detail}`
    const format = made.get(key) ?? make(locale, detail)
    made.set(key, format)
    return format
  }
}

const wholeNumbers = kept((locale) => new Intl.NumberFormat(locale))
const decimals = kept(
  (locale, most) => new Intl.NumberFormat(locale, { maximumFractionDigits: Number(most) }),
)
const padded = kept(
  (locale, count) =>
    new Intl.NumberFormat(locale, {
      minimumFractionDigits: Number(count),
      maximumFractionDigits: Number(count),
    }),
)
const symbolOf = kept(findSymbol)
const moments = kept(
  (locale, timeZone) =>
    new Intl.DateTimeFormat(locale, {
      dateStyle: 'medium',
      timeStyle: 'medium',
      timeZone,
      hourCycle: 'h23',
    }),
)
const momentsOfYear = kept(
  (locale, timeZone) =>
    new Intl.DateTimeFormat(locale, {
      ...{ month: 'short', day: 'numeric' },
      ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
      timeZone,
      hourCycle: 'h23',
    }),
)
const years = kept(
  (locale, timeZone) => new Intl.DateTimeFormat(locale, { year: 'numeric', timeZone }),
)
const dates = kept(
  (locale, timeZone) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone }),
)
const months = kept(
  (locale) => new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'long', timeZone: 'UTC' }),
)
const spans = kept((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }))

/** From the API's decimal strings of nano-units. */
export function nano(text: string): Nano {
  return BigInt(text)
}

function findSymbol(locale: string, currency: string): string {
  try {
    const parts = new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
    }).formatToParts(0)
    const symbol = parts.find(({ type }) => type === 'currency')?.value ?? currency
    return /^[A-Z]{3}$/.test(symbol) ? `${symbol}\u00a0` : symbol
  } catch {
    // A deployment may count in a unit that is not an official currency.
    return `${currency}\u00a0`
  }
}

/** Every digit: `$0.000012345`, `-¥1,234.50`. At least two decimals. */
export function exactMoney(amount: string | Nano, currency: string, locale: string): string {
  const value = BigInt(amount)
  const size = value < 0n ? -value : value
  const whole = wholeNumbers(locale).format(size / nanosPerUnit)
  const fraction = (size % nanosPerUnit)
    .toString()
    .padStart(9, '0')
    .replace(/0{1,7}$/, '')
  return `${value < 0n ? '−' : ''}${symbolOf(locale, currency)}${whole}.${fraction}`
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
  const symbol = symbolOf(locale, currency)
  if (size === 0n) return `${symbol}0.00`
  if (size >= nanosPerUnit) {
    const cents = (size + (down ? 0n : 5_000_000n)) / 10_000_000n
    const whole = wholeNumbers(locale).format(cents / 100n)
    return `${sign}${symbol}${whole}.${(cents % 100n).toString().padStart(2, '0')}`
  }
  const digits = size.toString().padStart(9, '0')
  const first = digits.search(/[1-9]/)
  const kept = BigInt(`1${'0'.repeat(Math.max(0, 9 - first - 4))}`)
  const rounded = ((size + (down ? 0n : kept / 2n)) / kept) * kept
  if (rounded >= nanosPerUnit) return `${sign}${symbol}1.00`
  const fraction = rounded
    .toString()
    .padStart(9, '0')
    .replace(/0{1,7}$/, '')
  return `${sign}${symbol}0.${fraction}`
}

/** `$12.34 K`, `$1.23 M`, always rounded towards zero; below ten thousand as `shortMoney` with `down`. */
export function briefMoney(amount: string | Nano, currency: string, locale: string): string {
  const value = BigInt(amount)
  const units = (value < 0n ? -value : value) / nanosPerUnit
  const found = sizes.find(([size]) => units >= size)
  if (found === undefined || units < 10_000n) return shortMoney(amount, currency, locale, true)
  const [size, unit] = found
  const shown = padded(locale, '2').format(Number((units * 100n) / size) / 100)
  return `${value < 0n ? '−' : ''}${symbolOf(locale, currency)}${shown}\u00a0${unit}`
}

const sizes = [
  [1_000_000_000n, 'B'],
  [1_000_000n, 'M'],
  [1_000n, 'K'],
] as const

/** All digits, in groups as the language writes them. */
export function wholeCount(count: number, locale: string): string {
  return wholeNumbers(locale).format(count)
}

/**
 * `12.4 K`, `3.1 M`; below ten thousand all digits. `pad`, here and below: also `61.0 M`, so that the numbers of a
 * column have the same decimals; without it, as on the axis of a chart, `61 M`.
 */
export function shortCount(count: number, locale: string, pad = false): string {
  if (Math.abs(count) < 10_000) return wholeCount(count, locale)
  const [size, unit] =
    Math.abs(count) >= 1e9 ? [1e9, 'B'] : Math.abs(count) >= 1e6 ? [1e6, 'M'] : [1e3, 'K']
  return `${(pad ? padded : decimals)(locale, '1').format(count / size)}\u00a0${unit}`
}

/** `840 ms`, `12.4 s`, `3 min 20 s`. */
export function duration(ms: number, locale: string, pad = false): string {
  if (ms < 1_000) return `${wholeCount(Math.round(ms), locale)}\u00a0ms`
  if (ms < 120_000) return `${(pad ? padded : decimals)(locale, '1').format(ms / 1_000)}\u00a0s`
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)}\u00a0min ${seconds % 60}\u00a0s`
}

/** From a ratio from 0 to 1: `12.3 %`, `1.25 %`; all and nothing without decimals. Less than all is never `100 %`. */
export function percent(given: number, locale: string, pad = false): string {
  const ratio = given > 0.999 && given < 1 ? 0.999 : given
  const isPadded = pad && ratio !== 0 && ratio !== 1
  const format = (isPadded ? padded : decimals)(locale, ratio < 0.1 ? '2' : '1')
  return `${format.format(ratio * 100)}\u00a0%`
}

/** Tokens or requests per second, all with one decimal: `96.3`, `3,402.0`. */
export function rateText(rate: number, locale: string): string {
  return padded(locale, '1').format(rate)
}

/** `0.35 ms`, for times of which hundredths matter. */
export function shortDuration(ms: number, locale: string): string {
  return `${padded(locale, '2').format(ms)}\u00a0ms`
}

export function dateTime(at: string | number | Date, locale: string, timeZone: string): string {
  return moments(locale, timeZone).format(new Date(at))
}

/** For columns of times: the year only if it is not the present one. */
export function briefTime(at: string, nowMs: number, locale: string, timeZone: string): string {
  const year = years(locale, timeZone)
  const isThisYear = year.format(new Date(at)) === year.format(nowMs)
  return (isThisYear ? momentsOfYear : moments)(locale, timeZone).format(new Date(at))
}

/** `2026-11` as `November 2026`. */
export function monthText(month: string, locale: string): string {
  return months(locale).format(new Date(`${month}-01T00:00:00Z`))
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
  if (Math.abs(seconds) > 30 * 86_400) return dates(locale, timeZone).format(new Date(at))
  const [unit, size] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return spans(locale).format(Math.trunc(seconds / size), unit)
}

/** The id of a request contains milliseconds of fifty days; the rest is the same for all ids of a node. */
const requestId = /^req_[0-9a-f]{4}([0-9a-f]{8})[0-9a-f]{16}$/

/** `acc_01J4…P9QX`: ids differ at both ends, those of requests in the middle. */
export function shortId(id: string): string {
  const time = requestId.exec(id)?.[1]
  if (time !== undefined) return `req_…${time}…`
  return id.length <= 16 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`
}

/** The text that a field of an amount accepts: plain digits, at most this many of them after the point. */
export interface AmountBounds {
  readonly least: string
  /** `least` itself is not accepted. */
  readonly isAboveLeast?: boolean
  readonly most: string
  /** Nine at most. */
  readonly decimals: number
}

export function isAmount(text: string, bounds: AmountBounds): boolean {
  const typed = text.trim()
  const [, fraction = ''] = typed.split('.')
  if (!/^\d{1,15}(\.\d+)?$/.test(typed) || fraction.length > bounds.decimals) return false
  const [value, least, most] = [typed, bounds.least, bounds.most].map((units) =>
    BigInt(nanoOfUnits(units)),
  ) as [Nano, Nano, Nano]
  if (value > most || value < least) return false
  return value > least || bounds.isAboveLeast !== true
}

/** An amount at a provider, given as plain digits, with all its decimals: `1,234.50`. */
export function providerAmount(amount: string, locale: string): string {
  const [whole = '', ...fraction] = amount.split('.')
  return [wholeNumbers(locale).format(BigInt(whole)), ...fraction].join('.')
}

/** A decimal given as plain digits, grouped as in the language: `1,234.5`. */
export function decimalText(units: string, locale: string): string {
  return decimals(locale, '9').format(Number(units))
}
