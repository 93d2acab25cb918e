// The alerts of the signed-in person, and the notices so far.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import { change, read, type Shape } from '../../api/client.ts'
import { nanoOfUnits, unitsOfNano } from '../../format.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { amountRule, countRule, thresholdBounds } from '../../ui/bounds.ts'
import { Button, Buttons } from '../../ui/button.tsx'
import { Checkbox, Field, Input } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { KeepDraft } from '../../ui/keep-draft.tsx'
import { Card } from '../../ui/page.tsx'
import { Below, Skeleton, Widget } from '../../ui/state.tsx'
import { showToast } from '../../ui/toast.tsx'
import { useNewest } from '../../ui/use-newest.ts'
import { useRefusal } from '../../ui/use-refusal.ts'
import { Copy } from '../../ui/values.tsx'
import { ConfirmEmail } from './confirm-email.tsx'
import { Told } from './told.tsx'

type Alerts = Shape<'Alerts'>

/** As typed; empty: off. */
interface Values {
  readonly lowBalance: string
  readonly daySpend: string
  readonly timeZone: string
  readonly keyLimitPercent: string
  readonly errorRatePercent: string
  readonly webhook: string
  readonly newSecret: boolean
  readonly email: string
}

type AlertForm = UseFormReturn<Values>

export function AlertSettings() {
  const alerts = useQuery(read('/api/me/alerts'))
  return (
    <>
      <Card title={<Trans>Warn me</Trans>}>
        <Widget query={alerts} skeleton={<Skeleton rows={6} height={32} />}>
          {(data) => (
            <>
              <Form alerts={data} />
              {data.email !== null && !data.emailVerified && <ConfirmEmail alerts={data} />}
            </>
          )}
        </Widget>
      </Card>
      <Below isReady={!alerts.isPending}>
        <Told />
      </Below>
    </>
  )
}

function Form({ alerts }: { readonly alerts: Alerts }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const timeZone = useTimeZone()
  const valuesFrom = (shown: Alerts) => valuesOf(shown, timeZone)
  const form = useForm<Values>({ defaultValues: valuesFrom(alerts) })
  const { problem, attempt, clear } = useRefusal(form, (field) => fields[field] ?? null)
  const newest = useNewest({ form, shown: alerts, valuesOf: valuesFrom, clear })
  const [secret, setSecret] = useState<string | null>(null)
  async function send(values: Values) {
    await attempt(async () => {
      const { revision } = newest.base
      try {
        const body = bodyOf(values)
        const saved = await change('put', '/api/me/alerts', { body, ifMatch: revision })
        // Only this answer contains the secret.
        setSecret(saved.webhookSecret)
      } finally {
        await client.invalidateQueries({ queryKey: ['/api/me/alerts'] })
      }
      form.reset({ ...values, newSecret: false })
      showToast({ text: t`Saved.`, tone: 'info' })
    })
  }
  if (secret !== null) return <Secret secret={secret} onSaved={() => setSecret(null)} />
  return (
    <form
      noValidate
      className="flex max-w-2xl flex-col gap-4"
      onSubmit={(event) => void form.handleSubmit(send)(event)}
    >
      <KeepDraft isInTab isDirty={form.formState.isDirty} />
      <Rules form={form} currency={alerts.currency} />
      {alerts.mailOffered && <EmailAddress form={form} alerts={alerts} />}
      <Webhook form={form} hasOne={alerts.webhook !== null} />
      <FormProblem problem={problem} newest={newest} />
      <Buttons>
        <Button
          type="submit"
          variant="primary"
          busy={form.formState.isSubmitting}
          disabled={newest.isStale}
        >
          <Trans>Save</Trans>
        </Button>
      </Buttons>
    </form>
  )
}

