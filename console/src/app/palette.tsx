// The command palette: pages by name; ids of requests, keys and models by what the API finds.

import { Trans, useLingui } from '@lingui/react/macro'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { Field, Input } from '../ui/field.tsx'
import { operatorPages, userPages } from './navigation.ts'

interface Choice {
  readonly id: string
  readonly label: string
  readonly run: () => void
}

export default function Palette({
  operator,
  onClose,
}: {
  readonly operator: boolean
  readonly onClose: () => void
}) {
  const { t } = useLingui()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const pages = [...userPages, ...(operator ? operatorPages : [])]
  const choices: readonly Choice[] = pages
    .map(({ to, label }) => ({ id: to, label: t(label), run: () => void navigate({ to }) }))
    .filter(({ label }) => label.toLowerCase().includes(text.trim().toLowerCase()))
  function press(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setChosen((chosen + step + choices.length) % Math.max(1, choices.length))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      choices[chosen]?.run()
      onClose()
    }
  }
  return (
    <Dialog title={<Trans>Go to</Trans>} onClose={onClose}>
      <Field label={t`Search or paste an id`} hideLabel>
        <Input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-choices"
          aria-activedescendant={choices[chosen] === undefined ? undefined : `palette-${chosen}`}
          value={text}
          placeholder={t`Search or paste an id`}
          onChange={(event) => {
            setText(event.target.value)
            setChosen(0)
          }}
          onKeyDown={press}
        />
      </Field>
      <ul
        id="palette-choices"
        role="listbox"
        aria-label={t`Results`}
        className="mt-3 max-h-80 overflow-y-auto"
      >
        {choices.map(({ id, label, run }, index) => (
          <li
            key={id}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            className="flex h-9 cursor-pointer items-center rounded-control px-3 aria-selected:bg-sunken"
            onMouseEnter={() => setChosen(index)}
            onClick={() => {
              run()
              onClose()
            }}
          >
            {label}
          </li>
        ))}
      </ul>
      {choices.length === 0 && (
        <p className="px-3 py-4 text-text-2">
          <Trans>Nothing is called so.</Trans>
        </p>
      )}
    </Dialog>
  )
}
