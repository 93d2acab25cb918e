// The clock of providers in China: UTC+8 all year.

const offsetMs = 8 * 3_600_000
const offset = '+08:00'
const dayMs = 86_400_000

/** `2026-01-31 23:59:59`, as Alipay writes times. */
export function chinaTime(at: number): string {
  return new Date(at + offsetMs).toISOString().slice(0, 19).replace('T', ' ')
}

/** The same read, or NaN. */
export function readChinaTime(text: string): number {
  return Date.parse(`${text.replace(' ', 'T')}${offset}`)
}

/** Of `2026-01-31`: from its first millisecond up to the next day's. */
export function chinaDay(day: string): { readonly since: number; readonly until: number } {
  const since = Date.parse(`${day}T00:00:00${offset}`)
  return { since, until: since + dayMs }
}
