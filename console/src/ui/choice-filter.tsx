// A filter by some of many values: a searchable list behind a button that says what is chosen.

import { Trans, useLingui } from '@lingui/react/macro'
import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Checkbox, Field, Input } from './field.tsx'
import { Popover } from './popover.tsx'

interface Option {
  readonly value: string
  readonly label?: ReactNode
}

interface ChoiceFilterProps {
  /** What is filtered: a noun. */
  readonly label: string
  readonly options: readonly Option[]
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[] | undefined) => void
}

export function ChoiceFilter({ label, options, chosen, onChange }: ChoiceFilterProps) {
  const { t } = useLingui()
  const [text, setText] = useState('')
  // A chosen value stays in the list even if nothing has it any more.
  const all = [
    ...options,
    ...chosen
      .filter((value) => options.every((option) => option.value !== value))
      .map((value) => ({ value })),
  ]
  const shown = all.filter(({ value, label }: Option) =>
    `${value} ${typeof label === 'string' ? label : ''}`.toLowerCase().includes(text.toLowerCase()),
  )
  const first = options.find(({ value }) => value === chosen[0])?.label ?? chosen[0]
  const summary =
    chosen.length === 0 ? (
      label
    ) : (
      <>
        {label}: {first}
        {chosen.length > 1 && ` +${chosen.length - 1}`}
      </>
    )
  function toggle(value: string, isChosen: boolean) {
    const next = isChosen ? [...chosen, value] : chosen.filter((other) => other !== value)
    onChange(next.length === 0 ? undefined : next)
  }
  return (
    <Popover label={t`Filter by ${label}`} text={summary}>
      <div className="flex w-64 flex-col gap-2 p-3">
        {all.length > 8 && (
          <Field label={t`Search`} hideLabel>
            <Input
              value={text}
              placeholder={t`Search`}
              onChange={(event) => setText(event.target.value)}
            />
          </Field>
        )}
        <fieldset className="flex max-h-64 flex-col gap-2 overflow-y-auto">
          <legend className="sr-only">{label}</legend>
          {shown.map(({ value, label }: Option) => (
            <Checkbox
              key={value}
              label={label ?? value}
              checked={chosen.includes(value)}
              onChange={(event) => toggle(value, event.target.checked)}
            />
          ))}
          {shown.length === 0 && (
            <p className="text-text-3">
              <Trans>Nothing to choose.</Trans>
            </p>
          )}
        </fieldset>
        {chosen.length > 0 && (
          <Button onClick={() => onChange(undefined)}>
            <Trans>Clear</Trans>
          </Button>
        )}
      </div>
    </Popover>
  )
}
