// The dialog that makes a management key, and then shows its secret once.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useRef, useState } from 'react'
import { change, Problem, randomId, type Shape } from '../../api/client.ts'
import { useMe } from '../../api/queries.ts'
import { useAccount } from '../../app/account-scope.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, Field, Input, Select } from '../../ui/field.tsx'
import { refusalText } from '../../ui/refusal.ts'
import { Failure } from '../../ui/state.tsx'
import { refreshKeys } from './refresh.ts'
import { ShownOnce } from './shown-once.tsx'

const dayMs = 86_400_000

export default function CreateManagementKey({ onClose }: { readonly onClose: () => void }) {
  const [made, setMade] = useState<Shape<'ManagementKeyWithSecret'> | null>(null)
  if (made === null) return <Making onMade={setMade} onClose={onClose} />
  const { name, secret } = made
  return <ShownOnce made={{ name, secret }} onClose={onClose} />
}

interface Values {
  readonly name: string
  readonly mayWrite: boolean
  /** When it expires; empty: never. */
  readonly days: string
}

interface MakingProps {
  readonly onMade: (made: Shape<'ManagementKeyWithSecret'>) => void
  readonly onClose: () => void
}

function Making({ onMade, onClose }: MakingProps) {
  const client = useQueryClient()
  const account = useAccount()
  const [values, setValues] = useState<Values>({ name: '', mayWrite: false, days: '90' })
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setBusy] = useState(false)
  const attempt = useRef({ typed: '', idempotencyKey: '', sentMs: 0 })
  const form = useId()
  const { name, mayWrite, days } = values
  async function submit(event: FormEvent) {
    event.preventDefault()
    if (isBusy) return
    const typed = JSON.stringify(values)
    if (attempt.current.typed !== typed)
      attempt.current = { typed, idempotencyKey: randomId(), sentMs: Date.now() }
    const { idempotencyKey, sentMs } = attempt.current
    setBusy(true)
    setError(null)
    try {
      const body = {
        name: name.trim(),
        scopes: mayWrite ? (['read', 'write'] as const) : (['read'] as const),
        expiresAt: days === '' ? null : new Date(sentMs + Number(days) * dayMs).toISOString(),
        account: account ?? null,
      }
      onMade(await change('post', '/api/management-keys', { body, idempotencyKey }))
      void refreshKeys(client)
    } catch (failure) {
      setError(failure as Error)
      setBusy(false)
    }
  }
  return (
    <Dialog
      keep={name !== ''}
      busy={isBusy}
      title={<Trans>Create management key</Trans>}
      onClose={onClose}
      footer={
        <>
          <Button disabled={isBusy} onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button type="submit" form={form} variant="primary" busy={isBusy}>
            <Trans>Create management key</Trans>
          </Button>
        </>
      }
    >
      <form
        id={form}
        noValidate
        onSubmit={(event) => void submit(event)}
        className="flex flex-col gap-4"
      >
        <Whose />
        <Fields values={values} onChange={setValues} error={error} />
      </form>
    </Dialog>
  )
}

/** Says as which account the key will act. */
function Whose() {
  const account = useAccount()
  const isAdmin = useMe()?.role === 'admin'
  return (
    <p className="text-text-2">
      {account !== undefined ? (
        <Trans>It acts as the account {account}.</Trans>
      ) : isAdmin ? (
        <Trans>It is for the whole deployment, as you are. Choose an account for one of it.</Trans>
      ) : (
        <Trans>It acts as your account, over the control API.</Trans>
      )}
    </p>
  )
}

interface FieldsProps {
  readonly values: Values
  readonly onChange: (values: Values) => void
  readonly error: Error | null
}

function Fields({ values, onChange, error }: FieldsProps) {
  const { t } = useLingui()
  const field = error instanceof Problem ? error.field : null
  const nameError =
    values.name.trim() === '' ? t`Give the key a name.` : error && refusalText(error)
  return (
    <>
      <Field label={t`Name`} error={field === 'name' ? nameError : undefined}>
        <Input
          autoComplete="off"
          maxLength={128}
          value={values.name}
          onChange={(event) => onChange({ ...values, name: event.target.value })}
        />
      </Field>
      <Checkbox
        label={t`May change things`}
        hint={t`Without it the key can only read.`}
        checked={values.mayWrite}
        onChange={(event) => onChange({ ...values, mayWrite: event.target.checked })}
      />
      <Field
        label={t`Expires`}
        error={field === 'expiresAt' ? error && refusalText(error) : undefined}
      >
        <Select
          value={values.days}
          onChange={(event) => onChange({ ...values, days: event.target.value })}
        >
          <option value="1">{t`In a day`}</option>
          <option value="30">{t`In 30 days`}</option>
          <option value="90">{t`In 90 days`}</option>
          <option value="365">{t`In a year`}</option>
          <option value="">{t`Never`}</option>
        </Select>
      </Field>
      {error !== null && field !== 'name' && field !== 'expiresAt' && <Failure error={error} />}
    </>
  )
}
