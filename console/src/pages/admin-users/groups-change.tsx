// The groups that an account may make keys for, and the dialog that changes them.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { change, readAll, type Shape } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Checkbox, Segments } from '../../ui/field.tsx'
import { Skeleton, Widget } from '../../ui/state.tsx'

type Person = Shape<'Person'>

interface GroupsProps {
  readonly person: Person
  readonly mayChange: boolean
  readonly reload: () => Promise<void>
}

export function Groups({ person, mayChange, reload }: GroupsProps) {
  const [isChanging, setChanging] = useState(false)
  return (
    <span className="flex flex-wrap items-center gap-x-3">
      <GroupNames groups={person.groups} />
      {mayChange && (
        <Button variant="quiet" icon="edit" className="-my-1.5" onClick={() => setChanging(true)}>
          <Trans>Change groups</Trans>
        </Button>
      )}
      {isChanging && (
        <GroupsChange person={person} reload={reload} onClose={() => setChanging(false)} />
      )}
    </span>
  )
}

function GroupNames({ groups }: Pick<Person, 'groups'>) {
  if (groups === null) return <Trans>all</Trans>
  return groups.length === 0 ? <Trans>none</Trans> : <span>{groups.join(', ')}</span>
}

interface GroupsChangeProps {
  readonly person: Person
  readonly reload: () => Promise<void>
  readonly onClose: () => void
}

function GroupsChange({ person, reload, onClose }: GroupsChangeProps) {
  const { t } = useLingui()
  const { id, revision } = person
  const [isAll, setAll] = useState(person.groups === null)
  const [chosen, setChosen] = useState<readonly string[]>(person.groups ?? [])
  const known = useQuery(readAll('/api/groups'))
  const toggle = (group: string, isChosen: boolean) =>
    setChosen(isChosen ? [...chosen, group] : chosen.filter((each) => each !== group))
  return (
    <Confirm
      title={<Trans>Groups of {id}</Trans>}
      action={t`Save`}
      danger={false}
      onConfirm={async () => {
        const init = { params: { path: { id } }, body: { groups: isAll ? null : [...chosen] } }
        await change('patch', '/api/people/{id}', { ...init, ifMatch: revision })
        await reload()
      }}
      onClose={onClose}
    >
      <p>
        <Trans>The account may make keys for these groups. Keys it has keep their groups.</Trans>
      </p>
      <Segments
        label={t`Groups`}
        value={isAll ? 'all' : 'some'}
        options={[
          { value: 'all', label: t`All groups` },
          { value: 'some', label: t`Only these` },
        ]}
        onChange={(value) => setAll(value === 'all')}
      />
      {!isAll && (
        <Widget query={known} skeleton={<Skeleton rows={3} />}>
          {({ items }) => (
            <GroupChoices
              // A group that was deleted can still be taken away.
              groups={[...new Set([...items.map((group) => group.id), ...(person.groups ?? [])])]}
              chosen={chosen}
              onToggle={toggle}
            />
          )}
        </Widget>
      )}
    </Confirm>
  )
}

interface GroupChoicesProps {
  readonly groups: readonly string[]
  readonly chosen: readonly string[]
  readonly onToggle: (group: string, isChosen: boolean) => void
}

function GroupChoices({ groups, chosen, onToggle }: GroupChoicesProps) {
  return (
    <fieldset className="flex max-h-64 flex-col gap-2 overflow-y-auto">
      <legend className="sr-only">
        <Trans>Groups</Trans>
      </legend>
      {groups.map((group) => (
        <Checkbox
          key={group}
          label={group}
          checked={chosen.includes(group)}
          onChange={({ target }) => onToggle(group, target.checked)}
        />
      ))}
      {chosen.length === 0 && (
        <p className="text-warning">
          <Trans>Without a group it can make no key.</Trans>
        </p>
      )}
    </fieldset>
  )
}
