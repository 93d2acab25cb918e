// The number of unread warnings of one's own account, with a link to them.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '../api/client.ts'
import { viewedAccount } from '../api/viewing.ts'
import { Icon } from '../ui/icon.tsx'

const unreadOnly = { params: { query: { unread: true, limit: 1 } } }

export function Bell() {
  const { t } = useLingui()
  const { data } = useQuery({
    ...read('/api/me/notices', unreadOnly),
    refetchInterval: 60_000,
    // They belong to the person alone.
    enabled: viewedAccount() === null,
  })
  const unread = data?.unread ?? 0
  const shown = unread >= 100 ? '99+' : String(unread)
  return (
    <Link
      to="/settings"
      search={{ tab: 'alerts' }}
      title={t`Warnings`}
      className="plain-link relative flex size-8 items-center justify-center rounded-control text-text-2 hover:bg-sunken max-md:size-11"
    >
      <Icon name="bell" />
      <span className="sr-only">
        {unread === 0 ? (
          <Trans>Warnings, none unread</Trans>
        ) : (
          <Trans>Warnings, {shown} unread</Trans>
        )}
      </span>
      {unread > 0 && (
        <span
          aria-hidden="true"
          className="tabular absolute top-0.5 right-0.5 rounded-full bg-danger px-1 text-[10px] leading-4 text-surface"
        >
          {shown}
        </span>
      )}
    </Link>
  )
}
