// Automatic top-up: a payer agrees to it once, then a rule says when and how much; the page shows why it stopped.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import { change, Problem, randomId, read, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { nanoOfUnits, unitsOfNano } from '../../format.ts'
import { amountProblem, amountRule, paymentBounds, thresholdBounds } from '../../ui/bounds.ts'
import { Button, Buttons } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { KeepDraft } from '../../ui/keep-draft.tsx'
import { Card } from '../../ui/page.tsx'
import { refusalText } from '../../ui/refusal.ts'
import { Failure, ProblemLine } from '../../ui/state.tsx'
import { showToast } from '../../ui/toast.tsx'
import { useNewest } from '../../ui/use-newest.ts'
import { useRefusal } from '../../ui/use-refusal.ts'
import { Money, Status } from '../../ui/values.tsx'

type Rule = Shape<'AutoTopUp'>

const path = '/api/billing/auto-top-up'

export function autoTopUpQuery(account: string) {
  return read(path, { params: { query: { account } } })
}

/** Renders nothing if no provider of the deployment can pay automatically. */
export function AutoTopUpCard({ account }: { readonly account: string }) {
  const rule = useQuery(autoTopUpQuery(account))
  const me = useMe()
  const { mayChange } = roleOf(me)
  const isOwn = me?.id === account
  const { data } = rule
  if (data === undefined)
    return (
      rule.error && (
        <Card title={<Trans>Automatic top-up</Trans>}>
          <Failure error={rule.error} retry={() => void rule.refetch()} />
        </Card>
      )
    )
  if (data.provider === null) return null
  const { problem } = data
  return (
    <Card title={<Trans>Automatic top-up</Trans>} actions={<State rule={data} />}>
      <div className="flex max-w-2xl flex-col gap-4">
        {problem !== null && (
          <p role="status">
            <Trans>
              A payment was refused: {problem} Nothing is paid until you turn it on again; for
              another card, agree anew.
            </Trans>
          </p>
        )}
        {!mayChange && <Terms rule={data} />}
        {mayChange && data.isAgreed && <RuleForm key={account} rule={data} />}
        {mayChange &&
          (!data.isAgreed || problem !== null) &&
          (isOwn ? (
            <Agree rule={data} />
          ) : (
            <p className="text-text-2">
              <Trans>Only the account itself can agree to it, with its own card.</Trans>
            </p>
          ))}
      </div>
    </Card>
  )
}

/** For those who may not change it. */
function Terms({ rule }: { readonly rule: Rule }) {
  const { thresholdNano, amount, monthMost, currency, providerCurrency } = rule
  return (
    <p className="text-text-2">
      {thresholdNano === null ? (
        <Trans>It is not set up.</Trans>
      ) : (
        <Trans>
          When less than <Money nano={thresholdNano} currency={currency} /> is left: {amount}{' '}
          {providerCurrency}, at most {monthMost} {providerCurrency} in a month.
        </Trans>
      )}
    </p>
  )
}

function State({ rule: { state } }: { readonly rule: Rule }) {
  const { t } = useLingui()
  const words = { off: t`off`, on: t`on`, stopped: t`stopped` }
  const tones = { off: 'pending', on: 'ok', stopped: 'failed' } as const
  return <Status tone={tones[state]}>{words[state]}</Status>
}

/** By a payment at the provider's page, which stores the card. */
function Agree({ rule }: { readonly rule: Rule }) {
  const { t } = useLingui()
  const navigate = useNavigate()
  const [amount, setAmount] = useState('10')
  const [typedProblem, setTypedProblem] = useState<string>()
  // Pressing again after a lost answer gives the same order; a refused one may be tried as a new one.
  const [attempt, setAttempt] = useState(randomId)
  const { account, provider, agreeMethod: method, providerCurrency } = rule
  const order = useMutation({
    mutationFn: () => {
      const typed = amount.trim()
      const way = { provider: provider ?? '', method: method ?? '' }
      const body = { account, ...way, amount: typed, attempt }
      return change('post', '/api/orders', { body, idempotencyKey: attempt + typed })
    },
    onSuccess: ({ id }) => navigate({ to: '/billing/top-up', search: { order: id } }),
    onError(failure) {
      if (failure instanceof Problem && failure.status !== 0) setAttempt(randomId())
    },
  })
  function pay() {
    const found = amountProblem(amount, paymentBounds)
    setTypedProblem(found)
    if (found === undefined) order.mutate()
  }
  const { error } = order
  const isOfAmount = error instanceof Problem && error.field === 'amount'
  const refused = isOfAmount ? refusalText(error) : undefined
  return (
    <>
      <p className="text-text-2">
        <Trans>
          Agree to it with a first payment: the card is kept at the payment service, never here.
          After it you set when and how much the card is charged without asking again.
        </Trans>
      </p>
      <Field label={t`First payment`} error={typedProblem ?? refused}>
        <Input
          inputMode="decimal"
          unit={providerCurrency ?? ''}
          value={amount}
          onChange={({ target }) => setAmount(target.value.trim())}
        />
      </Field>
      <Buttons>
        <Button busy={order.isPending} onClick={pay}>
          <Trans>Agree and pay</Trans>
        </Button>
      </Buttons>
      {error !== null && !isOfAmount && <ProblemLine error={error} />}
    </>
  )
}

