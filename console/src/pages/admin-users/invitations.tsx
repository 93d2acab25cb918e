// Invitations: each is for one future account; its code is shown once.

import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { change, get, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card } from '../../ui/page.tsx'
import { RoleName } from '../../ui/role-name.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { moreOf, ShowMore } from '../../ui/table.tsx'
import { Status, Time } from '../../ui/values.tsx'
import { MakeInvitation } from './make-invitation.tsx'

type Invitation = Shape<'Invitation'>

const path = '/api/invitations'

export function Invitations() {
  const { t } = useLingui()
  const client = useQueryClient()
  const { admin } = roleOf(useMe())
  const [isMaking, setMaking] = useState(false)
  const [chosen, choose] = useState<Invitation | null>(null)
  const refresh = () => client.invalidateQueries({ queryKey: [path] })
  const invitations = useInfiniteQuery({
    queryKey: [path],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: 100, ...(pageParam && { cursor: pageParam }) }
      return get(path, { params: { query } }, signal)
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
  return (
    <Card
      title={<Trans>Invitations</Trans>}
      actions={
        admin && (
          <Button variant="primary" icon="plus" onClick={() => setMaking(true)}>
            <Trans>Invite somebody</Trans>
          </Button>
        )
      }
    >
      <Widget query={invitations} skeleton={<Skeleton rows={3} />}>
        {({ pages }) => (
          <List items={pages.flatMap(({ items }) => items)} onRevoke={admin ? choose : undefined} />
        )}
      </Widget>
      <ShowMore more={moreOf(invitations)} />
      {isMaking && <MakeInvitation onMade={refresh} onClose={() => setMaking(false)} />}
      {chosen !== null && (
        <Confirm
          title={<Trans>Take this invitation back?</Trans>}
          action={t`Take back`}
          onConfirm={async () => {
            await change('delete', '/api/invitations/{id}', { params: { path: { id: chosen.id } } })
            await refresh()
          }}
          onClose={() => choose(null)}
        >
          <p>
            <Trans>Its code can no longer create an account.</Trans>
          </p>
        </Confirm>
      )}
    </Card>
  )
}

interface ListProps {
  readonly items: readonly Invitation[]
  readonly onRevoke: ((invitation: Invitation) => void) | undefined
}

function List({ items, onRevoke }: ListProps) {
  if (items.length === 0)
    return (
      <Empty title={<Trans>Nobody was invited yet.</Trans>}>
        <Trans>
          Where only those with an invitation may join, each invitation makes one account.
        </Trans>
      </Empty>
    )
  return (
    <ul className="flex flex-col divide-y divide-border">
      {items.map((each) => (
        <li key={each.id} className="flex flex-wrap items-baseline gap-x-4 gap-y-1 py-2">
          <InvitationStatus status={each.status} />
          <span className="min-w-0 flex-1 basis-48 break-words">
            {each.note || <Trans>without a note</Trans>} <RoleName role={each.role} />
            {each.groups !== null && <span className="text-text-2"> {each.groups.join(', ')}</span>}
          </span>
          <span className="text-text-2">
            {each.usedBy !== null ? (
              <Trans>
                made {each.usedBy} <Time relative at={each.usedAt} />
              </Trans>
            ) : (
              <Trans>
                until <Time at={each.expiresAt} />
              </Trans>
            )}
          </span>
          {onRevoke !== undefined && each.status === 'open' && (
            <Button onClick={() => onRevoke(each)}>
              <Trans>Take back</Trans>
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}

const tones = { open: 'ok', used: 'off', revoked: 'failed', expired: 'off' } as const

function InvitationStatus({ status }: { readonly status: Invitation['status'] }) {
  const { t } = useLingui()
  const words = {
    open: t`Not used yet`,
    used: t`Used`,
    revoked: t`Taken back`,
    expired: t`Over`,
  }
  return <Status tone={tones[status]}>{words[status]}</Status>
}
