// The API query for the page's address: the same for the chart, the table and the files.

import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useAccount } from '../../app/account-scope.tsx'
import { type Range, rangeOf } from '../../app/range.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { useNow } from '../../ui/values.tsx'
import { type Dimension, filterNames, type Metric, type UsageSearch } from './search.ts'

/** Parameters of the API: lists are joined by commas, and a comma within a name is preceded by a backslash. */
function filtersOf(search: UsageSearch) {
  return Object.fromEntries(
    filterNames.flatMap((name) => {
      const chosen = search[name]
      if (chosen === undefined) return []
      return [[name, chosen.map((value) => value.replaceAll(',', '\\,')).join(',')]]
    }),
  )
}

export interface Asked {
  readonly search: UsageSearch
  readonly metric: Metric
  readonly by: readonly Exclude<Dimension, 'none'>[]
  readonly range: Range
  /** Range, zone and account. */
  readonly span: {
    readonly since: string
    readonly until: string
    readonly timeZone: string
    readonly account?: string
  }
  readonly filters: Readonly<Record<string, string>>
}

export function useAsked(): Asked {
  const search = useSearch({ from: '/shell/usage' })
  const account = useAccount()
  const timeZone = useTimeZone()
  const nowMs = useNow(60_000)
  return useMemo(() => {
    const range = rangeOf(search, nowMs, timeZone, '7d')
    const first = search.by ?? 'model'
    const second = first === 'none' || search.by2 === first ? undefined : search.by2
    return {
      search,
      metric: search.metric ?? 'spend',
      by: first === 'none' ? [] : second === undefined ? [first] : [first, second],
      range,
      span: {
        since: range.since,
        until: range.until,
        timeZone,
        ...(account !== undefined && { account }),
      },
      filters: filtersOf(search),
    }
  }, [search, account, timeZone, nowMs])
}

/** Changes a part of the address; filters add no step to the browser's history. */
export function useChange(): (change: Partial<UsageSearch>, options?: { push?: boolean }) => void {
  const navigate = useNavigate({ from: '/usage' })
  return (change, { push = false } = {}) =>
    void navigate({ search: (search) => ({ ...search, ...change }), replace: !push })
}
