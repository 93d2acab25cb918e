// The fields of a key: the same to make one and to change one.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { readAll } from '../../api/client.ts'
import { amountRule, countRule, creditBounds } from '../../ui/bounds.ts'
import { Checkbox, Field, Input, Select, TextArea } from '../../ui/field.tsx'
import { ProblemText } from '../../ui/state.tsx'
import { GroupEffect } from './group-effect.tsx'
import type { KeyValues } from './key-values.ts'

/** The same for requests, tokens, and concurrent requests. */
const mostPerMinute = 1_000_000_000_000

export type KeyForm = UseFormReturn<KeyValues>

interface FieldsProps {
  readonly form: KeyForm
  readonly currency: string
  /** That of the times in the form. */
  readonly timeZone: string
}

export function KeyFields({ form, currency, timeZone }: FieldsProps) {
  const { t } = useLingui()
  const { register, formState, watch } = form
  const { errors, defaultValues } = formState
  const isSet = (...names: readonly (keyof KeyValues)[]) =>
    names.some((name) => errors[name] !== undefined || Boolean(defaultValues?.[name]))
  const groups = useQuery(readAll('/api/groups'))
  const group = watch('group')
  const names = groups.data?.items.map(({ id }) => id) ?? []
  const offered = names.includes(group) || group === '' ? names : [group, ...names]
  return (
    <div className="flex flex-col gap-5">
      <div className="grid gap-4 md:grid-cols-2">
        <Field
          label={t`Name`}
          hint={t`Where it is used: laptop, ci, website.`}
          error={errors.name?.message}
        >
          <Input
            autoComplete="off"
            maxLength={128}
            {...register('name', { required: t`Give the key a name.` })}
          />
        </Field>
        <Field
          label={t`Group`}
          hint={t`Says which models it may use, and at what price.`}
          error={errors.group?.message ?? (groups.error && <ProblemText error={groups.error} />)}
        >
          <Select {...register('group', { required: t`Choose a group.` })}>
            {offered.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </Select>
        </Field>
      </div>
      {group !== '' && <GroupEffect group={group} />}
      <SpendFields form={form} currency={currency} />
      <ExpiryFields form={form} timeZone={timeZone} />
      <Section title={<Trans>Models</Trans>} open={isSet('models', 'deniedModels')}>
        <ModelFields form={form} />
      </Section>
      <Section
        title={<Trans>Rate limits</Trans>}
        open={isSet('requestsPerMinute', 'tokensPerMinute', 'concurrentRequests')}
      >
        <RateFields form={form} />
      </Section>
      <Section
        title={<Trans>Addresses, history and cost</Trans>}
        open={isSet('addresses', 'historyMode', 'showCost')}
      >
        <OtherFields form={form} />
      </Section>
    </div>
  )
}

interface SectionProps {
  readonly title: ReactNode
  readonly open: boolean
  readonly children: ReactNode
}

/** Fields that most keys do not need; open if one of them is set or refused. */
function Section({ title, open, children }: SectionProps) {
  return (
    <details open={open} className="rounded-card border border-border">
      <summary className="min-h-9 px-3 py-2 text-label text-text-2">{title}</summary>
      <div className="border-t border-border p-3">{children}</div>
    </details>
  )
}

function SpendFields({
  form: { register, formState, watch },
  currency,
}: Omit<FieldsProps, 'timeZone'>) {
  const { t } = useLingui()
  const { errors } = formState
  const hasLimit = watch('amount').trim() !== ''
  return (
    <div className="grid gap-4 md:grid-cols-3">
      <Field
        label={t`Spend limit`}
        hint={t`Empty: no limit but the balance.`}
        error={errors.amount?.message}
      >
        <Input
          inputMode="decimal"
          autoComplete="off"
          unit={currency}
          placeholder="25"
          {...register('amount', amountRule({ ...creditBounds, isOptional: true }))}
        />
      </Field>
      <Field label={t`Resets`} error={errors.period?.message}>
        <Select disabled={!hasLimit} {...register('period')}>
          <option value="day">{t`Every day`}</option>
          <option value="week">{t`Every week, from Monday`}</option>
          <option value="month">{t`Every month`}</option>
          <option value="never">{t`Never: in all`}</option>
        </Select>
      </Field>
      <Field
        label={t`At midnight of`}
        hint={t`A time zone, such as Asia/Shanghai.`}
        error={errors.timeZone?.message}
      >
        <Input
          disabled={!hasLimit || watch('period') === 'never'}
          autoComplete="off"
          {...register('timeZone')}
        />
      </Field>
    </div>
  )
}

function ExpiryFields({
  form: { register, formState, watch },
  timeZone,
}: Omit<FieldsProps, 'currency'>) {
  const { t } = useLingui()
  const { errors } = formState
  return (
    <div className="grid gap-4 md:grid-cols-3">
      <Field
        label={t`Expires`}
        error={watch('expiry') === 'at' ? undefined : errors.expiresAt?.message}
      >
        <Select {...register('expiry')}>
          <option value="never">{t`Never`}</option>
          <option value="1h">{t`In an hour`}</option>
          <option value="1d">{t`In a day`}</option>
          <option value="30d">{t`In 30 days`}</option>
          <option value="90d">{t`In 90 days`}</option>
          <option value="365d">{t`In a year`}</option>
          <option value="at">{t`At a time of your choice`}</option>
        </Select>
      </Field>
      {watch('expiry') === 'at' && (
        <Field
          label={t`Expires at`}
          hint={t`In the zone ${timeZone}.`}
          error={errors.expiresAt?.message}
        >
          <Input
            type="datetime-local"
            {...register('expiresAt', { required: t`Choose a time.` })}
          />
        </Field>
      )}
    </div>
  )
}

function ModelFields({ form: { register, formState } }: { readonly form: KeyForm }) {
  const { t } = useLingui()
  const { errors } = formState
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <Field
        label={t`Only these models`}
        hint={t`One a line, or a beginning with a star: gpt-4o*. Empty: all of the group.`}
        error={errors.models?.message}
      >
        <TextArea rows={3} spellCheck={false} className="font-mono" {...register('models')} />
      </Field>
      <Field
        label={t`Never these models`}
        hint={t`Takes precedence over the list of those that are allowed.`}
        error={errors.deniedModels?.message}
      >
        <TextArea rows={3} spellCheck={false} className="font-mono" {...register('deniedModels')} />
      </Field>
    </div>
  )
}