function Rules({ form, currency }: { readonly form: AlertForm; readonly currency: string }) {
  const { t } = useLingui()
  const { register, formState } = form
  const { errors } = formState
  const amount = amountRule({ ...thresholdBounds, isOptional: true })
  const percent = countRule({ least: 1, most: 100, isOptional: true })
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <Field
        label={t`When less is left than`}
        hint={t`Empty: no warning.`}
        error={errors.lowBalance?.message}
      >
        <Input inputMode="decimal" unit={currency} {...register('lowBalance', amount)} />
      </Field>
      <Field
        label={t`When more is spent in a day than`}
        hint={t`Empty: no warning.`}
        error={errors.daySpend?.message}
      >
        <Input inputMode="decimal" unit={currency} {...register('daySpend', amount)} />
      </Field>
      <Field
        label={t`When a key has spent this part of its limit`}
        hint={t`Of keys with a spend limit.`}
        error={errors.keyLimitPercent?.message}
      >
        <Input inputMode="numeric" unit="%" {...register('keyLimitPercent', percent)} />
      </Field>
      <Field
        label={t`When this part of an hour’s requests fails`}
        hint={t`Of 20 requests at least.`}
        error={errors.errorRatePercent?.message}
      >
        <Input inputMode="numeric" unit="%" {...register('errorRatePercent', percent)} />
      </Field>
      <Field label={t`Days are those of`} error={errors.timeZone?.message}>
        <Input autoComplete="off" {...register('timeZone')} />
      </Field>
    </div>
  )
}

function EmailAddress({ form, alerts }: { readonly form: AlertForm; readonly alerts: Alerts }) {
  const { t } = useLingui()
  const { accountEmail, email, emailVerified } = alerts
  return (
    <Field
      label={t`Also mail to`}
      hint={
        email !== null && emailVerified
          ? t`Confirmed.`
          : t`Another address than your own gets a code first, which you enter here.`
      }
      error={form.formState.errors.email?.message}
    >
      <Input
        type="email"
        autoComplete="email"
        placeholder={accountEmail ?? 'me@example.com'}
        {...form.register('email')}
      />
    </Field>
  )
}

function Webhook({ form, hasOne }: { readonly form: AlertForm; readonly hasOne: boolean }) {
  const { t } = useLingui()
  const { register, formState } = form
  return (
    <div className="flex flex-col gap-2">
      <Field
        label={t`Also post to`}
        hint={t`An https address. Each post is signed; docs/alerts.md says how to check it.`}
        error={formState.errors.webhook?.message}
      >
        <Input
          type="url"
          autoComplete="off"
          placeholder="https://example.com/tollgate"
          {...register('webhook')}
        />
      </Field>
      {hasOne && <Checkbox label={t`Make a new secret for it`} {...register('newSecret')} />}
    </div>
  )
}

function Secret({ secret, onSaved }: { readonly secret: string; readonly onSaved: () => void }) {
  return (
    <div className="flex max-w-2xl flex-col gap-3">
      <p>
        <Trans>Posts are signed with this secret. This is the only time it is shown.</Trans>
      </p>
      <p className="flex items-center gap-2 rounded-control bg-sunken px-3 py-2">
        <code className="min-w-0 flex-1 font-mono text-code break-all">{secret}</code>
        <Copy text={secret} />
      </p>
      <Buttons>
        <Button variant="primary" onClick={onSaved}>
          <Trans>I saved it</Trans>
        </Button>
      </Buttons>
    </div>
  )
}

function valuesOf(alerts: Alerts, timeZone: string): Values {
  const { lowBalanceNano, daySpendNano, keyLimitPercent, errorRatePercent } = alerts
  return {
    lowBalance: lowBalanceNano === null ? '' : unitsOfNano(lowBalanceNano),
    daySpend: daySpendNano === null ? '' : unitsOfNano(daySpendNano),
    timeZone: alerts.revision === 0 ? timeZone : alerts.timeZone,
    keyLimitPercent: String(keyLimitPercent ?? ''),
    errorRatePercent: String(errorRatePercent ?? ''),
    webhook: alerts.webhook ?? '',
    newSecret: false,
    email: alerts.email ?? '',
  }
}

function bodyOf(values: Values) {
  const amount = (text: string) => (text.trim() === '' ? null : nanoOfUnits(text.trim()))
  const percent = (text: string) => (text.trim() === '' ? null : Number(text))
  return {
    lowBalanceNano: amount(values.lowBalance),
    daySpendNano: amount(values.daySpend),
    timeZone: values.timeZone.trim() || 'UTC',
    keyLimitPercent: percent(values.keyLimitPercent),
    errorRatePercent: percent(values.errorRatePercent),
    webhook: values.webhook.trim() || null,
    newSecret: values.newSecret,
    email: values.email.trim() || null,
  }
}

const fields: Readonly<Record<string, keyof Values>> = {
  lowBalanceNano: 'lowBalance',
  daySpendNano: 'daySpend',
  timeZone: 'timeZone',
  keyLimitPercent: 'keyLimitPercent',
  errorRatePercent: 'errorRatePercent',
  webhook: 'webhook',
  email: 'email',
}
