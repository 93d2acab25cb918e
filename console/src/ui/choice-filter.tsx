// A filter by some of many values: a searchable list behind a button that says what is chosen.

import { Trans, useLingui } from '@lingui/react/macro'
import { type KeyboardEvent, type RefObject, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { Checkbox, Field, Input } from './field.tsx'
import { Popover } from './popover.tsx'
import { Printed } from './printed.tsx'

interface Option {
  readonly value: string
  readonly label?: string
}

interface ChoiceFilterProps {
  /** What is filtered: a noun. */
  readonly label: string
  readonly options: readonly Option[]
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[] | undefined) => void
  /** Finds more than the options, which may be too many to list. */
  readonly finder?: Finder
}

/** `find` is told what is typed; `found` are the options for it. */
export interface Finder {
  readonly find: (text: string) => void
  readonly found: readonly Option[]
}

export function ChoiceFilter({ label, options, chosen, onChange, finder }: ChoiceFilterProps) {
  const { t } = useLingui()
  const [text, setText] = useState('')
  const list = useRef<HTMLFieldSetElement>(null)
  const found = new Set(finder?.found.map(({ value }) => value))
  // A chosen value stays in the list even if nothing has it any more.
  const all = unique([...options, ...(finder?.found ?? []), ...chosen.map((value) => ({ value }))])
  const shown = all.filter(
    ({ value, label }) =>
      found.has(value) || `${value} ${label ?? ''}`.toLowerCase().includes(text.toLowerCase()),
  )
  const labelOf = (chosen: string) => all.find(({ value }) => value === chosen)?.label ?? chosen
  const summary =
    chosen.length === 0 ? (
      label
    ) : (
      <>
        {label}: {chosen.slice(0, 1).map(labelOf)}
        {chosen.length > 1 && ` +${chosen.length - 1}`}
      </>
    )
  function toggle(value: string, isChosen: boolean) {
    const next = isChosen ? [...chosen, value] : chosen.filter((other) => other !== value)
    onChange(next.length === 0 ? undefined : next)
  }
  function press(event: KeyboardEvent<HTMLInputElement>) {
    const [only, ...others] = shown
    if (event.key === 'ArrowDown') {
      event.preventDefault()
      list.current?.querySelector('input')?.focus()
    } else if (event.key === 'Enter' && only !== undefined && others.length === 0) {
      event.preventDefault()
      toggle(only.value, !chosen.includes(only.value))
    }
  }
  return (
    <>
      <Popover label={t`Filter by ${label}`} text={summary}>
        <div className="flex w-64 flex-col gap-2 p-3">
          {(all.length > 8 || finder !== undefined) && (
            <Search
              text={text}
              onKeyDown={press}
              onChange={(text) => {
                setText(text)
                finder?.find(text)
              }}
            />
          )}
          <Choices list={list} label={label} shown={shown} chosen={chosen} onToggle={toggle} />
          {chosen.length > 0 && (
            <Button onClick={() => onChange(undefined)}>
              <Trans>Clear</Trans>
            </Button>
          )}
        </div>
      </Popover>
      {chosen.length > 0 && <Printed label={label}>{chosen.map(labelOf).join(', ')}</Printed>}
    </>
  )
}

interface ChoicesProps {
  readonly list: RefObject<HTMLFieldSetElement | null>
  readonly label: string
  readonly shown: readonly Option[]
  readonly chosen: readonly string[]
  readonly onToggle: (value: string, isChosen: boolean) => void
}

function Choices({ list, label, shown, chosen, onToggle }: ChoicesProps) {
  return (
    <fieldset ref={list} className="flex max-h-64 flex-col gap-2 overflow-y-auto">
      <legend className="sr-only">{label}</legend>
      {shown.map(({ value, label }) => (
        <Checkbox
          key={value}
          label={label ?? value}
          checked={chosen.includes(value)}
          onChange={(event) => onToggle(value, event.target.checked)}
        />
      ))}
      {shown.length === 0 && (
        <p className="text-text-3">
          <Trans>Nothing to choose.</Trans>
        </p>
      )}
    </fieldset>
  )
}

interface SearchProps {
  readonly text: string
  readonly onKeyDown: (event: KeyboardEvent<HTMLInputElement>) => void
  readonly onChange: (text: string) => void
}

function Search({ text, onKeyDown, onChange }: SearchProps) {
  const { t } = useLingui()
  return (
    <Field label={t`Search`} hideLabel>
      <Input
        value={text}
        placeholder={t`Search`}
        onKeyDown={onKeyDown}
        onChange={({ target }) => onChange(target.value)}
      />
    </Field>
  )
}

/** The first of each value. */
function unique(options: readonly Option[]): readonly Option[] {
  const byValue = new Map<string, Option>()
  for (const option of options) if (!byValue.has(option.value)) byValue.set(option.value, option)
  return [...byValue.values()]
}
