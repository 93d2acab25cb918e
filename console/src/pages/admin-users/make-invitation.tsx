// Makes an invitation, and shows its code once.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { useForm } from 'react-hook-form'
import { change, randomId, read, readAll } from '../../api/client.ts'
import { countRule } from '../../ui/bounds.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { OnceDialog } from '../../ui/once-dialog.tsx'
import { RoleOptions } from '../../ui/role-name.tsx'
import { ProblemLine } from '../../ui/state.tsx'
import { sameFields, useRefusal } from '../../ui/use-refusal.ts'
import { Copy } from '../../ui/values.tsx'

interface Values {
  readonly note: string
  readonly role: 'user' | 'auditor' | 'admin'
  /** Empty: those of new accounts. */
  readonly group: string
  readonly days: string
}

const fieldOf = sameFields('note', 'days')

interface MakeInvitationProps {
  readonly onMade: () => Promise<unknown>
  readonly onClose: () => void
}

export function MakeInvitation({ onMade, onClose }: MakeInvitationProps) {
  const formId = useId()
  const form = useForm<Values>({ defaultValues: { note: '', role: 'user', group: '', days: '7' } })
  const { problem, attempt: guarded } = useRefusal(form, fieldOf)
  const [code, setCode] = useState<string | null>(null)
  const attempt = useRef({ typed: '', idempotencyKey: '' })
  async function send({ group, days, ...values }: Values) {
    const body = { ...values, days: Number(days), groups: group === '' ? null : [group] }
    const typed = JSON.stringify(body)
    // Sending the same again after a lost answer makes no second one.
    if (attempt.current.typed !== typed) attempt.current = { typed, idempotencyKey: randomId() }
    await guarded(async () => {
      const { idempotencyKey } = attempt.current
      const made = await change('post', '/api/invitations', { body, idempotencyKey })
      await onMade()
      setCode(made.code)
    })
  }
  if (code !== null) return <Code code={code} onClose={onClose} />
  return (
    <Dialog
      keep={form.formState.isDirty}
      busy={form.formState.isSubmitting}
      title={<Trans>Invite somebody</Trans>}
      onClose={onClose}
      footer={
        <>
          <Button disabled={form.formState.isSubmitting} onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button variant="primary" type="submit" form={formId} busy={form.formState.isSubmitting}>
            <Trans>Make invitation</Trans>
          </Button>
        </>
      }
    >
      <form
        id={formId}
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => void form.handleSubmit(send)(event)}
      >
        <NoProvider />
        <Fields form={form} />
        {problem !== null && <ProblemLine error={problem} />}
      </form>
    </Dialog>
  )
}

/** An invitation is accepted by a provider's sign-in. */
function NoProvider() {
  const { data } = useQuery(read('/api/auth/providers'))
  if (data?.providers.length !== 0) return null
  return (
    <p role="alert" className="text-warning">
      <Trans>
        Nobody can accept an invitation here until the configuration names a provider of sign-in.
      </Trans>
    </p>
  )
}

function Fields({ form }: { readonly form: ReturnType<typeof useForm<Values>> }) {
  const { t } = useLingui()
  const groups = useQuery(readAll('/api/groups'))
  const { register, formState } = form
  const { errors } = formState
  return (
    <>
      <Field
        label={t`Note`}
        hint={t`Whom it is for. Only operators see it.`}
        error={errors.note?.message}
      >
        <Input autoComplete="off" {...register('note')} />
      </Field>
      <div className="grid gap-4 md:grid-cols-3">
        <Field label={t`Role`}>
          <Select {...register('role')}>
            <RoleOptions />
          </Select>
        </Field>
        <Field label={t`Group`}>
          <Select {...register('group')}>
            <option value="">{t`that of new accounts`}</option>
            {groups.data?.items.map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </Select>
        </Field>
        <Field label={t`Days it is valid`} error={errors.days?.message}>
          <Input inputMode="numeric" {...register('days', countRule({ least: 1, most: 90 }))} />
        </Field>
      </div>
    </>
  )
}

function Code({ code, onClose }: { readonly code: string; readonly onClose: () => void }) {
  const address = `${location.origin}/console/sign-in?invitation=${encodeURIComponent(code)}`
  return (
    <OnceDialog title={<Trans>Send this to whom you invite</Trans>} onClose={onClose}>
      <div className="flex flex-col gap-3">
        <p>
          <Trans>This is the only time it is shown. It makes one account.</Trans>
        </p>
        {[code, address].map((text) => (
          <p key={text} className="flex items-center gap-2 rounded-control bg-sunken px-3 py-2">
            <code className="min-w-0 flex-1 font-mono text-code break-all">{text}</code>
            <Copy text={text} />
          </p>
        ))}
      </div>
    </OnceDialog>
  )
}
