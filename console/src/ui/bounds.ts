// The values that a field of an amount, a count or a name accepts, as a rule of its form, and the sentence that names
// these bounds.

import { i18n } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { type AmountBounds, decimalText, isAmount } from '../format.ts'

/** Credit, up to what the ledger can store. */
export const creditBounds = { least: '0', isAboveLeast: true, most: '9223372036', decimals: 9 }

/** A payment, if the deployment sets no narrower bounds. */
export const paymentBounds = { least: '0', isAboveLeast: true, most: '9999999.99', decimals: 2 }

/** A limit that is only compared: it has 18 digits. */
export const thresholdBounds = { least: '0', isAboveLeast: true, most: '999999999', decimals: 9 }

/** Multipliers of prices. */
export const multiplierBounds = { least: '0', most: '999999999', decimals: 6 }

export const priceBounds = { least: '0', most: '9223372036', decimals: 9 }

interface Optional {
  /** The field may be left empty. */
  readonly isOptional?: boolean
}

/** In the reader's language; undefined: the value is valid. */
export function amountProblem(text: string, bounds: AmountBounds & Optional): string | undefined {
  if ((bounds.isOptional === true && text.trim() === '') || isAmount(text, bounds)) return undefined
  const { decimals } = bounds
  const least = decimalText(bounds.least, i18n.locale)
  const most = decimalText(bounds.most, i18n.locale)
  return i18n._(
    bounds.isAboveLeast === true
      ? msg`Write an amount above ${least}, at most ${most}, in plain digits such as 12.50, with no more than ${decimals} after the point.`
      : msg`Write a number from ${least} to ${most}, in plain digits such as 12.50, with no more than ${decimals} after the point.`,
  )
}

interface CountBounds extends Optional {
  readonly least: number
  readonly most: number
}

/** The same for a whole number. */
export function countProblem(
  text: string,
  { least, most, isOptional = false }: CountBounds,
): string | undefined {
  const typed = text.trim()
  if (isOptional && typed === '') return undefined
  const isWithin = /^-?\d{1,15}$/.test(typed) && Number(typed) >= least && Number(typed) <= most
  if (isWithin) return undefined
  const from = decimalText(String(least), i18n.locale)
  const to = decimalText(String(most), i18n.locale)
  return i18n._(msg`Write a whole number from ${from} to ${to}.`)
}

export function amountRule(bounds: AmountBounds & Optional) {
  return { validate: (text: string) => amountProblem(text, bounds) }
}

export function countRule(bounds: CountBounds) {
  return { validate: (text: string) => countProblem(text, bounds) }
}

/** The name of a channel or a group; `missing` is said of none. */
export function nameRule(missing: string) {
  return {
    required: missing,
    pattern: {
      value: /^\s*[A-Za-z0-9][\w.:@/-]{0,127}\s*$/,
      message: i18n._(
        msg`Begin with a letter from A to Z or a digit; write at most 128 letters, digits and . _ - : @ / without spaces.`,
      ),
    },
  }
}
