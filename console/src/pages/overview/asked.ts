// What every part of the page queries: the period, the zone and the account.

import { useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useAccount } from '../../app/account-scope.tsx'
import { rangeOf, startOfDay } from '../../app/range.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { useNow } from '../../ui/values.tsx'
import type { Period } from './search.ts'

export interface Asked {
  readonly period: Period
  /** Parameters of the API. */
  readonly span: { readonly since: string; readonly until: string; readonly timeZone: string }
  readonly whose: { readonly account?: string }
}

export function useAsked(): Asked {
  const { period = 'days7' } = useSearch({ from: '/shell/' })
  const account = useAccount()
  const timeZone = useTimeZone()
  const nowMs = useNow(60_000)
  return useMemo(() => {
    const range = period === 'days30' ? '30d' : '7d'
    const { since, until } = rangeOf({ range }, nowMs, timeZone)
    const midnight = new Date(startOfDay(nowMs, timeZone)).toISOString()
    return {
      period,
      span: { since: period === 'today' ? midnight : since, until, timeZone },
      whose: account === undefined ? {} : { account },
    }
  }, [period, account, timeZone, nowMs])
}
