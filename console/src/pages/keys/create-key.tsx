// The dialog that makes a key, and then shows its secret once.

import { Trans } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useId, useState } from 'react'
import { change, readAll, type Shape } from '../../api/client.ts'
import { useBalance } from '../../api/queries.ts'
import { useAccount } from '../../app/account-scope.tsx'
import { useTimeZone } from '../../state/preferences.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure, Skeleton } from '../../ui/state.tsx'
import { KeyFields } from './key-form.tsx'
import { bodyOf, emptyValues } from './key-values.ts'
import { refreshKeys } from './refresh.ts'
import { ShownOnce } from './shown-once.tsx'
import { useKeyForm } from './use-key-form.ts'

export default function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const groups = useQuery(readAll('/api/groups'))
  const [made, setMade] = useState<Shape<'KeyWithSecret'> | null>(null)
  if (made !== null) return <ShownOnce made={made} onClose={onClose} />
  if (groups.data !== undefined) {
    const first = groups.data.items.find(({ id }) => id === 'default') ?? groups.data.items[0]
    return <Making group={first?.id ?? ''} onMade={setMade} onClose={onClose} />
  }
  return (
    <Dialog wide title={<Trans>Create key</Trans>} onClose={onClose}>
      {groups.error === null ? (
        <Skeleton rows={6} height={32} />
      ) : (
        <Failure error={groups.error} retry={() => void groups.refetch()} />
      )}
    </Dialog>
  )
}

interface MakingProps {
  readonly group: string
  readonly onMade: (made: Shape<'KeyWithSecret'>) => void
  readonly onClose: () => void
}

function Making({ group, onMade, onClose }: MakingProps) {
  const client = useQueryClient()
  const account = useAccount()
  // The fields keep local times, which a zone chosen meanwhile must not move.
  const [timeZone] = useState(useTimeZone())
  const balance = useBalance()
  const id = useId()
  const { form, problem, submit } = useKeyForm(
    emptyValues(group, timeZone),
    async (values, { idempotencyKey, sentMs }) => {
      const body = {
        ...bodyOf(values, sentMs, timeZone),
        ...(account !== undefined && { account }),
      }
      onMade(await change('post', '/api/keys', { body, idempotencyKey }))
      void refreshKeys(client)
    },
  )
  // By default the dialog would focus its first button.
  useEffect(() => form.setFocus('name'), [form])
  return (
    <Dialog
      wide
      keep={form.formState.isDirty}
      busy={form.formState.isSubmitting}
      title={<Trans>Create key</Trans>}
      onClose={onClose}
      footer={
        <>
          <Button disabled={form.formState.isSubmitting} onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button type="submit" form={id} variant="primary" busy={form.formState.isSubmitting}>
            <Trans>Create key</Trans>
          </Button>
        </>
      }
    >
      <form
        id={id}
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          submit()
        }}
      >
        <KeyFields form={form} currency={balance.data?.currency ?? ''} timeZone={timeZone} />
        {problem !== null && <Failure error={problem} />}
      </form>
    </Dialog>
  )
}
