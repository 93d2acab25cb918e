// The fields of a group: the same to make one and to change one.

import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { percent } from '../../format.ts'
import { amountRule, countRule, multiplierBounds, nameRule } from '../../ui/bounds.ts'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { KeepDraft } from '../../ui/keep-draft.tsx'
import { type LimitName, limitNames } from './rows.ts'
import {
  type GroupFormState,
  type GroupValues,
  linesOf,
  type ShownGroup,
} from './use-group-form.ts'

interface FieldsProps {
  readonly form: UseFormReturn<GroupValues>
}

interface GroupFormProps {
  readonly formId: string
  readonly shown: ShownGroup
  readonly state: GroupFormState
}

export function GroupForm({ formId, shown, state }: GroupFormProps) {
  const { t } = useLingui()
  const { form, newest, problem, submit } = state
  const { register, formState } = form
  const { errors } = formState
  return (
    <form
      id={formId}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
      className="flex flex-col gap-4"
    >
      {/* The dialog of a new group keeps what is typed by itself. */}
      <KeepDraft isDirty={shown.id !== '' && formState.isDirty} />
      {shown.id === '' && (
        <Field
          label={t`Name`}
          hint={t`Letters, digits, dots, dashes and underscores. It cannot be changed later.`}
          error={errors.id?.message}
        >
          <Input
            autoComplete="off"
            spellCheck={false}
            {...register('id', nameRule(t`Give the group a name.`))}
          />
        </Field>
      )}
      <MultiplierField form={form} />
      <ModelMultipliersField form={form} />
      <Field
        label={t`Models`}
        hint={t`One a line: a name, or a beginning with one * at the end. A * alone: all.`}
        error={errors.models?.message}
      >
        <TextArea rows={4} spellCheck={false} {...register('models')} />
      </Field>
      <LimitFields form={form} />
      <FormProblem
        problem={problem}
        newest={newest}
        actor={shown.actor ?? null}
        changedAt={shown.changedAt ?? null}
      />
    </form>
  )
}

function MultiplierField({ form: { register, formState, watch } }: FieldsProps) {
  const { t } = useLingui()
  return (
    <Field
      label={t`Multiplier`}
      hint={<MultiplierHint text={watch('multiplier')} />}
      error={formState.errors.multiplier?.message}
    >
      <Input
        inputMode="decimal"
        autoComplete="off"
        {...register('multiplier', amountRule(multiplierBounds))}
      />
    </Field>
  )
}

const limitBounds = { least: 1, most: 1_000_000_000 }

const aMultiplier = /^[^*\s]*\*?\s+\d+(\.\d{1,6})?$/

function ModelMultipliersField({ form: { register, formState } }: FieldsProps) {
  const { t } = useLingui()
  const wrong = (text: string) => linesOf(text).find((line) => !aMultiplier.test(line))
  return (
    <Field
      label={t`Exceptions by model`}
      hint={t`One a line: a model, or a beginning with one * at the end, and its multiplier, such as gpt-4o* 0.8. The longest counts.`}
      error={formState.errors.modelMultipliers?.message}
    >
      <TextArea
        rows={3}
        spellCheck={false}
        {...register('modelMultipliers', {
          validate: (text) => {
            const line = wrong(text)
            return line === undefined || t`Write a model and a decimal, not “${line}”.`
          },
        })}
      />
    </Field>
  )
}

function LimitFields({ form: { register, formState } }: FieldsProps) {
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-2 text-label text-text-2">
        <Trans>Limits of all keys of the group together; empty: none</Trans>
      </legend>
      <div className="grid gap-4 md:grid-cols-3">
        {limitNames.map((name) => (
          <LimitField key={name} name={name} error={formState.errors.limits?.[name]?.message}>
            <Input
              inputMode="numeric"
              autoComplete="off"
              {...register(`limits.${name}`, countRule({ ...limitBounds, isOptional: true }))}
            />
          </LimitField>
        ))}
      </div>
    </fieldset>
  )
}

interface LimitFieldProps {
  readonly name: LimitName
  readonly error: string | undefined
  readonly children: ReactNode
}

function LimitField({ name, error, children }: LimitFieldProps) {
  const { t } = useLingui()
  const labels = {
    requestsPerMinute: t`Requests a minute`,
    tokensPerMinute: t`Tokens a minute`,
    concurrentRequests: t`Requests at once`,
  }
  return (
    <Field label={labels[name]} error={error}>
      {children}
    </Field>
  )
}

/** The effect of the multiplier on prices, in words. */
function MultiplierHint({ text }: { readonly text: string }) {
  const { i18n } = useLingui()
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value) || value < 0)
    return <Trans>What prices are multiplied by.</Trans>
  if (value === 0) return <Trans>Requests of this group cost nothing.</Trans>
  if (value === 1) return <Trans>Prices as they are set.</Trans>
  const share = percent(Math.abs(value - 1), i18n.locale)
  return value > 1 ? (
    <Trans>Every price is {share} higher.</Trans>
  ) : (
    <Trans>Every price is {share} lower.</Trans>
  )
}
