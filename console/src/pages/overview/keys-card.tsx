// The keys that spent the most in the period.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '../../api/client.ts'
import { useKeyName } from '../../api/names.ts'
import { Card } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { Money, Percent } from '../../ui/values.tsx'
import type { Asked } from './asked.ts'

export function KeysCard({ asked: { span, whose } }: { readonly asked: Asked }) {
  const { t } = useLingui()
  const keyName = useKeyName()
  const query = useQuery({
    ...read('/api/statistics/breakdown', {
      params: { query: { ...span, ...whose, by: 'key', limit: 5 } },
    }),
    placeholderData: keepPreviousData,
  })
  return (
    <Card
      title={<Trans>Top keys</Trans>}
      actions={
        <Link to="/keys">
          <Trans>API keys</Trans>
        </Link>
      }
    >
      <Widget query={query} skeleton={<Skeleton rows={5} height={32} />}>
        {({ rows, currency }) =>
          rows.length === 0 ? (
            <Empty title={<Trans>No key was used in this period.</Trans>} />
          ) : (
            <ul className="flex flex-col gap-3">
              {rows.map(({ group: { key }, otherGroups = 0, spendNano, share, requests }) => (
                <li key={key ?? ''}>
                  <div className="flex items-baseline justify-between gap-3">
                    <span className="min-w-0 truncate">
                      {key === undefined ? (
                        <span className="text-text-2">{t`Others: ${otherGroups}`}</span>
                      ) : (
                        <Link
                          to="/usage"
                          search={{ key: [key], since: span.since, until: span.until }}
                        >
                          {keyName(key)}
                        </Link>
                      )}
                    </span>
                    <Money nano={spendNano} currency={currency} />
                  </div>
                  <div
                    aria-hidden="true"
                    className="mt-1 h-1 rounded bg-sunken forced-color-adjust-none"
                  >
                    <div
                      className="h-1 rounded bg-text-3"
                      style={{ width: `${(share ?? 0) * 100}%` }}
                    />
                  </div>
                  <div className="mt-1 flex justify-between text-label font-normal text-text-2">
                    <Plural value={requests} one="# request" other="# requests" />
                    <Percent ratio={share} />
                  </div>
                </li>
              ))}
            </ul>
          )
        }
      </Widget>
    </Card>
  )
}
