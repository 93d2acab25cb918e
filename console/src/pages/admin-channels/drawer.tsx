// One channel beside the list: what it is and does, its settings, a test, its versions.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { read } from '../../api/client.ts'
import { Drawer } from '../../ui/dialog.tsx'
import { Segments } from '../../ui/field.tsx'
import { Skeleton, Widget } from '../../ui/state.tsx'
import { type Channel, useChannels } from './channels.ts'
import { ChannelStatus, OriginBadge } from './columns.tsx'
import { Facts } from './facts.tsx'
import { narrowed } from './narrow.ts'
import type { ChannelsSearch } from './search.ts'

const route = getRouteApi('/shell/admin/channels')

interface ChannelDrawerProps {
  readonly id: string
}

export default function ChannelDrawer({ id }: ChannelDrawerProps) {
  const search = route.useSearch()
  const navigate = useNavigate()
  const show = (next: Partial<ChannelsSearch>) =>
    void navigate({ to: '.', search: (now) => ({ ...now, ...next }) })
  const query = useQuery({
    ...read('/api/channels/{id}', { params: { path: { id } } }),
    refetchInterval: 10_000,
  })
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
      <Widget query={query} skeleton={<Skeleton rows={10} />}>
        {(channel) => <Tabs channel={channel} onShow={(tab) => show({ tab })} />}
      </Widget>
    </Drawer>
  )
}

interface TabsProps {
  readonly channel: Channel
  readonly onShow: (tab: ChannelsSearch['tab']) => void
}

function Tabs({ channel, onShow }: TabsProps) {
  const { t } = useLingui()
  const { tab = 'facts' } = route.useSearch()
  return (
    <div className="flex flex-col gap-5">
      <Segments
        label={t`What of the channel is shown`}
        value={tab}
        onChange={(next) => onShow(next === 'facts' ? undefined : next)}
        options={[{ value: 'facts', label: <Trans>Overview</Trans> }]}
      />
      {tab === 'facts' && <Facts channel={channel} />}
    </div>
  )
}
