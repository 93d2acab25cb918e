// The next version of a model's prices: its lines, the start, the reason; and its effect on past requests.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import { change, type Shape } from '../../api/client.ts'
import { fromLocalInput } from '../../app/range.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { Button, Buttons } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { KeepDraft } from '../../ui/keep-draft.tsx'
import { showToast } from '../../ui/toast.tsx'
import { useNewest } from '../../ui/use-newest.ts'
import { useRefusal } from '../../ui/use-refusal.ts'
import { useTimeRule } from '../../ui/use-time-rule.ts'
import { Effect } from './effect.tsx'
import { linesOf, nameOfLine, PriceLines, type PriceValues, pricesOf } from './price-lines.tsx'
import { Differences, type Prices } from './prices.tsx'
import { refreshPrices } from './refresh.ts'

interface PriceFormProps {
  readonly model: string
  /** The version in force; 0: none. */
  readonly version: number
  readonly prices: Prices
}

const valuesOf = ({ prices }: { readonly prices: Prices }): PriceValues => ({
  lines: linesOf(prices),
  from: '',
  source: '',
})

export function PriceForm({ model, version, prices }: PriceFormProps) {
  const { t } = useLingui()
  const form = useForm<PriceValues>({
    defaultValues: valuesOf({ prices }),
  })
  const { getValues } = form
  const sending = useSending(model, form)
  const shown = { revision: version, prices }
  const newest = useNewest({ form, shown, valuesOf, clear: sending.clear })
  const effect = useMutation({
    mutationFn: () =>
      change('post', '/api/prices/effect', { body: { model, prices: pricesOf(getValues()) } }),
  })
  return (
    <section className="flex flex-col gap-3">
      <KeepDraft isDirty={form.formState.isDirty} />
      <h3 className="text-section">
        <Trans>Next version</Trans>
      </h3>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => void form.handleSubmit((values) => sending.send(values, false))(event)}
      >
        <PriceLines form={form} />
        <When form={form} />
        <Buttons>
          <Button type="submit" busy={sending.isBusy} disabled={newest.isStale}>
            <Trans>Set prices</Trans>
          </Button>
          <Button variant="quiet" busy={effect.isPending} onClick={() => effect.mutate()}>
            <Trans>What would the last 7 days have earned?</Trans>
          </Button>
        </Buttons>
        <FormProblem problem={sending.problem ?? effect.error} newest={newest} />
      </form>
      {effect.data !== undefined && <Effect effect={effect.data} />}
      {sending.large !== null && (
        <Confirm
          title={<Trans>Change a price more than tenfold?</Trans>}
          action={t`Set prices all the same`}
          onConfirm={() => sending.send(getValues(), true)}
          onClose={sending.dismiss}
        >
          <Differences of={sending.large} />
        </Confirm>
      )}
    </section>
  )
}

function When({ form: { register, formState } }: { readonly form: UseFormReturn<PriceValues> }) {
  const { t } = useLingui()
  const { errors } = formState
  const timeZone = useTimeZone()
  const time = useTimeRule()
  const from = register('from', time.rule)
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <Field
        label={t`Begins`}
        hint={t`Empty: at once. In the zone ${timeZone}.`}
        error={errors.from?.message}
      >
        <Input
          type="datetime-local"
          {...from}
          ref={(field) => {
            from.ref(field)
            time.element.current = field
          }}
        />
      </Field>
      <Field
        label={t`Source`}
        hint={t`Where the prices are from: a page, a contract.`}
        error={errors.source?.message}
      >
        <Input
          autoComplete="off"
          {...register('source', { required: t`Say where the prices are from.` })}
        />
      </Field>
    </div>
  )
}

/** Sends the form; a change of more than tenfold must be confirmed first. */
function useSending(model: string, form: UseFormReturn<PriceValues>) {
  const { t } = useLingui()
  const client = useQueryClient()
  const timeZone = useTimeZone()
  const { problem, attempt, clear } = useRefusal(form, placeOf)
  const [isBusy, setBusy] = useState(false)
  const [large, setLarge] = useState<readonly Shape<'PriceDifference'>[] | null>(null)
  async function send(values: PriceValues, allowLarge: boolean) {
    setBusy(true)
    await attempt(async () => {
      const from = fromLocalInput(values.from, timeZone)
      const prices = pricesOf(values)
      const body = { model, prices, source: values.source, allowLarge, ...(from && { from }) }
      const made = await change('post', '/api/prices', { body })
      if (made.card === null) return setLarge(made.differences)
      setLarge(null)
      form.reset(values)
      const { isUnknown, missing } = made
      if (isUnknown)
        showToast({
          text: t`Prices of ${model} are set, but no model is called so here. Is the name right?`,
          tone: 'danger',
        })
      else if (missing !== null)
        showToast({
          text: t`Prices of ${model} are set, but its requests are still refused: it has no price for ${missing}.`,
          tone: 'danger',
        })
      else showToast({ text: t`Prices of ${model} are set.`, tone: 'info' })
      await refreshPrices(client)
    })
    setBusy(false)
  }
  return { send, problem, clear, isBusy, large, dismiss: () => setLarge(null) }
}

/** `prices.output` belongs to the line of that name. */
function placeOf(field: string, { lines }: PriceValues) {
  if (field === 'from' || field === 'source') return field
  const name = field.startsWith('prices') ? field.replace(/^prices[.["]*|["\]]*$/g, '') : null
  const place = lines.findIndex((line) => nameOfLine(line) === name)
  return place < 0 ? null : (`lines.${place}.price` as const)
}
