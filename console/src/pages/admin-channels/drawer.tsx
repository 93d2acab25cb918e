// One channel beside the list: its facts and state, its settings, a test, its versions.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Problem, read } from '../../api/client.ts'
import { Drawer } from '../../ui/dialog.tsx'
import { Segments } from '../../ui/field.tsx'
import { Skeleton, Widget } from '../../ui/state.tsx'
import { ChannelActions } from './actions.tsx'
import { type Channel, isStored, useChannels } from './channels.ts'
import { ChannelStatus, OriginBadge } from './columns.tsx'
import { Facts } from './facts.tsx'
import { narrowed } from './narrow.ts'
import { Note } from './parts.tsx'
import type { ChannelsSearch } from './search.ts'
import ChannelSettings from './settings.tsx'
import { ChannelTest } from './test.tsx'
import { Versions } from './versions.tsx'

const route = getRouteApi('/shell/admin/channels')

interface ChannelDrawerProps {
  readonly id: string
  readonly admin: boolean
}

export default function ChannelDrawer({ id, admin }: ChannelDrawerProps) {
  const search = route.useSearch()
  const navigate = useNavigate()
  const show = (next: Partial<ChannelsSearch>, ignoreBlocker = false) =>
    void navigate({ to: '.', search: (now) => ({ ...now, ...next }), ignoreBlocker })
  const query = useQuery({
    ...read('/api/channels/{id}', { params: { path: { id } } }),
    refetchInterval: 10_000,
  })
  const isGone = query.error instanceof Problem && query.error.status === 404
  const { data: channels } = useChannels()
  const rows = narrowed(channels ?? [], search)
  const place = rows.findIndex((channel) => channel.id === id)
  const go = (to: Channel | undefined) =>
    place < 0 || to === undefined ? undefined : () => show({ open: to.id })
  return (
    <Drawer
      label={id}
      onClose={() => show({ open: undefined, tab: undefined })}
      onPrevious={go(rows[place - 1])}
      onNext={go(rows[place + 1])}
      header={
        <h2 className="flex min-w-0 items-center gap-3 text-section">
          <span className="truncate">{id}</span>
          {query.data && (
            <span className="flex gap-2 text-cell font-normal">
              <ChannelStatus channel={query.data} />
              <OriginBadge channel={query.data} />
            </span>
          )}
        </h2>
      }
    >
      {isGone ? (
        <Gone id={id} admin={admin} />
      ) : (
        <Widget query={query} skeleton={<Skeleton rows={10} />}>
          {(channel) => (
            <Tabs
              channel={channel}
              admin={admin}
              onShow={show}
              // What was typed cannot be kept without its channel.
              onDeleted={() => show({ open: undefined }, true)}
            />
          )}
        </Widget>
      )}
    </Drawer>
  )
}

/** A removed channel can be brought back. */
function Gone({ id, admin }: ChannelDrawerProps) {
  return (
    <div className="flex flex-col gap-4">
      <Note tone="warning">
        <Trans>There is no channel of this name. If it was removed, its versions stand here.</Trans>
      </Note>
      <Versions id={id} mayChange={admin} />
    </div>
  )
}

interface TabsProps {
  readonly channel: Channel
  readonly admin: boolean
  readonly onShow: (next: Partial<ChannelsSearch>) => void
  readonly onDeleted: () => void
}

function Tabs({ channel, admin, onShow, onDeleted }: TabsProps) {
  const { t } = useLingui()
  const { tab = 'facts' } = route.useSearch()
  const mayChange = admin && isStored(channel)
  // A draft stays while another tab is open.
  const [isEdited, setEdited] = useState(false)
  if (tab === 'settings' && !isEdited) setEdited(true)
  const tabs = [
    { value: 'facts' as const, label: <Trans>Overview</Trans> },
    ...(mayChange ? [{ value: 'settings' as const, label: <Trans>Settings</Trans> }] : []),
    ...(admin ? [{ value: 'test' as const, label: <Trans>Test</Trans> }] : []),
    ...(channel.revision > 0
      ? [{ value: 'versions' as const, label: <Trans>Versions</Trans> }]
      : []),
  ]
  return (
    <div className="flex flex-col gap-5">
      <Segments
        label={t`What of the channel is shown`}
        value={tab}
        onChange={(next) => onShow({ tab: next === 'facts' ? undefined : next })}
        options={tabs}
      />
      {tab === 'facts' && (
        <Facts
          channel={channel}
          actions={mayChange && <ChannelActions channel={channel} onDeleted={onDeleted} />}
        />
      )}
      {mayChange && isEdited && (
        <div hidden={tab !== 'settings'}>
          <ChannelSettings channel={channel} />
        </div>
      )}
      {tab === 'versions' && <Versions id={channel.id} mayChange={mayChange} />}
      {tab === 'test' && admin && <ChannelTest id={channel.id} models={channel.models} />}
    </div>
  )
}
