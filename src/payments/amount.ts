// Amounts as customers write them and providers count them, without floating-point arithmetic.

import { createHash } from 'node:crypto'
import { type Nano, nanoPerUnit } from '../money.ts'

/** Minor units of a currency with two decimals; null for anything but plain digits such as `12.50`. */
export function parseMinor(text: string): number | null {
  const match = /^([0-9]{1,12})(?:\.([0-9]{1,2}))?$/.exec(text)
  if (match === null) return null
  return Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'))
}

/** Two decimals: `12.50`. */
export function minorText(minor: number): string {
  const digits = String(minor).padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** `rate`: units of the deployment's currency for one unit of the provider's, with at most seven decimals. */
export function nanoPerMinor(rate: string): Nano {
  const [whole = '0', fraction = ''] = rate.split('.')
  return BigInt(whole + fraction.padEnd(7, '0'))
}

/** `percent` with at most four decimals; rounded down, in the operator's favour. */
export function percentOf(nano: Nano, percent: string): Nano {
  const [whole = '0', fraction = ''] = percent.split('.')
  return (nano * BigInt(whole + fraction.padEnd(4, '0'))) / 1_000_000n
}

export function nanoOf(units: string): Nano {
  const [whole = '0', fraction = ''] = units.split('.')
  return BigInt(whole) * nanoPerUnit + BigInt(fraction.padEnd(9, '0'))
}

/** A hash, so that a repeated payer is recognised without storing who it is. */
export function payerHash(provider: string, payer: string | null | undefined): string | null {
  if (payer === null || payer === undefined || payer === '') return null
  return createHash('sha256').update(`${provider}:${payer}`).digest('hex')
}
