// Local time of providers in China: UTC+8 all year.

const offsetMs = 8 * 3_600_000
const offset = '+08:00'
const dayMs = 86_400_000

/** Formats a time as Alipay does: `2026-01-31 23:59:59`. */
export function chinaTime(at: number): string {
  return new Date(at + offsetMs).toISOString().slice(0, 19).replace('T', ' ')
}

/** Parses the same format to Unix milliseconds, or NaN. */
export function readChinaTime(text: string): number {
  return Date.parse(`${text.replace(' ', 'T')}${offset}`)
}

/** The day `2026-01-31` as Unix milliseconds: since <= at < until. */
export function chinaDay(day: string): { readonly since: number; readonly until: number } {
  const since = Date.parse(`${day}T00:00:00${offset}`)
  return { since, until: since + dayMs }
}
