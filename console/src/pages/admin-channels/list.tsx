// The list of channels.

import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { buttonClass } from '../../ui/button.tsx'
import { ColumnChooser } from '../../ui/columns.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { DataTable } from '../../ui/table.tsx'
import { Duration } from '../../ui/values.tsx'
import { vendorName } from '../../ui/vendor-name.ts'
import { BulkBar } from './bulk-bar.tsx'
import { type Channel, useChannels } from './channels.ts'
import { ChannelStatus, channelColumns, Success } from './columns.tsx'
import { narrowed } from './narrow.ts'
import type { ChannelsSearch } from './search.ts'

const route = getRouteApi('/shell/admin/channels')

export function ChannelList({ admin }: { readonly admin: boolean }) {
  const query = useChannels()
  return (
    <Card
      flush
      title={<Trans>Channels</Trans>}
      actions={<ColumnChooser id="channels" columns={channelColumns} />}
    >
      <Widget
        query={query}
        skeleton={
          <div className="p-4">
            <Skeleton rows={6} />
          </div>
        }
      >
        {(channels) => <Table channels={channels} admin={admin} />}
      </Widget>
    </Card>
  )
}

interface TableProps {
  readonly channels: readonly Channel[]
  readonly admin: boolean
}

function Table({ channels, admin }: TableProps) {
  const { t } = useLingui()
  const search = route.useSearch()
  const navigate = useNavigate()
  const rows = useMemo(() => narrowed(channels, search), [channels, search])
  const change = (next: Partial<ChannelsSearch>) =>
    void navigate({ to: '.', search: (now) => ({ ...now, ...next }) })
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const selected = rows.filter(({ id }) => chosen.has(id))
  // The list is filtered by one tag, so the action applies to all of its channels.
  const [tag = null, ...others] = search.tag ?? []
  const ofTag =
    tag === null || others.length > 0 ? [] : channels.filter(({ tags }) => tags.includes(tag))
  const isByTag = selected.length === 0 && ofTag.length > 0
  return (
    <>
      {admin && (selected.length > 0 || isByTag) && (
        <BulkBar
          channels={isByTag ? ofTag : selected}
          tag={isByTag ? tag : null}
          onDone={() => setChosen(new Set())}
        />
      )}
      <DataTable
        id="channels"
        label={t`Channels`}
        columns={channelColumns}
        rows={rows}
        rowId={({ id }) => id}
        sort={{ by: search.sort ?? 'priority', descending: search.order === 'desc' }}
        onSort={({ by, descending }) =>
          change({ sort: by as ChannelsSearch['sort'], order: descending ? 'desc' : 'asc' })
        }
        onOpen={({ id }) => change({ open: id, tab: undefined })}
        openId={search.open}
        {...(admin && { selection: { ids: chosen, onChange: setChosen } })}
        empty={<NoChannels isNarrowed={channels.length > 0} admin={admin} />}
        card={(channel) => ({
          title: (
            <>
              <span className="truncate font-medium">{channel.id}</span>
              <ChannelStatus channel={channel} />
            </>
          ),
          facts: [
            vendorName(channel.vendor),
            <Success key="success" figures={channel.hour} />,
            <Duration key="p95" ms={channel.hour.p95Ms} />,
          ],
        })}
      />
    </>
  )
}

function NoChannels({
  isNarrowed,
  admin,
}: {
  readonly isNarrowed: boolean
  readonly admin: boolean
}) {
  if (isNarrowed)
    return (
      <Empty
        title={<Trans>No channel matches these filters.</Trans>}
        action={
          <Link to="/admin/channels" className={buttonClass()}>
            <Trans>Clear filters</Trans>
          </Link>
        }
      />
    )
  return (
    <Empty
      title={<Trans>There are no channels yet.</Trans>}
      action={
        admin && (
          <Link to="/admin/channels" search={{ dialog: 'new' }} className={buttonClass()}>
            <Trans>New channel</Trans>
          </Link>
        )
      }
    >
      <p>
        <Trans>
          A channel is a vendor, its address and its keys. Without one nothing is served.
        </Trans>
      </p>
    </Empty>
  )
}
