// One group beside the list: its form, who uses it, what its users see, and its versions.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { change } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { Actor } from '../../ui/actor.tsx'
import { Button, Buttons } from '../../ui/button.tsx'
import { Confirm, Drawer } from '../../ui/dialog.tsx'
import { showToast } from '../../ui/toast.tsx'
import { Count, Time } from '../../ui/values.tsx'
import { Limits, Origin } from './columns.tsx'
import { GroupForm } from './group-form.tsx'
import { refreshGroups } from './refresh.ts'
import type { GroupRow, Use } from './rows.ts'
import { Seen } from './seen.tsx'
import { useGroupForm } from './use-group-form.ts'
import { Versions } from './versions.tsx'

interface GroupDrawerProps {
  readonly id: string
  /** undefined: there is no such group. */
  readonly row: GroupRow | undefined
  readonly onClose: () => void
  /** The group no longer exists. */
  readonly onDeleted: () => void
  readonly onPrevious: (() => void) | undefined
  readonly onNext: (() => void) | undefined
}

export function GroupDrawer({ id, row, onDeleted, ...rest }: GroupDrawerProps) {
  const { t } = useLingui()
  return (
    <Drawer
      {...rest}
      label={t`Group ${id}`}
      header={
        <span className="flex flex-wrap items-baseline gap-x-3">
          <span className="text-section">{id}</span>
          {row !== undefined && <From {...row.item} />}
        </span>
      }
    >
      <div className="flex flex-col gap-6">
        {row === undefined ? <Gone id={id} /> : <Group row={row} onDeleted={onDeleted} />}
      </div>
    </Drawer>
  )
}

function From({ changedAt, actor, ...item }: GroupRow['item']) {
  return (
    <span className="text-label text-text-2">
      <Origin {...item} />
      {changedAt !== null && (
        <>
          {' · '}
          <Actor actor={actor} /> · <Time relative at={changedAt} />
        </>
      )}
    </span>
  )
}

/** A removed group can be brought back. */
function Gone({ id }: { readonly id: string }) {
  return (
    <>
      <p className="rounded-card bg-warning-tint p-3">
        <Trans>There is no group of this name. If it was removed, its versions stand here.</Trans>
      </p>
      <Versions id={id} revision={undefined} />
    </>
  )
}

function Group({ row, onDeleted }: EditProps) {
  const { admin } = roleOf(useMe())
  const { item, use } = row
  const { id, origin, overridden, revision } = item
  return (
    <>
      {origin === 'file' || !admin ? <Facts row={row} /> : <Edit row={row} onDeleted={onDeleted} />}
      {use !== undefined && <Uses use={use} />}
      <Seen group={id} />
      {(origin === 'stored' || overridden) && <Versions id={id} revision={revision} />}
    </>
  )
}

function Facts({ row: { item, settings } }: { readonly row: GroupRow }) {
  return (
    <div className="flex flex-col gap-3">
      {item.origin === 'file' && (
        <p className="rounded-card bg-info-tint px-3 py-2">
          <Trans>
            The configuration file declares this group under <code>groups.{item.id}</code>: change
            it there.
          </Trans>
        </p>
      )}
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
        <dt className="text-text-2">
          <Trans>Multiplier</Trans>
        </dt>
        <dd className="tabular">
          × {settings.multiplier}
          {Object.entries(settings.modelMultipliers).map(([model, multiplier]) => (
            <span key={model} className="block">
              {model} × {multiplier}
            </span>
          ))}
        </dd>
        <dt className="text-text-2">
          <Trans>Models</Trans>
        </dt>
        <dd className="font-mono text-code break-all">{settings.models.join(', ')}</dd>
        <dt className="text-text-2">
          <Trans>Limits</Trans>
        </dt>
        <dd>
          <Limits {...settings} />
        </dd>
      </dl>
    </div>
  )
}

interface EditProps {
  readonly row: GroupRow
  readonly onDeleted: () => void
}

function Edit({ row, onDeleted }: EditProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const formId = useId()
  const [isDeleting, setDeleting] = useState(false)
  const { id, origin } = row.item
  const shown = { ...row.item, settings: row.settings }
  const state = useGroupForm(shown, async ({ id: _, ...body }, ifMatch) => {
    try {
      await change('patch', '/api/groups/{id}', { params: { path: { id } }, body, ifMatch })
    } finally {
      await refreshGroups(client)
    }
    showToast({ text: t`Saved.`, tone: 'info' })
  })
  const { isDirty, isSubmitting } = state.form.formState
  return (
    <div className="flex flex-col gap-4">
      <GroupForm formId={formId} shown={shown} state={state} />
      <Buttons>
        <Button
          type="submit"
          variant="primary"
          form={formId}
          busy={isSubmitting}
          disabled={!isDirty || state.newest.isStale}
        >
          <Trans>Save</Trans>
        </Button>
        {isDirty && (
          <Button onClick={state.newest.discard}>
            <Trans>Discard</Trans>
          </Button>
        )}
        {origin === 'stored' && (
          <Button variant="danger" icon="trash" onClick={() => setDeleting(true)}>
            <Trans>Delete group</Trans>
          </Button>
        )}
      </Buttons>
      {isDeleting && <Delete row={row} onDeleted={onDeleted} onClose={() => setDeleting(false)} />}
    </div>
  )
}

function Delete({ row, onDeleted, onClose }: EditProps & { readonly onClose: () => void }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const { id, revision } = row.item
  return (
    <Confirm
      title={<Trans>Delete the group {id}?</Trans>}
      action={t`Delete group`}
      onConfirm={async () => {
        const params = { path: { id } }
        await change('delete', '/api/groups/{id}', { params, ifMatch: revision })
        onDeleted()
        await refreshGroups(client)
      }}
      onClose={onClose}
    >
      <p>
        <Trans>
          It is deleted only where no key, account, invitation, channel or setting names it. A
          version of it can be brought back later.
        </Trans>
      </p>
      {row.use !== undefined && <Uses use={row.use} />}
    </Confirm>
  )
}

function Uses({ use }: { readonly use: Use }) {
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-section">
        <Trans>Used by</Trans>
      </h3>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5">
        <dt className="text-text-2">
          <Trans>Keys</Trans>
        </dt>
        <dd>
          <Link to="/keys" search={{ group: use.id }}>
            <Count value={use.keys} />
          </Link>
        </dd>
        <dt className="text-text-2">
          <Trans>Accounts that name it</Trans>
        </dt>
        <dd>
          <Count value={use.people} />
        </dd>
        <dt className="text-text-2">
          <Trans>Open invitations</Trans>
        </dt>
        <dd>
          <Count value={use.invitations} />
        </dd>
        <dt className="text-text-2">
          <Trans>Served by</Trans>
        </dt>
        <dd>
          {use.channels.length === 0 ? (
            <Trans>no channel: its requests are refused</Trans>
          ) : (
            <Names names={use.channels} />
          )}
        </dd>
        <dt className="text-text-2">
          <Trans>New accounts</Trans>
        </dt>
        <dd>{use.isDefault ? <Trans>get this group</Trans> : <Trans>get another group</Trans>}</dd>
      </dl>
    </section>
  )
}

/** Hundreds of names scroll in a part of their own, so that what stands below stays near. */
function Names({ names }: { readonly names: readonly string[] }) {
  const { t } = useLingui()
  const text = names.join(', ')
  if (text.length < 500) return text
  return (
    <div role="region" aria-label={t`Served by`} tabIndex={0} className="max-h-40 overflow-y-auto">
      {text}
    </div>
  )
}
