// Chooses the model that answers: a searchable list with the group's prices per million tokens.

import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { Shape } from '../../api/client.ts'
import { isComposing } from '../../ui/composing.ts'
import { Field, Input } from '../../ui/field.tsx'
import { KindName } from '../../ui/model-kind.tsx'
import { FirstPrice, Price } from '../../ui/model-prices.tsx'
import { Popover } from '../../ui/popover.tsx'

export type Model = Shape<'Model'>

interface PickerProps {
  readonly models: readonly Model[]
  readonly value: string
  readonly onChange: (model: string) => void
}

export function ModelPicker({ models, value, onChange }: PickerProps) {
  const { t } = useLingui()
  const [isOpen, setOpen] = useState(false)
  const [words, setWords] = useState('')
  const sought = words.trim().toLowerCase()
  const shown = models.filter(({ id, vendor }) => `${id} ${vendor}`.toLowerCase().includes(sought))
  const typed = words.trim()
  const isUnlisted = typed !== '' && models.every(({ id }) => id !== typed)
  function choose(model: string) {
    onChange(model)
    setOpen(false)
    setWords('')
  }
  return (
    <Popover
      label={t`Model: ${value}`}
      text={<span className="max-w-56 min-w-0 truncate">{value || t`Choose a model`}</span>}
      open={isOpen}
      onOpenChange={setOpen}
    >
      <div className="flex w-96 max-w-[calc(100vw-2rem)] flex-col gap-2 p-2">
        <Field hideLabel label={t`Search models`}>
          <Input
            type="search"
            value={words}
            placeholder={t`Search models`}
            autoComplete="off"
            onChange={(event) => setWords(event.target.value)}
            onKeyDown={(event) => {
              const isEnter = event.key === 'Enter' && !isComposing(event)
              if (isEnter && shown[0] !== undefined) choose(shown[0].id)
            }}
          />
        </Field>
        <ul aria-label={t`Models`} className="max-h-80 overflow-y-auto">
          {shown.map((model) => (
            <li key={model.id}>
              <Choice model={model} isChosen={model.id === value} onChoose={choose} />
            </li>
          ))}
          {shown.length === 0 && (
            <li className="px-2 py-1 text-text-3">
              <Trans>No model with a price has this name.</Trans>
            </li>
          )}
        </ul>
        {isUnlisted && (
          <button
            type="button"
            className="rounded-control px-2 py-1 text-left text-accent hover:bg-sunken"
            onClick={() => choose(typed)}
          >
            <Trans>Ask for {typed} all the same</Trans>
          </button>
        )}
      </div>
    </Popover>
  )
}

interface ChoiceProps {
  readonly model: Model
  readonly isChosen: boolean
  readonly onChoose: (model: string) => void
}

function Choice({ model, isChosen, onChoose }: ChoiceProps) {
  const { id, kind } = model
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      className={`flex min-h-9 w-full flex-wrap items-center justify-between gap-x-3 rounded-control px-2 py-1 text-left hover:bg-sunken max-md:min-h-11 ${isChosen ? 'bg-accent/8' : ''}`}
      onClick={() => onChoose(id)}
    >
      <span className="flex min-w-0 items-center gap-2">
        <span className="truncate font-medium">{id}</span>
        {kind !== 'chat' && <KindName kind={kind} />}
      </span>
      <PriceOf model={model} />
    </button>
  )
}

/** The prices of input and output, for a million tokens; else the price of its unit. */
export function PriceOf({ model }: { readonly model: Model }) {
  const isByToken = model.price.lines.some(({ name }) => name === 'input' || name === 'output')
  return (
    <span className="text-label font-normal text-text-2">
      {isByToken ? (
        <Trans>
          <Price model={model} kind="input" /> in, <Price model={model} kind="output" /> out for 1 M
        </Trans>
      ) : (
        <FirstPrice model={model} />
      )}
    </span>
  )
}