interface Values {
  readonly threshold: string
  readonly amount: string
  readonly monthMost: string
}

function RuleForm({ rule }: { readonly rule: Rule }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const { account, state } = rule
  const form = useForm<Values>({ defaultValues: valuesOf(rule) })
  const params = { query: { account } }
  const refresh = () => client.invalidateQueries({ queryKey: [path] })
  const remove = useMutation({
    // Without If-Match: payments must stop also if the rule was changed meanwhile.
    mutationFn: () => change('delete', path, { params }),
    onSuccess: refresh,
  })
  const { problem, attempt, clear } = useRefusal(form, (field) => fields[field] ?? null)
  const newest = useNewest({ form, shown: rule, valuesOf, clear })
  async function send(values: Values) {
    const body = {
      thresholdNano: nanoOfUnits(values.threshold.trim()),
      amount: values.amount.trim(),
      monthMost: values.monthMost.trim(),
    }
    await attempt(async () => {
      try {
        // Fails if somebody else changed it meanwhile, or a refused payment did.
        await change('put', path, { params, body, ifMatch: newest.base.revision })
      } finally {
        await refresh()
      }
      form.reset(values)
      showToast({ text: t`Saved.`, tone: 'info' })
    })
  }
  return (
    <form className="flex flex-col gap-4" onSubmit={(event) => void form.handleSubmit(send)(event)}>
      <KeepDraft isDirty={form.formState.isDirty} />
      <RuleFields form={form} rule={rule} />
      <FormProblem problem={problem ?? remove.error} newest={newest} />
      <Buttons>
        <Button
          type="submit"
          variant="primary"
          busy={form.formState.isSubmitting}
          disabled={newest.isStale}
        >
          {state === 'on' ? <Trans>Save</Trans> : <Trans>Turn on</Trans>}
        </Button>
        {state !== 'off' && (
          <Button busy={remove.isPending} onClick={() => remove.mutate()}>
            <Trans>Turn off</Trans>
          </Button>
        )}
      </Buttons>
    </form>
  )
}

function valuesOf({ thresholdNano, amount, monthMost }: Rule): Values {
  return {
    threshold: thresholdNano === null ? '' : unitsOfNano(thresholdNano),
    amount: amount ?? '',
    monthMost: monthMost ?? '',
  }
}

const fields: Readonly<Record<string, keyof Values>> = {
  thresholdNano: 'threshold',
  amount: 'amount',
  monthMost: 'monthMost',
}

interface FieldsProps {
  readonly form: UseFormReturn<Values>
  readonly rule: Rule
}

function RuleFields({ form, rule }: FieldsProps): ReactNode {
  const { t } = useLingui()
  const { currency, monthSpent } = rule
  const providerCurrency = rule.providerCurrency ?? ''
  const { errors } = form.formState
  const amount = amountRule(paymentBounds)
  return (
    <div className="grid gap-4 md:grid-cols-3">
      <Field label={t`When less is left than`} error={errors.threshold?.message}>
        <Input
          inputMode="decimal"
          unit={currency}
          {...form.register('threshold', amountRule(thresholdBounds))}
        />
      </Field>
      <Field label={t`Pay`} error={errors.amount?.message}>
        <Input inputMode="decimal" unit={providerCurrency} {...form.register('amount', amount)} />
      </Field>
      <Field
        label={t`At most in a month`}
        hint={t`Paid this month: ${monthSpent}.`}
        error={errors.monthMost?.message}
      >
        <Input
          inputMode="decimal"
          unit={providerCurrency}
          {...form.register('monthMost', amount)}
        />
      </Field>
    </div>
  )
}
