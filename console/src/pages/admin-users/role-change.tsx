// Gives an account another role, after showing what that role may do.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { change, mePath, type Shape } from '../../api/client.ts'
import { useMe } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { RoleName, RoleOptions } from '../../ui/role-name.tsx'

type Person = Shape<'Person'>
type Role = Person['role']

interface RoleChangeProps {
  readonly person: Person
  readonly reload: () => Promise<void>
}

export function RoleChange({ person, reload }: RoleChangeProps) {
  const [chosen, setChosen] = useState<Role | null>(null)
  const [asks, setAsks] = useState(false)
  const role = chosen ?? person.role
  const isSame = role === person.role
  function submit(event: FormEvent) {
    event.preventDefault()
    if (!isSame) setAsks(true)
  }
  return (
    <>
      <form className="flex flex-wrap items-end gap-2" onSubmit={submit}>
        <div className="w-60">
          <Field label={<Trans>Role</Trans>}>
            <Select value={role} onChange={(event) => setChosen(event.target.value as Role)}>
              <RoleOptions />
            </Select>
          </Field>
        </div>
        <Button type="submit" disabled={isSame}>
          <Trans>Change the role</Trans>
        </Button>
      </form>
      {asks && (
        <Asked
          person={person}
          role={role}
          reload={reload}
          onClose={() => {
            setAsks(false)
            setChosen(null)
          }}
        />
      )}
    </>
  )
}

interface AskedProps extends RoleChangeProps {
  readonly role: Role
  readonly onClose: () => void
}

function Asked({ person, role, reload, onClose }: AskedProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const isSelf = useMe()?.id === person.id
  const { id, revision } = person
  return (
    <Confirm
      title={<Trans>Change the role of {id}?</Trans>}
      action={t`Change the role`}
      danger={isSelf || role === 'admin'}
      onConfirm={async () => {
        const init = { params: { path: { id } }, body: { role }, ifMatch: revision }
        await change('patch', '/api/people/{id}', init)
        if (isSelf) await client.invalidateQueries({ queryKey: [mePath] })
        await reload()
      }}
      onClose={onClose}
    >
      <p className="flex items-center gap-2">
        <RoleName role={person.role} /> → <RoleName role={role} />
      </p>
      <p>
        <May role={role} />
      </p>
      {isSelf && person.role === 'admin' && (
        <p role="alert" className="text-danger">
          <Trans>
            This is your own account. You lose the rights of an administrator at once, and only
            another administrator can give them back.
          </Trans>
        </p>
      )}
    </Confirm>
  )
}

function May({ role }: { readonly role: Role }) {
  switch (role) {
    case 'admin':
      return (
        <Trans>
          Administrators read and change everything: accounts, balances, channels, prices, settings.
        </Trans>
      )
    case 'auditor':
      return <Trans>Auditors read everything and change nothing.</Trans>
    case 'user':
      return <Trans>Users see and change only their own account.</Trans>
  }
}
