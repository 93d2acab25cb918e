// Actions on many channels at once, those chosen or all with a tag; each states its effect first.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { change } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { type Channel, isStored, refreshChannels } from './channels.ts'
import { ChannelStatus } from './columns.tsx'

type State = 'enabled' | 'draining' | 'disabled'

interface BulkBarProps {
  readonly channels: readonly Channel[]
  /**
   * The tag whose channels they are: all of them, including those made meanwhile; null: they were chosen one by one.
   */
  readonly tag: string | null
  readonly onDone: () => void
}

export function BulkBar({ channels, tag, onDone }: BulkBarProps) {
  const [asks, setAsks] = useState<State | null>(null)
  const own = channels.filter(isStored)
  const declared = channels.length - own.length
  const none = own.length === 0
  return (
    <div className="flex flex-wrap items-center gap-2 border-y border-border bg-info-tint px-4 py-2">
      <span className="mr-2">
        {tag === null ? (
          <Plural value={own.length} one="# channel chosen" other="# channels chosen" />
        ) : (
          <Trans>
            Channels with the tag {tag}: {own.length}
          </Trans>
        )}
        {declared > 0 && (
          <>
            {' '}
            <span className="text-text-2">
              <Plural
                value={declared}
                one="(# declared elsewhere stays as it is)"
                other="(# declared elsewhere stay as they are)"
              />
            </span>
          </>
        )}
      </span>
      <Button disabled={none} onClick={() => setAsks('enabled')}>
        <Trans>Enable</Trans>
      </Button>
      <Button disabled={none} onClick={() => setAsks('draining')}>
        <Trans>Drain</Trans>
      </Button>
      <Button disabled={none} onClick={() => setAsks('disabled')}>
        <Trans>Disable</Trans>
      </Button>
      {tag === null && (
        <Button variant="quiet" onClick={onDone}>
          <Trans>Choose none</Trans>
        </Button>
      )}
      {asks !== null && (
        <BulkTask
          state={asks}
          channels={own}
          tag={tag}
          onDone={onDone}
          onClose={() => setAsks(null)}
        />
      )}
    </div>
  )
}

interface BulkTaskProps extends BulkBarProps {
  readonly state: State
  readonly onClose: () => void
}

function BulkTask({ state, channels, tag, onDone, onClose }: BulkTaskProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const titles: Readonly<Record<State, ReactNode>> = {
    enabled: <Trans>Enable these channels?</Trans>,
    draining: <Trans>Drain these channels?</Trans>,
    disabled: <Trans>Disable these channels?</Trans>,
  }
  const requests = channels.reduce((sum, { day }) => sum + day.requests, 0)
  return (
    <Confirm
      danger={state !== 'enabled'}
      title={titles[state]}
      action={{ enabled: t`Enable`, draining: t`Drain`, disabled: t`Disable` }[state]}
      onConfirm={async () => {
        const which = tag === null ? { ids: channels.map(({ id }) => id) } : { tag }
        // The API takes no If-Match for many: the last change of a state wins, and each channel keeps its versions.
        await change('post', '/api/channels/bulk', { body: { ...which, changes: { state } } })
        await refreshChannels(client)
        onDone()
      }}
      onClose={onClose}
    >
      <ul className="flex max-h-60 flex-col gap-1 overflow-y-auto">
        {channels.map((channel) => (
          <li key={channel.id} className="flex justify-between gap-4">
            <span className="font-medium break-all">{channel.id}</span>
            <ChannelStatus channel={channel} />
          </li>
        ))}
      </ul>
      {state !== 'enabled' && (
        <p>
          <Plural
            value={requests}
            _0="They had no request in the last 24 hours. What is under way ends as it would."
            one="They had # request in the last 24 hours. What is under way ends as it would."
            other="They had # requests in the last 24 hours. What is under way ends as it would."
          />
        </p>
      )}
    </Confirm>
  )
}
