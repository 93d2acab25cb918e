// The link from a bar to its requests: the same filters, the bar's group and its span.

import { useNavigate } from '@tanstack/react-router'
import type { Asked } from './asked.ts'
import { filterNames } from './search.ts'

interface Part {
  /** Values by dimension. */
  readonly group: Readonly<Record<string, string>>
  readonly start: string
  readonly end: string
}

export function useOpenRequests({ search }: Asked): (part: Part) => void {
  const navigate = useNavigate()
  return ({ group, start, end }) => {
    const chosen = filterNames.flatMap((name) => {
      const one = search[name]?.length === 1 ? search[name]?.[0] : undefined
      const value = group[name] ?? one
      return value === undefined || value === '' ? [] : [[name, value]]
    })
    const account = group['account']
    void navigate({
      to: '/requests',
      search: Object.fromEntries([
        ...chosen,
        ...(account === undefined ? [] : [['account', account]]),
        ['since', start],
        ['until', end],
        ...(search.metric === 'errors' || search.metric === 'errorRate'
          ? [['outcome', 'failed']]
          : []),
      ]),
    })
  }
}
