// One account beside the list: its person, its rights, and an administrator's actions on it.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { change, read, type Shape } from '../../api/client.ts'
import { roleOf, useBalance, useMe } from '../../api/queries.ts'
import { Button, Buttons, buttonClass } from '../../ui/button.tsx'
import { Confirm, Drawer } from '../../ui/dialog.tsx'
import { RoleName } from '../../ui/role-name.tsx'
import { Skeleton, Widget } from '../../ui/state.tsx'
import { showProblem } from '../../ui/toast.tsx'
import { Id, Money, Time } from '../../ui/values.tsx'
import { PersonStatus } from './columns.tsx'
import { Groups } from './groups-change.tsx'
import { RoleChange } from './role-change.tsx'

type Person = Shape<'Person'>

interface PersonDrawerProps {
  readonly id: string
  readonly onClose: () => void
  readonly onPrevious?: (() => void) | undefined
  readonly onNext?: (() => void) | undefined
}

export function PersonDrawer({ id, ...rest }: PersonDrawerProps) {
  const { t } = useLingui()
  const person = useQuery(read('/api/people/{id}', { params: { path: { id } } }))
  return (
    <Drawer
      {...rest}
      label={t`Account ${id}`}
      header={
        <span className="flex min-w-0 flex-wrap items-center gap-x-2">
          <span className="text-section wrap-anywhere">
            {person.data?.name || <Trans>Account</Trans>}
          </span>
          <Id value={id} />
        </span>
      }
    >
      <Widget query={person} skeleton={<Skeleton rows={8} />}>
        {(data) => <Details key={data.revision} person={data} />}
      </Widget>
    </Drawer>
  )
}

function Details({ person }: { readonly person: Person }) {
  const { admin } = roleOf(useMe())
  const { id } = person
  const balance = useQuery(read('/api/balance', { params: { query: { account: id } } }))
  const reload = useReload()
  return (
    <div className="flex flex-col gap-5">
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
        <dt className="text-text-2">
          <Trans>Status</Trans>
        </dt>
        <dd>
          <PersonStatus person={person} />
        </dd>
        <dt className="text-text-2">
          <Trans>Role</Trans>
        </dt>
        <dd>
          <RoleName role={person.role} />
        </dd>
        <dt className="text-text-2">
          <Trans>E-mail</Trans>
        </dt>
        <dd>{person.email ?? <Trans>none known</Trans>}</dd>
        <dt className="text-text-2">
          <Trans>Joined</Trans>
        </dt>
        <dd>
          <Time at={person.createdAt} />
        </dd>
        <dt className="text-text-2">
          <Trans>Balance</Trans>
        </dt>
        <dd>
          {balance.data && (
            <Money exact nano={balance.data.availableNano} currency={balance.data.currency} />
          )}
        </dd>
        <dt className="text-text-2">
          <Trans>Groups</Trans>
        </dt>
        <dd>
          <Groups
            person={person}
            mayChange={admin && person.status !== 'deleted'}
            reload={reload}
          />
        </dd>
        <dt className="text-text-2">
          <Trans>Signs in by</Trans>
        </dt>
        <dd>
          {person.identities.length === 0 ? (
            <Trans>one-time links</Trans>
          ) : (
            person.identities.map(({ issuer }) => issuer).join(', ')
          )}
        </dd>
      </dl>
      <Links id={id} />
      {admin && person.status !== 'deleted' && <Actions person={person} reload={reload} />}
    </div>
  )
}

