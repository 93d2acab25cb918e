// Where the person is signed in, and buttons to end these sessions.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { change, read, type Shape } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { ClientName } from '../../ui/client-name.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card } from '../../ui/page.tsx'
import { Widget } from '../../ui/state.tsx'
import { showProblem } from '../../ui/toast.tsx'
import { Badge, Time } from '../../ui/values.tsx'

export function Sessions() {
  const { t } = useLingui()
  const client = useQueryClient()
  const sessions = useQuery(read('/api/me/sessions'))
  const [isEnding, setEnding] = useState(false)
  const refresh = () => client.invalidateQueries({ queryKey: ['/api/me/sessions'] })
  const end = useMutation({
    mutationFn: (id: string) =>
      change('delete', '/api/me/sessions/{id}', { params: { path: { id } } }),
    onSuccess: refresh,
    onError: showProblem,
  })
  return (
    <Card
      title={<Trans>Where you are signed in</Trans>}
      actions={
        <Button variant="danger" onClick={() => setEnding(true)}>
          <Trans>Sign out everywhere else</Trans>
        </Button>
      }
    >
      <Widget query={sessions}>
        {({ items }) => (
          <ul className="divide-y divide-border">
            {items.map((session) => (
              <Session
                key={session.id}
                session={session}
                isEnding={end.isPending && end.variables === session.id}
                onEnd={() => end.mutate(session.id)}
              />
            ))}
          </ul>
        )}
      </Widget>
      {isEnding && (
        <Confirm
          title={<Trans>Sign out everywhere else?</Trans>}
          action={t`Sign out everywhere else`}
          onConfirm={async () => {
            await change('delete', '/api/me/sessions')
            await refresh()
          }}
          onClose={() => setEnding(false)}
        >
          <p>
            <Trans>All other browsers have to sign in again. Keys continue to work.</Trans>
          </p>
        </Confirm>
      )}
    </Card>
  )
}

interface SessionProps {
  readonly session: Shape<'Session'>
  readonly isEnding: boolean
  readonly onEnd: () => void
}

function Session({ session, isEnding, onEnd }: SessionProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2.5">
      <span className="min-w-0 flex-1 max-md:basis-full">
        <span className="block truncate">
          {session.client === null ? (
            <Trans>Unknown browser</Trans>
          ) : (
            <ClientName userAgent={session.client} />
          )}
        </span>
        <span className="text-label font-normal text-text-2">{session.address ?? ''}</span>
      </span>
      <span className="text-text-2">
        <Trans>
          used <Time relative at={session.usedAt} />
        </Trans>
      </span>
      {session.current ? (
        <Badge tone="success">
          <Trans>this one</Trans>
        </Badge>
      ) : (
        <Button busy={isEnding} onClick={onEnd}>
          <Trans>Sign out</Trans>
        </Button>
      )}
    </li>
  )
}
