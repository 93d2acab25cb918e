// Requests: every call with its cost and the reason of a failure, as a list with filters, and live.

import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { memo, useCallback, useDeferredValue, useMemo } from 'react'
import { viewedAccount } from '../../api/viewing.ts'
import { useAccount } from '../../app/account-scope.tsx'
import { useListBounds } from '../../app/list-bounds.ts'
import { rangeOf } from '../../app/range.ts'
import type { Catalog } from '../../i18n.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { Button } from '../../ui/button.tsx'
import { later } from '../../ui/later.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/state.tsx'
import { useNow } from '../../ui/values.tsx'
import { ExportButton } from './export.tsx'
import { Filters } from './filters.tsx'
import { RequestList } from './list.tsx'
import { merged } from './merged.ts'
import { type Asked, histogramHeight, useRequests, useTail } from './queries.ts'
import { SavedViews } from './saved-views.tsx'
import type { RequestsSearch } from './search.ts'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

// The list is loaded first, then running requests; the code that shows one is loaded when the first is opened.
const Histogram = later(
  () => import('./histogram.tsx'),
  <Card>
    <Skeleton rows={1} height={histogramHeight} />
  </Card>,
)
const Running = later(() => import('./running.tsx'), null)
const RequestDrawer = later(() => import('./drawer.tsx'))

const route = getRouteApi('/shell/requests')

export default function RequestsPage() {
  const { t } = useLingui()
  const search = route.useSearch()
  const navigate = useNavigate()
  const zone = useTimeZone()
  const nowMs = useNow(60_000)
  const account = useAccount()
  const range = useMemo(() => rangeOf(search, nowMs, zone), [search, nowMs, zone])
  const bounds = useListBounds(search, '24h')
  const asked = useMemo(
    () => ({ search, range, bounds, account }),
    [search, range, bounds, account],
  )
  // The pressed button shows at once; the list follows.
  const shown = useDeferredValue(asked)
  const isLive = isFollowed(asked)
  const change = useCallback(
    (next: Partial<RequestsSearch>, replace = false) =>
      void navigate({ to: '.', search: (before) => ({ ...before, ...next }), replace }),
    [navigate],
  )
  return (
    <Page
      title={<Trans>Requests</Trans>}
      purpose={
        <Trans>Every call: what was asked, who answered, what it cost, and why it failed.</Trans>
      }
      actions={
        <>
          {/* They belong to the signed-in person, not to the account that is viewed. */}
          {viewedAccount() === null && <SavedViews search={search} onChange={change} />}
          <ExportButton asked={asked} />
          <Button
            variant={isLive ? 'primary' : 'secondary'}
            icon={isLive ? 'pause' : 'play'}
            aria-pressed={isLive}
            onClick={() => change(isLive ? { live: undefined } : followed(asked))}
          >
            {isLive ? t`Following` : t`Follow live`}
          </Button>
        </>
      }
      filters={<Filters search={search} range={range} account={account} onChange={change} />}
    >
      <Listed asked={shown} onChange={change} />
    </Page>
  )
}

interface ListedProps {
  readonly asked: Asked
  /** `replace`: without a step of the browser's history. */
  readonly onChange: (next: Partial<RequestsSearch>, replace?: boolean) => void
}

const Listed = memo(PlainListed)

function PlainListed({ asked, onChange }: ListedProps) {
  const { search, account } = asked
  const list = useRequests(asked)
  const isLive = isFollowed(asked)
  const tail = useTail(asked, isLive)
  const rows = useRows(list, tail)
  const place = rows.findIndex(({ requestId }) => requestId === search.open)
  const previous = rows[place - 1]?.requestId
  const next = rows[place + 1]?.requestId
  // The last row that is loaded is not the last of the list.
  async function openNext() {
    const loaded = next === undefined ? (await list.fetchNextPage()).data : undefined
    const following = next ?? loaded?.pages.at(-1)?.items[0]?.requestId
    if (following !== undefined) onChange({ open: following }, true)
  }
  return (
    <>
      <Running account={account} />
      <Histogram asked={asked} onChange={onChange} />
      <RequestList
        list={list}
        rows={rows}
        search={search}
        tail={isLive ? tail : null}
        onChange={onChange}
      />
      {search.open !== undefined && (
        <RequestDrawer
          key={search.open}
          id={search.open}
          tab={search.tab ?? 'overview'}
          onTab={(tab) => onChange({ tab: tab === 'overview' ? undefined : tab })}
          onClose={() => onChange({ open: undefined, tab: undefined })}
          onPrevious={previous === undefined ? undefined : () => onChange({ open: previous }, true)}
          onNext={
            place < 0 || (next === undefined && !list.hasNextPage)
              ? undefined
              : () => void openNext()
          }
        />
      )}
    </>
  )
}

/** A range with an end has no new requests. */
function isFollowed({ search, bounds }: Asked): boolean {
  return search.live === true && bounds.until === undefined
}

/** Of a range with an end, the page changes to its usual one. */
function followed({ bounds }: Asked): Partial<RequestsSearch> {
  const present = { range: undefined, since: undefined, until: undefined }
  return { live: true, ...(bounds.until !== undefined && present) }
}

/** Requests that arrived while following, among those of the list: it may have been read again since. */
function useRows(list: ReturnType<typeof useRequests>, tail: ReturnType<typeof useTail>) {
  return useMemo(() => {
    const listed = list.data?.pages.flatMap(({ items }) => items) ?? []
    return merged(tail.rows, listed)
  }, [list.data, tail])
}
