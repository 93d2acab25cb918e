// The lines of a price form: what is priced, chosen in words, for which prompts or sizes, and the price of a million.

import { Trans, useLingui } from '@lingui/react/macro'
import { type UseFormReturn, useFieldArray } from 'react-hook-form'
import { amountRule, countProblem, priceBounds } from '../../ui/bounds.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { useLineName, useUnitText } from '../../ui/model-prices.tsx'
import { useAdding } from '../../ui/use-adding.ts'
import { type Prices, tieredNames, tokenNames, unitNames } from './prices.tsx'

export interface PriceLine {
  readonly kind: string
  /** Of tokens: the prompt length above which the price applies; of images and videos: their size; else empty. */
  readonly only: string
  readonly price: string
}

export interface PriceValues {
  readonly lines: PriceLine[]
  /** In the format of `datetime-local`, in the displayed time zone; empty: now. */
  readonly from: string
  readonly source: string
}

type Form = UseFormReturn<PriceValues>

/** A model without prices begins with what every chat is charged for. */
export function linesOf(prices: Prices): PriceLine[] {
  const named = Object.entries(prices).map(([name, price]) => {
    const [, kind = name, only = ''] = /^([^>/]+)[>/](.+)$/.exec(name) ?? []
    return { kind, only, price }
  })
  const first = ['input', 'output'].map((kind) => ({ kind, only: '', price: '' }))
  return named.length === 0 ? first : named
}

/** The API's name of a price: `input`, `input>200000`, `image/1024x1024/hd`. */
export function nameOfLine({ kind, only }: PriceLine): string {
  const narrowed = narrowingOf(kind) === null ? '' : only.trim()
  if (narrowed === '') return kind
  return `${kind}${narrowingOf(kind) === 'prompt' ? '>' : '/'}${narrowed}`
}

/** Lines without a price are left out. */
export function pricesOf({ lines }: PriceValues): Record<string, string> {
  const filled = lines.filter(({ kind, price }) => kind !== '' && price.trim() !== '')
  return Object.fromEntries(filled.map((line) => [nameOfLine(line), line.price.trim()]))
}

function narrowingOf(kind: string): 'prompt' | 'image' | 'video' | null {
  if (tieredNames.has(kind)) return 'prompt'
  if (kind === 'image') return 'image'
  return kind === 'second' ? 'video' : null
}

export function PriceLines({ form }: { readonly form: Form }) {
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'lines' })
  const adding = useAdding()
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-2 text-label text-text-2">
        <Trans>
          Prices, each for a million of its unit; the middle field limits one to longer prompts or
          to a size
        </Trans>
      </legend>
      {fields.map((field, place) => (
        <Line
          key={field.id}
          form={form}
          place={place}
          onRemove={() => adding.afterRemoving(() => remove(place))}
        />
      ))}
      <div>
        <Button
          ref={adding.ref}
          variant="quiet"
          icon="plus"
          onClick={() => append({ kind: '', only: '', price: '' })}
        >
          <Trans>Another price</Trans>
        </Button>
      </div>
    </fieldset>
  )
}

interface LineProps {
  readonly form: Form
  readonly place: number
  readonly onRemove: () => void
}

function Line({ form, place, onRemove }: LineProps) {
  const { t } = useLingui()
  const lineName = useLineName()
  const unitText = useUnitText()
  const { kind = '', only = '' } = form.watch(`lines.${place}`) ?? {}
  const name = [kind === '' ? place + 1 : lineName(kind), only.trim()].filter(Boolean).join(' ')
  const errors = form.formState.errors.lines?.[place]
  const unit = (unitNames as readonly string[]).includes(kind) ? kind : 'token'
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-2">
      <div className="grid gap-2 max-md:grid-cols-2 max-md:[&>:first-child]:col-span-2 md:grid-cols-3">
        <KindField form={form} place={place} kind={kind} error={errors?.kind?.message} />
        <OnlyField
          form={form}
          place={place}
          kind={kind}
          name={name}
          error={errors?.only?.message}
        />
        <Field hideLabel label={t`Price of ${name}`} error={errors?.price?.message}>
          <Input
            inputMode="decimal"
            autoComplete="off"
            placeholder="0.15"
            unit={kind === '' ? undefined : unitText(unit, 1_000_000)}
            className="pr-28"
            {...form.register(
              `lines.${place}.price`,
              amountRule({ ...priceBounds, isOptional: true }),
            )}
          />
        </Field>
      </div>
      <IconButton icon="trash" label={t`Remove ${name}`} onClick={onRemove} />
    </div>
  )
}

interface KindFieldProps {
  readonly form: Form
  readonly place: number
  readonly kind: string
  readonly error: string | undefined
}

function KindField({ form, place, kind, error }: KindFieldProps) {
  const { t } = useLingui()
  const lineName = useLineName()
  const known: readonly string[] = [...tokenNames, ...unitNames]
  const options = (names: readonly string[]) =>
    names.map((each) => (
      <option key={each} value={each}>
        {lineName(each)}
      </option>
    ))
  const isTwice = () => {
    const lines = form.getValues('lines').map(nameOfLine)
    return lines.indexOf(lines[place] ?? '') < place
  }
  return (
    <Field hideLabel label={t`What price ${place + 1} is for`} error={error}>
      <Select
        {...form.register(`lines.${place}.kind`, {
          validate: (chosen) => chosen === '' || !isTwice() || t`This price is here twice.`,
        })}
      >
        <option value="">{t`Choose what is priced`}</option>
        {kind !== '' && !known.includes(kind) && options([kind])}
        <optgroup label={t`Tokens`}>{options(tokenNames)}</optgroup>
        <optgroup label={t`Other units`}>{options(unitNames)}</optgroup>
      </Select>
    </Field>
  )
}

function OnlyField({ form, place, kind, name, error }: KindFieldProps & { readonly name: string }) {
  const { t } = useLingui()
  const narrowing = narrowingOf(kind)
  if (narrowing === null) return <span />
  const [label, placeholder] = {
    prompt: [t`Prompts longer than, in tokens, for ${name}`, t`Prompts above…`],
    image: [t`Size and quality for ${name}`, '1024x1024/hd'],
    video: [t`Size for ${name}`, '1920x1080'],
  }[narrowing]
  const validate = (typed: string) =>
    narrowing === 'prompt'
      ? countProblem(typed, { least: 1, most: 999_999_999, isOptional: true })
      : undefined
  return (
    <Field hideLabel label={label} error={error}>
      <Input
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder}
        inputMode={narrowing === 'prompt' ? 'numeric' : 'text'}
        {...form.register(`lines.${place}.only`, { validate })}
      />
    </Field>
  )
}
