// Refunds an order or a part of it, with the reason.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import { change, mayPass, Problem, randomId, read, type Shape } from '../../api/client.ts'
import { useBalance } from '../../api/queries.ts'
import { isAmount } from '../../format.ts'
import { amountRule, paymentBounds } from '../../ui/bounds.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { ProblemLine } from '../../ui/state.tsx'
import { showToast } from '../../ui/toast.tsx'
import { sameFields, useRefusal } from '../../ui/use-refusal.ts'
import { Money } from '../../ui/values.tsx'

interface Values {
  readonly amount: string
  readonly reason: string
}

const fieldOf = sameFields('amount', 'reason')

function refundBounds({ refundable }: Shape<'OrderDetails'>) {
  return { ...paymentBounds, most: refundable }
}

/** The gateway's own refusal; after anything else (a proxy's timeout, 503) the refund may have begun. */
function isRefusal(error: unknown): boolean {
  return error instanceof Problem && error.status >= 400 && error.status < 500 && !mayPass(error)
}

interface RefundDialogProps {
  readonly order: Shape<'OrderDetails'>
  readonly onClose: () => void
}

export function RefundDialog({ order, onClose }: RefundDialogProps) {
  const { t } = useLingui()
  const id = useId()
  // One name for all attempts of one form: a lost answer causes no second refund.
  const [refund, setRefund] = useState(randomId)
  const form = useForm<Values>({
    // What the amount takes from the wallet is shown as it is typed, so what is wrong with it is, too.
    mode: 'onChange',
    defaultValues: { amount: order.refundable, reason: '' },
  })
  const { handleSubmit, formState } = form
  const { problem, attempt } = useRefusal(form, fieldOf)
  async function send({ amount, reason }: Values) {
    try {
      const params = { path: { id: order.id } }
      const body = { amount: amount.trim(), reason, refund }
      const { state } = await change('post', '/api/orders/{id}/refund', { params, body })
      const text = {
        done: t`The refund is done.`,
        pending: t`The refund is under way; the provider is asked again until it confirms.`,
        failed: t`The provider refused the refund; the money is back in the wallet.`,
      }
      showToast({ text: text[state], tone: state === 'failed' ? 'danger' : 'info' })
      onClose()
    } catch (error) {
      if (isRefusal(error)) setRefund(randomId())
      throw error
    }
  }
  return (
    <Dialog
      keep={formState.isDirty}
      busy={formState.isSubmitting}
      title={<Trans>Refund the order</Trans>}
      onClose={onClose}
      footer={
        <>
          <Button disabled={formState.isSubmitting} onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button form={id} type="submit" variant="danger" busy={formState.isSubmitting}>
            <Trans>Refund</Trans>
          </Button>
        </>
      }
    >
      <form
        id={id}
        noValidate
        onSubmit={handleSubmit((values) => attempt(() => send(values)))}
        className="flex flex-col gap-4"
      >
        <Refundable account={order.account} />
        <Fields order={order} form={form} />
        {formState.errors.amount === undefined && (
          <Planned order={order} amount={form.watch('amount').trim()} />
        )}
        {problem !== null && <ProblemLine error={problem} />}
      </form>
    </Dialog>
  )
}

interface FieldsProps {
  readonly order: Shape<'OrderDetails'>
  readonly form: UseFormReturn<Values>
}

function Fields({ order, form }: FieldsProps) {
  const { t } = useLingui()
  const { register, formState } = form
  const { errors } = formState
  return (
    <>
      <Field
        label={<Trans>Amount</Trans>}
        hint={<Trans>A bonus that came with it is taken back in proportion.</Trans>}
        error={errors.amount?.message}
      >
        <Input
          inputMode="decimal"
          autoComplete="off"
          unit={order.currency}
          {...register('amount', amountRule(refundBounds(order)))}
        />
      </Field>
      <Field
        label={<Trans>Reason</Trans>}
        hint={<Trans>The provider is told.</Trans>}
        error={errors.reason?.message}
      >
        <Input {...register('reason', { required: t`Say why.` })} />
      </Field>
    </>
  )
}

function Refundable({ account }: { readonly account: string }) {
  const { data } = useQuery(read('/api/payments/offer', { params: { query: { account } } }))
  if (data === undefined) return null
  return (
    <p className="text-text-2">
      <Trans>
        The account has <Money exact nano={data.refundableNano} currency={data.currency} /> that was
        paid and is not spent.
      </Trans>
    </p>
  )
}

/** The amount that the server would take from the wallet for it. */
function Planned({
  order,
  amount,
}: {
  readonly order: Shape<'OrderDetails'>
  readonly amount: string
}) {
  const balance = useBalance()
  const planned = useQuery({
    ...read('/api/orders/{id}/refund', { params: { path: { id: order.id }, query: { amount } } }),
    enabled: isAmount(amount, refundBounds(order)),
    retry: false,
  })
  const { data } = planned
  if (planned.error !== null) return <ProblemLine error={planned.error} />
  if (data === undefined || balance.data === undefined) return null
  const { currency } = balance.data
  const isAlone = BigInt(data.clawbackNano) === 0n
  return (
    <p role="status">
      {isAlone ? (
        <Trans>
          <Money exact nano={data.amountNano} currency={currency} /> leaves the wallet, and no bonus
          with it.
        </Trans>
      ) : (
        <Trans>
          <Money exact nano={data.amountNano} currency={currency} /> leaves the wallet, and{' '}
          <Money exact nano={data.clawbackNano} currency={currency} /> of its bonus is taken back.
        </Trans>
      )}
    </p>
  )
}
