// Money: whole nano-units of the deployment's one currency, as bigint, and the one rounding rule.

/** A billionth of the currency's unit. Never a float. */
export type Nano = bigint

export const nanoPerUnit = 1_000_000_000n

/** The largest int64, the type of every money column. */
export const maxNano = 9_223_372_036_854_775_807n

/**
 * Reads a decimal of at least 0 with at most nine places (`12.50`), as an operator writes it; null where it is anything
 * else, or more than the database can hold. Never goes through a float.
 */
export function parseUnits(text: string): Nano | null {
  const match = /^(\d{1,10})(?:\.(\d{1,9}))?$/.exec(text)
  if (match === null) return null
  const nano = BigInt(match[1] ?? '0') * nanoPerUnit + BigInt((match[2] ?? '').padEnd(9, '0'))
  return nano > maxNano ? null : nano
}

/** The exact decimal, without trailing zeros: `0.000123`, `12`, `-3.5`. */
export function formatUnits(nano: Nano): string {
  const sign = nano < 0n ? '-' : ''
  const digits = String(nano < 0n ? -nano : nano).padStart(10, '0')
  const fraction = digits.slice(-9).replace(/0+$/, '')
  return `${sign}${digits.slice(0, -9)}${fraction === '' ? '' : `.${fraction}`}`
}

/** The quotient rounded up; `dividend` at least 0, `divisor` above 0. */
export function ceilDiv(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}