/** The pages that show the account's data. */
function Links({ id }: { readonly id: string }) {
  return (
    <Buttons>
      {/* A full page load, so that no answer for one account is shown to the other. */}
      <a href={`/console/?view-as=${encodeURIComponent(id)}`} className={buttonClass()}>
        <Trans>See what they see</Trans>
      </a>
      <Link to="/" search={{ account: id }} className={buttonClass()}>
        <Trans>Overview</Trans>
      </Link>
      <Link to="/requests" search={{ account: id }} className={buttonClass()}>
        <Trans>Requests</Trans>
      </Link>
      <Link to="/keys" search={{ account: id }} className={buttonClass()}>
        <Trans>Keys</Trans>
      </Link>
      <Link to="/billing" search={{ account: id }} className={buttonClass()}>
        <Trans>Ledger and balance</Trans>
      </Link>
      <Link to="/admin/payments" search={{ account: id }} className={buttonClass()}>
        <Trans>Payments</Trans>
      </Link>
    </Buttons>
  )
}

/** Reads the account and the list again. */
function useReload() {
  const client = useQueryClient()
  return async () => {
    await client.invalidateQueries({ queryKey: ['/api/people/{id}'] })
    await client.invalidateQueries({ queryKey: ['/api/people'] })
  }
}

interface ActionsProps {
  readonly person: Person
  readonly reload: () => Promise<void>
}

function Actions({ person, reload }: ActionsProps) {
  const [asks, setAsks] = useState<'suspend' | 'delete' | null>(null)
  const { id, revision } = person
  const resume = useMutation({
    mutationFn: () =>
      change('post', '/api/people/{id}/resume', { params: { path: { id } }, ifMatch: revision }),
    onSuccess: reload,
    async onError(error) {
      await reload()
      showProblem(error)
    },
  })
  return (
    <section className="flex flex-col gap-3 border-t border-border pt-4">
      <RoleChange key={id} person={person} reload={reload} />
      <Buttons>
        {person.status === 'active' ? (
          <Button variant="danger" onClick={() => setAsks('suspend')}>
            <Trans>Suspend</Trans>
          </Button>
        ) : (
          <Button busy={resume.isPending} onClick={() => resume.mutate()}>
            <Trans>End the suspension</Trans>
          </Button>
        )}
        <Button variant="danger" icon="trash" onClick={() => setAsks('delete')}>
          <Trans>Delete</Trans>
        </Button>
      </Buttons>
      {asks !== null && (
        <Asked asks={asks} person={person} reload={reload} onClose={() => setAsks(null)} />
      )}
    </section>
  )
}

interface AskedProps {
  readonly asks: 'suspend' | 'delete'
  readonly person: Person
  readonly reload: () => Promise<void>
  readonly onClose: () => void
}

function Asked({ asks, person: { id, revision }, reload, onClose }: AskedProps) {
  const { t } = useLingui()
  const { data: balance } = useBalance(id)
  const params = { path: { id } }
  if (asks === 'suspend')
    return (
      <Confirm
        title={<Trans>Suspend {id}?</Trans>}
        action={t`Suspend`}
        onConfirm={async () => {
          // Without If-Match: stopping somebody must not fail because a name or role was changed meanwhile.
          await change('post', '/api/people/{id}/suspend', { params })
          await reload()
        }}
        onClose={onClose}
      >
        <p>
          <Trans>Its keys stop within a second and its sessions end. It can be taken back.</Trans>
        </p>
      </Confirm>
    )
  return (
    <Confirm
      title={<Trans>Delete {id}?</Trans>}
      action={t`Delete the account`}
      typed={id}
      onConfirm={async () => {
        await change('delete', '/api/people/{id}', { params, ifMatch: revision })
        await reload()
      }}
      onClose={onClose}
    >
      <p>
        <Trans>
          Name, e-mail, identities and messages are deleted permanently. The journal and usage stay,
          without a name.
        </Trans>
      </p>
      {balance !== undefined && BigInt(balance.availableNano) > 0n && (
        <p>
          <Trans>
            It gives up the <Money exact nano={balance.availableNano} currency={balance.currency} />{' '}
            that are left. What it paid can be refunded before:{' '}
            <Link to="/admin/payments" search={{ account: id }}>
              Payments
            </Link>
          </Trans>
        </p>
      )}
    </Confirm>
  )
}
