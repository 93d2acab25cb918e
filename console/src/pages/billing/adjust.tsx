// Operators credit or debit an account, with the reason that its ledger shows.

import { Trans, useLingui } from '@lingui/react/macro'
import { useId, useState } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import { change } from '../../api/client.ts'
import { refreshMoney } from '../../api/queries.ts'
import { amountRule, creditBounds } from '../../ui/bounds.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { ProblemLine } from '../../ui/state.tsx'
import { showToast } from '../../ui/toast.tsx'
import { useIdempotencyKey } from '../../ui/use-idempotency-key.ts'
import { sameFields, useRefusal } from '../../ui/use-refusal.ts'

interface Values {
  readonly direction: 'credit' | 'debit'
  readonly amount: string
  readonly reason: string
}

export function Adjust({ account }: { readonly account: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button icon="plus" onClick={() => setOpen(true)}>
        <Trans>Adjust the balance</Trans>
      </Button>
      {isOpen && <AdjustDialog account={account} onClose={() => setOpen(false)} />}
    </>
  )
}

const fieldOf = sameFields('amount', 'reason', 'direction')

interface DialogProps {
  readonly account: string
  readonly onClose: () => void
}

function AdjustDialog({ account, onClose }: DialogProps) {
  const { t } = useLingui()
  const id = useId()
  const idempotencyKey = useIdempotencyKey()
  const form = useForm<Values>({
    defaultValues: { direction: 'credit', amount: '', reason: '' },
  })
  const { handleSubmit, formState } = form
  const { problem, attempt } = useRefusal(form, fieldOf)
  async function submit(values: Values) {
    const body = { ...values, amount: values.amount.trim() }
    await attempt(async () => {
      const params = { path: { id: account } }
      const once = { idempotencyKey: idempotencyKey.of(body) }
      await change('post', '/api/accounts/{id}/adjustments', { params, body, ...once })
      await refreshMoney()
      showToast({ text: t`The balance of ${account} was adjusted.`, tone: 'info' })
      onClose()
    })
  }
  return (
    <Dialog
      keep={formState.isDirty}
      busy={formState.isSubmitting}
      title={<Trans>Adjust the balance of {account}</Trans>}
      onClose={onClose}
      footer={
        <>
          <Button disabled={formState.isSubmitting} onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button form={id} type="submit" variant="primary" busy={formState.isSubmitting}>
            <Trans>Adjust</Trans>
          </Button>
        </>
      }
    >
      <form id={id} noValidate onSubmit={handleSubmit(submit)} className="flex flex-col gap-4">
        <Fields form={form} />
        {problem !== null && <ProblemLine error={problem} />}
      </form>
    </Dialog>
  )
}

function Fields({ form }: { readonly form: UseFormReturn<Values> }) {
  const { t } = useLingui()
  const { register, formState } = form
  const { errors } = formState
  return (
    <>
      <Field label={<Trans>Direction</Trans>} error={errors.direction?.message}>
        <Select {...register('direction')}>
          <option value="credit">{t`Add credit`}</option>
          <option value="debit">{t`Deduct credit`}</option>
        </Select>
      </Field>
      <Field
        label={<Trans>Amount</Trans>}
        hint={<Trans>In units of the currency, up to nine decimals.</Trans>}
        error={errors.amount?.message}
      >
        <Input
          inputMode="decimal"
          autoComplete="off"
          {...register('amount', amountRule(creditBounds))}
        />
      </Field>
      <Field
        label={<Trans>Reason</Trans>}
        hint={<Trans>The account sees it in its ledger.</Trans>}
        error={errors.reason?.message}
      >
        <Input {...register('reason', { required: t`Say why.` })} />
      </Field>
    </>
  )
}
