// Monthly statements: as a page that the browser prints to PDF, and as CSV.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readAll } from '../../api/client.ts'
import { apiAddress } from '../../api/viewing.ts'
import { useScope } from '../../app/account-scope.tsx'
import { monthRange } from '../../app/range.ts'
import { monthText } from '../../format.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { Card } from '../../ui/page.tsx'
import { Empty, Widget } from '../../ui/state.tsx'
import { Badge } from '../../ui/values.tsx'

export function Statements({ account }: { readonly account: string }) {
  const { i18n } = useLingui()
  const timeZone = useTimeZone()
  const ofAccount = useScope(account)
  const months = useQuery(readAll('/api/statements', { account, timeZone }))
  const language = i18n.locale === 'zh-CN' ? 'zh-CN' : 'en'
  const address = (month: string, format: 'html' | 'csv') =>
    apiAddress(
      `/api/statements/${month}?${new URLSearchParams({ account, timeZone, language, format })}`,
    )
  return (
    <Card title={<Trans>Statements</Trans>}>
      <Widget query={months}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={<Trans>No month has a movement of money yet.</Trans>} />
          ) : (
            <ul className="divide-y divide-border">
              {items.map(({ month, open }) => (
                <li key={month} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
                  <span className="min-w-32 font-medium">{monthText(month, i18n.locale)}</span>
                  {open && (
                    <Badge>
                      <Trans>not over yet</Trans>
                    </Badge>
                  )}
                  <span className="ml-auto flex flex-wrap gap-x-4">
                    <Link to="/requests" search={{ ...ofAccount, ...monthRange(month, timeZone) }}>
                      <Trans>Requests</Trans>
                    </Link>
                    <a href={address(month, 'html')} target="_blank" rel="noopener">
                      <Trans>Open to print or save as PDF</Trans>
                    </a>
                    <a href={address(month, 'csv')} download>
                      CSV
                    </a>
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Widget>
    </Card>
  )
}
