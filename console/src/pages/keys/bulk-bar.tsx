// Actions on several keys at once: stop, move to another group, delete.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { change, readAll } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import type { Key } from './key-columns.tsx'
import { refreshKeys } from './refresh.ts'

interface BulkBarProps {
  readonly keys: readonly Key[]
  readonly onDone: () => void
}

type Task = 'disable' | 'group' | 'delete'

export function BulkBar({ keys, onDone }: BulkBarProps) {
  const { t } = useLingui()
  const [task, setTask] = useState<Task | null>(null)
  const own = keys.filter(({ declared }) => !declared)
  const declared = keys.length - own.length
  return (
    <div className="flex flex-wrap items-center gap-2 border-y border-border bg-info-tint px-4 py-2">
      <span className="mr-2">
        <Plural value={own.length} one="# key chosen" other="# keys chosen" />
        {declared > 0 && (
          <>
            {' '}
            <span className="text-text-2">
              <Plural
                value={declared}
                one="(# of the configuration file stays as it is)"
                other="(# of the configuration file stay as they are)"
              />
            </span>
          </>
        )}
      </span>
      <Button disabled={own.length === 0} onClick={() => setTask('disable')}>
        <Trans>Disable</Trans>
      </Button>
      <Button disabled={own.length === 0} onClick={() => setTask('group')}>
        <Trans>Change group</Trans>
      </Button>
      <Button variant="danger" disabled={own.length === 0} onClick={() => setTask('delete')}>
        <Trans>Delete</Trans>
      </Button>
      <Button variant="quiet" onClick={onDone}>
        {t`Choose none`}
      </Button>
      {task !== null && (
        <BulkTask task={task} keys={own} onClose={() => setTask(null)} onDone={onDone} />
      )}
    </div>
  )
}

interface BulkTaskProps extends BulkBarProps {
  readonly task: Task
  readonly onClose: () => void
}

function BulkTask({ task, keys, onClose, onDone }: BulkTaskProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const groups = useQuery(readAll('/api/groups'))
  const [group, setGroup] = useState('')
  const names = keys.map(({ name }) => name).join(', ')
  const used = keys.filter(({ today }) => today.requests > 0)
  const titles = {
    disable: t`Disable these keys`,
    group: t`Move these keys to another group`,
    delete: t`Delete these keys`,
  }
  const work = async () => {
    const moved = group || groups.data?.items[0]?.id || ''
    try {
      for (const key of keys) await doTask(task, key, moved)
    } finally {
      // Those before one that failed have been changed.
      void refreshKeys(client)
    }
    onDone()
  }
  return (
    <Confirm
      title={titles[task]}
      action={{ disable: t`Disable`, group: t`Change group`, delete: t`Delete` }[task]}
      danger={task !== 'group'}
      {...(task === 'delete' && used.length > 0 && { typed: String(keys.length) })}
      onConfirm={work}
      onClose={onClose}
    >
      <p className="break-words">{names}</p>
      {task === 'group' && (
        <Field label={t`Group`}>
          <Select value={group} onChange={(event) => setGroup(event.target.value)}>
            {groups.data?.items.map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </Select>
        </Field>
      )}
      {task !== 'group' && (
        <p>
          <Plural
            value={used.length}
            _0="None of them was used today."
            one="# of them was used today: whoever uses it will be refused within a second."
            other="# of them were used today: whoever uses them will be refused within a second."
          />
        </p>
      )}
    </Confirm>
  )
}

async function doTask(task: Task, { id, revision }: Key, group: string): Promise<void> {
  const params = { path: { id } }
  if (task === 'delete') await change('delete', '/api/keys/{id}', { params, ifMatch: revision })
  else if (task === 'disable')
    await change('post', '/api/keys/{id}/disable', { params, ifMatch: revision })
  else await change('patch', '/api/keys/{id}', { params, body: { group }, ifMatch: revision })
}
