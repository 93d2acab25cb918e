// A key's limits as a form holds them, as text, and as the API takes them.

import type { Shape } from '../../api/client.ts'
import { fromLocalInput, toLocalInput } from '../../app/range.ts'
import { unitsOfNano } from '../../format.ts'

export const periods = ['day', 'week', 'month', 'never'] as const
export const historyModes = ['off', 'metadata', 'full', 'sealed'] as const
export const expiryPresets = ['never', '1h', '1d', '30d', '90d', '365d', 'at'] as const

export interface KeyValues {
  readonly name: string
  readonly group: string
  readonly models: string
  readonly deniedModels: string
  readonly amount: string
  readonly period: (typeof periods)[number]
  readonly timeZone: string
  readonly requestsPerMinute: string
  readonly tokensPerMinute: string
  readonly concurrentRequests: string
  readonly addresses: string
  readonly expiry: (typeof expiryPresets)[number]
  readonly expiresAt: string
  readonly historyMode: '' | (typeof historyModes)[number]
  readonly showCost: boolean
}

export function emptyValues(group: string, timeZone: string): KeyValues {
  return {
    name: '',
    group,
    models: '',
    deniedModels: '',
    amount: '',
    period: 'month',
    timeZone,
    requestsPerMinute: '',
    tokensPerMinute: '',
    concurrentRequests: '',
    addresses: '',
    expiry: 'never',
    expiresAt: '',
    historyMode: '',
    showCost: false,
  }
}

export function valuesOf(key: Shape<'Key'>, timeZone: string): KeyValues {
  const { limits, spendLimit } = key
  const numberText = (value: number | null) => (value === null ? '' : String(value))
  return {
    name: key.name,
    group: key.group,
    models: key.models?.join('\n') ?? '',
    deniedModels: key.deniedModels?.join('\n') ?? '',
    amount: spendLimit === null ? '' : unitsOfNano(spendLimit.amountNano),
    period: spendLimit?.period ?? 'month',
    timeZone: spendLimit?.timeZone ?? timeZone,
    requestsPerMinute: numberText(limits.requestsPerMinute),
    tokensPerMinute: numberText(limits.tokensPerMinute),
    concurrentRequests: numberText(limits.concurrentRequests),
    addresses: key.addresses?.join('\n') ?? '',
    expiry: key.expiresAt === null ? 'never' : 'at',
    expiresAt: key.expiresAt === null ? '' : toLocalInput(key.expiresAt, timeZone),
    historyMode: key.historyMode ?? '',
    showCost: key.showCost,
  }
}

const presetMs: Readonly<Record<string, number>> = {
  '1h': 3_600_000,
  '1d': 86_400_000,
  '30d': 30 * 86_400_000,
  '90d': 90 * 86_400_000,
  '365d': 365 * 86_400_000,
}

/** The typed values, independent of the time of sending: the same body with the same Idempotency-Key. */
export function bodyOf(values: KeyValues, sentMs: number, timeZone: string) {
  return {
    name: values.name.trim(),
    group: values.group,
    models: listOf(values.models),
    deniedModels: listOf(values.deniedModels),
    addresses: listOf(values.addresses),
    requestsPerMinute: numberOf(values.requestsPerMinute),
    tokensPerMinute: numberOf(values.tokensPerMinute),
    concurrentRequests: numberOf(values.concurrentRequests),
    spendLimit:
      values.amount.trim() === ''
        ? null
        : {
            amount: values.amount.trim(),
            period: values.period,
            timeZone: values.timeZone || null,
          },
    expiresAt: expiryOf(values, sentMs, timeZone),
    historyMode: values.historyMode === '' ? null : values.historyMode,
    showCost: values.showCost,
  }
}

function expiryOf({ expiry, expiresAt }: KeyValues, sentMs: number, timeZone: string) {
  if (expiry === 'never') return null
  // A value that cannot be parsed is sent unchanged: the server says what it expects.
  if (expiry === 'at') return fromLocalInput(expiresAt, timeZone) ?? expiresAt
  return new Date(sentMs + (presetMs[expiry] ?? 0)).toISOString()
}

/** One per line, or separated by commas. */
function listOf(text: string): string[] | null {
  const items = text
    .split(/[\n,]/)
    .map((item) => item.trim())
    .filter((item) => item !== '')
  return items.length === 0 ? null : items
}

/** A value that is not a number becomes NaN, which JSON cannot express: the form refuses it before. */
function numberOf(text: string): number | null {
  return text.trim() === '' ? null : Number(text)
}

const fieldNames: Readonly<Record<string, keyof KeyValues>> = {
  'spendLimit.period': 'period',
  'spendLimit.timeZone': 'timeZone',
  spendLimit: 'amount',
}

/** The field of the form for a refusal of an API field, or of an item of a list. */
export function formField(field: string, values: KeyValues): keyof KeyValues | null {
  const found = Object.keys(fieldNames).find((name) => field.startsWith(name))
  if (found !== undefined) return fieldNames[found] ?? null
  const name = field.split(/[.[]/)[0] ?? ''
  return Object.hasOwn(values, name) ? (name as keyof KeyValues) : null
}
