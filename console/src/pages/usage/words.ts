// Names of metrics, dimensions and kinds of tokens, and how a metric's values are written.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { useCallback } from 'react'
import { useKeyName } from '../../api/names.ts'
import { duration, percent, shortCount, shortMoney } from '../../format.ts'
import { useKindName } from '../../ui/model-kind.tsx'
import type { Dimension, Interval, Metric } from './search.ts'

export const metricWords: Readonly<Record<Metric, MessageDescriptor>> = {
  spend: msg`Spend`,
  requests: msg`Requests`,
  tokens: msg`Tokens`,
  errors: msg`Errors`,
  errorRate: msg`Error rate`,
  ttftP50: msg`First token, p50`,
  ttftP95: msg`First token, p95`,
  latencyP50: msg`Latency p50`,
  latencyP95: msg`Latency p95`,
  throughput: msg`Throughput`,
  cacheRate: msg`Cache rate`,
}

export const dimensionWords: Readonly<Record<Dimension, MessageDescriptor>> = {
  none: msg`No grouping`,
  model: msg`Model`,
  key: msg`Key`,
  group: msg`Group`,
  operation: msg`Endpoint`,
  statusClass: msg`Status`,
  tag: msg`Tag`,
  channel: msg`Channel`,
  account: msg`Account`,
}

export const intervalWords: Readonly<Record<Interval, MessageDescriptor>> = {
  quarter: msg`By quarter of an hour`,
  hour: msg`By hour`,
  day: msg`By day`,
  week: msg`By week`,
  month: msg`By month`,
}

export const tokenWords = {
  input: msg`Input`,
  cachedInput: msg`Cached input`,
  cacheWrite: msg`Cache write (5 min)`,
  cacheWrite1h: msg`Cache write (1 h)`,
  audioInput: msg`Audio input`,
  imageInput: msg`Image input`,
  output: msg`Output`,
  reasoning: msg`Reasoning`,
  audioOutput: msg`Audio output`,
  imageOutput: msg`Image output`,
} as const satisfies Readonly<Record<string, MessageDescriptor>>

/** The name of a value of a dimension. */
export function useValueName(): (dimension: string, value: string) => string {
  const { t } = useLingui()
  const keyName = useKeyName()
  const kindName = useKindName()
  return useCallback(
    (dimension: string, value: string) => {
      if (dimension === 'key') return keyName(value)
      if (value !== '') return dimension === 'operation' ? kindName(value) : value
      if (dimension === 'tag') return t`No tag`
      return dimension === 'channel' ? t`No channel tried` : t`Unknown`
    },
    [keyName, kindName, t],
  )
}

/** Metrics whose parts add up are bars, others lines. */
export function isSum(unit: string): boolean {
  return unit === 'nano' || unit === 'requests' || unit === 'tokens'
}

/** For a number in a metric's unit; money in nano-units. */
export function useWrite(unit: string, currency: string): (value: number) => string {
  const { i18n, t } = useLingui()
  const { locale } = i18n
  return (value) => {
    if (unit === 'nano') return shortMoney(BigInt(Math.round(value)), currency, locale)
    if (unit === 'ms') return duration(value, locale)
    if (unit === 'ratio') return percent(value, locale)
    if (unit === 'tokens/s') {
      const speed = value.toLocaleString(locale, { maximumFractionDigits: 1 })
      return t`${speed} tok/s`
    }
    return shortCount(value, locale)
  }
}
