// The buyer that receipts and statements name: a company's name, tax number and address.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { read, type Shape } from '../../api/client.ts'
import { changePreferences } from '../../app/keep-preferences.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { KeepDraft } from '../../ui/keep-draft.tsx'
import { Card } from '../../ui/page.tsx'
import { Failure, Widget } from '../../ui/state.tsx'
import { showToast } from '../../ui/toast.tsx'
import { sameFields, useRefusal } from '../../ui/use-refusal.ts'

const query = read('/api/me/preferences')

type Buyer = NonNullable<Shape<'Preferences'>['buyer']>

const none: Buyer = { title: '', taxNumber: '', address: '' }

export function BuyerCard() {
  const preferences = useQuery({ ...query, staleTime: 30_000 })
  return (
    <Card title={<Trans>Buyer on receipts and statements</Trans>}>
      <Widget query={preferences}>{({ buyer }) => <BuyerForm buyer={buyer ?? none} />}</Widget>
    </Card>
  )
}

function BuyerForm({ buyer }: { readonly buyer: Buyer }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const form = useForm({ values: buyer, resetOptions: { keepDirtyValues: true } })
  const { problem, attempt } = useRefusal(form, sameFields('title', 'taxNumber', 'address'))
  const { errors, isDirty, isSubmitting } = form.formState
  async function save(typed: Buyer) {
    const given: Buyer = {
      title: typed.title.trim(),
      taxNumber: typed.taxNumber.trim(),
      address: typed.address.trim(),
    }
    const isNone = Object.values(given).every((text) => text === '')
    await attempt(async () => {
      const now = await changePreferences(() => ({ buyer: isNone ? null : given }))
      client.setQueryData(query.queryKey, now)
      form.reset(given)
      showToast({ text: t`The buyer was saved.`, tone: 'info' })
    })
  }
  const needsTitle = (title: string, { taxNumber, address }: Buyer) =>
    title.trim() !== '' || (taxNumber.trim() === '' && address.trim() === '') || t`Write a name.`
  return (
    <form onSubmit={(event) => void form.handleSubmit(save)(event)} className="flex flex-col gap-4">
      <KeepDraft isDirty={isDirty} />
      <div className="grid gap-4 md:grid-cols-3">
        <Field label={<Trans>Company or person</Trans>} error={errors.title?.message}>
          <Input maxLength={128} {...form.register('title', { validate: needsTitle })} />
        </Field>
        <Field label={<Trans>Tax number</Trans>} error={errors.taxNumber?.message}>
          <Input maxLength={64} autoComplete="off" {...form.register('taxNumber')} />
        </Field>
        <Field label={<Trans>Address</Trans>} error={errors.address?.message}>
          <Input maxLength={256} {...form.register('address')} />
        </Field>
      </div>
      {problem !== null && <Failure error={problem} />}
      <div>
        <Button type="submit" busy={isSubmitting} disabled={!isDirty}>
          <Trans>Save</Trans>
        </Button>
      </div>
    </form>
  )
}
