// The views of Requests saved with the account: chosen, saved, renamed, deleted.

import { Trans, useLingui } from '@lingui/react/macro'
import {
  type UseMutationResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { read, type Shape } from '../../api/client.ts'
import { changePreferences, chosenHere } from '../../app/keep-preferences.ts'
import { columnChoice } from '../../state/columns.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { ProblemLine, Skeleton, Widget } from '../../ui/state.tsx'
import { showToast } from '../../ui/toast.tsx'

type Views = Shape<'Preferences'>['views']

const path = '/api/me/preferences'
const page = 'requests'

const changeViews = (alter: (views: Views) => Views) =>
  changePreferences(({ views }) => ({ ...chosenHere(), views: alter(views) }))

interface ViewListProps {
  readonly current: string
  readonly onChoose: (view: Views[number]) => void
}

export default function ViewList({ current, onChoose }: ViewListProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const kept = useQuery(read(path))
  const [saved, setSaved] = useState(0)
  const alter = useMutation({
    mutationFn: changeViews,
    onSuccess: (preferences) => client.setQueryData(read(path).queryKey, preferences),
  })
  const save = (name: string) =>
    alter.mutate(
      (views) => [
        ...without(views, name),
        { name, page, search: current, columns: columnChoice(page) },
      ],
      {
        onSuccess: () => setSaved((count) => count + 1),
      },
    )
  return (
    <div className="flex w-80 max-w-full flex-col gap-3 p-3">
      <Widget query={kept} skeleton={<Skeleton rows={2} />}>
        {({ views }) => {
          const own = views.filter((view) => view.page === page)
          if (own.length === 0)
            return (
              <p className="text-text-2">
                <Trans>Nothing is saved yet.</Trans>
              </p>
            )
          return (
            <ul className="flex max-h-72 flex-col gap-1 overflow-y-auto">
              {own.map((view) => (
                <ViewRow
                  key={view.name}
                  view={view}
                  isCurrent={view.search === current}
                  alter={alter}
                  onChoose={() => onChoose(view)}
                />
              ))}
            </ul>
          )
        }}
      </Widget>
      <NameForm
        key={saved}
        label={t`Save the filters and range as`}
        initial=""
        busy={alter.isPending}
        onName={save}
      />
      {alter.error !== null && <ProblemLine error={alter.error} />}
    </div>
  )
}

interface ViewRowProps {
  readonly view: Views[number]
  readonly isCurrent: boolean
  readonly alter: UseMutationResult<Shape<'Preferences'>, Error, (views: Views) => Views>
  readonly onChoose: () => void
}

function ViewRow({ view, isCurrent, alter, onChoose }: ViewRowProps) {
  const { t } = useLingui()
  const [isRenamed, setRenamed] = useState(false)
  const { name } = view
  function remove() {
    const undo = () => alter.mutate((views) => [...without(views, name), view])
    const action = { label: t`Undo`, run: undo }
    alter
      .mutateAsync((views) => without(views, name))
      .then(
        () => showToast({ text: t`The view ${name} was deleted.`, tone: 'info', action }),
        // The list shows it.
        () => undefined,
      )
  }
  const rename = (next: string) =>
    alter.mutate(
      (views) => views.map((each) => (each.name === name ? { ...each, name: next } : each)),
      { onSuccess: () => setRenamed(false) },
    )
  if (isRenamed)
    return (
      <li>
        <NameForm label={t`New name`} initial={name} busy={alter.isPending} onName={rename} />
      </li>
    )
  return (
    <li className="flex items-center gap-1">
      <Button
        variant="quiet"
        className="min-w-0 flex-1 justify-start"
        aria-current={isCurrent ? 'true' : undefined}
        onClick={onChoose}
      >
        <span className="truncate">{name}</span>
      </Button>
      <IconButton icon="edit" label={t`Rename ${name}`} onClick={() => setRenamed(true)} />
      <IconButton icon="trash" label={t`Delete ${name}`} onClick={remove} />
    </li>
  )
}

/** All except the one with this name. */
function without(views: Views, name: string): Views {
  return views.filter((view) => view.name !== name)
}

interface NameFormProps {
  readonly label: string
  readonly initial: string
  readonly busy: boolean
  readonly onName: (name: string) => void
}

function NameForm({ label, initial, busy, onName }: NameFormProps) {
  const [name, setName] = useState(initial)
  function submit(event: FormEvent) {
    event.preventDefault()
    if (name.trim() !== '' && !busy) onName(name.trim())
  }
  return (
    <form onSubmit={submit} className="flex min-w-0 flex-1 items-end gap-2">
      <div className="min-w-0 flex-1">
        <Field label={label}>
          <Input
            autoComplete="off"
            maxLength={128}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </Field>
      </div>
      <Button type="submit" busy={busy} disabled={name.trim() === ''}>
        <Trans>Save</Trans>
      </Button>
    </form>
  )
}