function RateFields({ form: { register, formState } }: { readonly form: KeyForm }) {
  const { t } = useLingui()
  const { errors } = formState
  const whole = countRule({ least: 1, most: mostPerMinute, isOptional: true })
  return (
    <div className="grid gap-4 md:grid-cols-3">
      <Field label={t`Requests a minute`} error={errors.requestsPerMinute?.message}>
        <Input
          inputMode="numeric"
          placeholder={t`No limit`}
          {...register('requestsPerMinute', whole)}
        />
      </Field>
      <Field label={t`Tokens a minute`} error={errors.tokensPerMinute?.message}>
        <Input
          inputMode="numeric"
          placeholder={t`No limit`}
          {...register('tokensPerMinute', whole)}
        />
      </Field>
      <Field label={t`Requests at once`} error={errors.concurrentRequests?.message}>
        <Input
          inputMode="numeric"
          placeholder={t`No limit`}
          {...register('concurrentRequests', whole)}
        />
      </Field>
    </div>
  )
}

function OtherFields({ form: { register, formState } }: { readonly form: KeyForm }) {
  const { t } = useLingui()
  const { errors } = formState
  return (
    <div className="flex flex-col gap-4">
      <Field
        label={t`Only from these addresses`}
        hint={t`IP addresses or ranges, one a line: 10.0.0.0/8. Empty: from anywhere.`}
        error={errors.addresses?.message}
      >
        <TextArea rows={2} spellCheck={false} className="font-mono" {...register('addresses')} />
      </Field>
      <Field label={t`Message history`} error={errors.historyMode?.message}>
        <Select {...register('historyMode')}>
          <option value="">{t`As the account has it`}</option>
          <option value="off">{t`Off: nothing is kept`}</option>
          <option value="metadata">{t`Metadata: figures only`}</option>
          <option value="full">{t`Full: messages are kept, encrypted`}</option>
          <option value="sealed">{t`Sealed: only the account’s own key opens them`}</option>
        </Select>
      </Field>
      <Checkbox
        label={t`Replies say what they cost`}
        hint={t`In usage.cost of each reply to this key.`}
        {...register('showCost')}
      />
    </div>
  )
}
