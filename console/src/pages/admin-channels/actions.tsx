// Actions on one channel: enable, drain, disable, delete; each states its effect first.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { change } from '../../api/client.ts'
import { Button, Buttons } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { showProblem } from '../../ui/toast.tsx'
import { type Channel, refreshChannels } from './channels.ts'

type Task = 'draining' | 'disabled' | 'delete'

interface ActionsProps {
  readonly channel: Channel
  /** The channel no longer exists. */
  readonly onDeleted: () => void
}

export function ChannelActions({ channel, onDeleted }: ActionsProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const [asks, setAsks] = useState<Task | null>(null)
  const [isBusy, setBusy] = useState(false)
  const said = channel.document['state']
  const params = { path: { id: channel.id } }
  const ifMatch = channel.revision
  async function setState(state: 'enabled' | 'draining' | 'disabled') {
    await change('post', '/api/channels/{id}/state', { params, body: { state }, ifMatch })
    await refreshChannels(client)
  }
  async function enable() {
    setBusy(true)
    try {
      await setState('enabled')
    } catch (error) {
      showProblem(error as Error)
      await refreshChannels(client)
    }
    setBusy(false)
  }
  return (
    <>
      <Buttons>
        {said !== 'enabled' && (
          <Button icon="play" busy={isBusy} onClick={() => void enable()}>
            <Trans>Enable</Trans>
          </Button>
        )}
        {said === 'enabled' && (
          <Button icon="pause" onClick={() => setAsks('draining')}>
            <Trans>Drain</Trans>
          </Button>
        )}
        {said !== 'disabled' && (
          <Button icon="stop" onClick={() => setAsks('disabled')}>
            <Trans>Disable</Trans>
          </Button>
        )}
        <Button variant="danger" icon="trash" onClick={() => setAsks('delete')}>
          <Trans>Delete</Trans>
        </Button>
      </Buttons>
      {(asks === 'draining' || asks === 'disabled') && (
        <Confirm
          title={
            asks === 'draining' ? (
              <Trans>Drain {channel.id}?</Trans>
            ) : (
              <Trans>Disable {channel.id}?</Trans>
            )
          }
          action={asks === 'draining' ? t`Drain` : t`Disable`}
          onConfirm={() => setState(asks)}
          onClose={() => setAsks(null)}
        >
          <Impact channel={channel} />
        </Confirm>
      )}
      {asks === 'delete' && (
        <Delete channel={channel} onDeleted={onDeleted} onClose={() => setAsks(null)} />
      )}
    </>
  )
}

function Delete({ channel, onDeleted, onClose }: ActionsProps & { readonly onClose: () => void }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const { id, revision, day } = channel
  return (
    <Confirm
      title={<Trans>Delete {id}?</Trans>}
      action={t`Delete the channel`}
      {...(day.requests > 0 && { typed: id })}
      onConfirm={async () => {
        await change('delete', '/api/channels/{id}', {
          params: { path: { id } },
          ifMatch: revision,
        })
        onDeleted()
        await client.invalidateQueries({ queryKey: ['/api/channels'] })
      }}
      onClose={onClose}
    >
      <Impact channel={channel} />
      <p>
        <Trans>An earlier version can be brought back under its name, with its keys.</Trans>
      </p>
    </Confirm>
  )
}

/** What stops with it, judged by its recent requests. */
function Impact({ channel }: { readonly channel: Channel }) {
  const { day, inFlight } = channel
  return (
    <>
      <p>
        <Plural
          value={day.requests}
          _0="It had no request in the last 24 hours."
          one="It had # request in the last 24 hours: others serve those from then on, or nobody does."
          other="It had # requests in the last 24 hours: others serve those from then on, or nobody does."
        />
      </p>
      <p>
        <Plural
          value={inFlight}
          _0="Nothing is under way in the serving process that answered."
          one="# request is under way in the serving process that answered: it ends as it would."
          other="# requests are under way in the serving process that answered: they end as they would."
        />
      </p>
    </>
  )
}
