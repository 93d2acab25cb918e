// The fields of a group: the same to make one and to change one.

import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { type FieldPath, type UseFormReturn, useForm } from 'react-hook-form'
import { percent } from '../../format.ts'
import { amountRule, countRule, multiplierBounds } from '../../ui/bounds.ts'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { KeepDraft } from '../../ui/keep-draft.tsx'
import { useNewest } from '../../ui/use-newest.ts'
import { useRefusal } from '../../ui/use-refusal.ts'
import { type GroupSettings, type LimitName, limitNames } from './rows.ts'

/** As typed. */
interface GroupValues {
  readonly id: string
  readonly multiplier: string
  /** One per line: `gpt-4o* 0.8`. */
  readonly modelMultipliers: string
  readonly models: string
  readonly limits: Readonly<Record<LimitName, string>>
}

interface FieldsProps {
  readonly form: UseFormReturn<GroupValues>
}

export type GroupBody = GroupSettings & { readonly id: string }

interface ShownGroup {
  /** Empty: a new group. */
  readonly id: string
  readonly revision: number
  readonly settings: GroupSettings
  readonly actor?: string | null
  readonly changedAt?: string | null
}

interface GroupFormProps {
  readonly formId: string
  readonly shown: ShownGroup
  /** Throws Problem. `revision`: of the group as the form began with it. */
  readonly send: (body: GroupBody, revision: number) => Promise<unknown>
  readonly onBusy: (isBusy: boolean) => void
}

export function GroupForm({ formId, shown, send, onBusy }: GroupFormProps) {
  const { t } = useLingui()
  const form = useForm<GroupValues>({ defaultValues: valuesOf(shown) })
  const { register, formState } = form
  const { errors } = formState
  const { problem, attempt, clear } = useRefusal(form, fieldOf)
  const newest = useNewest({ form, shown, valuesOf, clear })
  async function submit(values: GroupValues) {
    onBusy(true)
    await attempt(async () => {
      await send(bodyOf(values), newest.base.revision)
      form.reset(values)
    })
    onBusy(false)
  }
  return (
    <form
      id={formId}
      onSubmit={(event) => void form.handleSubmit(submit)(event)}
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
            {...register('id', { required: t`Give the group a name.` })}
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

/** Lines that are not empty. */
function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function valuesOf({ id, settings }: ShownGroup): GroupValues {
  const { multiplier, modelMultipliers, models, limits } = settings
  const written = (name: LimitName) => String(limits[name] ?? '')
  return {
    id,
    multiplier,
    modelMultipliers: Object.entries(modelMultipliers)
      .map((pair) => pair.join(' '))
      .join('\n'),
    models: models.join('\n'),
    limits: {
      requestsPerMinute: written('requestsPerMinute'),
      tokensPerMinute: written('tokensPerMinute'),
      concurrentRequests: written('concurrentRequests'),
    },
  }
}

function bodyOf(values: GroupValues): GroupBody {
  const { id, multiplier, modelMultipliers, models, limits } = values
  const read = (name: LimitName) => (limits[name].trim() === '' ? null : Number(limits[name]))
  return {
    id: id.trim(),
    multiplier: multiplier.trim(),
    modelMultipliers: Object.fromEntries(
      linesOf(modelMultipliers).map((line) => line.split(/\s+/) as [string, string]),
    ),
    models: models.split(/[\s,]+/).filter((each) => each !== ''),
    limits: {
      requestsPerMinute: read('requestsPerMinute'),
      tokensPerMinute: read('tokensPerMinute'),
      concurrentRequests: read('concurrentRequests'),
    },
  }
}

/** `models[0]` belongs to the field of all models. */
function fieldOf(field: string): FieldPath<GroupValues> | null {
  if (field === 'id' || field === 'multiplier') return field
  if (field.startsWith('modelMultipliers')) return 'modelMultipliers'
  if (field.startsWith('models')) return 'models'
  const limit = limitNames.find((name) => field === `limits.${name}`)
  return limit === undefined ? null : `limits.${limit}`
}
