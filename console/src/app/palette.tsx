// The command palette: pages by name; requests, keys, models, accounts, channels, groups and orders by what the API finds.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { read, type Shape } from '../api/client.ts'
import { isComposing } from '../ui/composing.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Field, Input } from '../ui/field.tsx'
import { Failure } from '../ui/state.tsx'
import { Time } from '../ui/values.tsx'
import { operatorPages, operatorParts, userPages, userParts } from './navigation.ts'

interface Choice {
  readonly id: string
  readonly label: string
  readonly detail: string
  /** A time that tells it from others. */
  readonly at?: string | null
  /** Its kind, in a word. */
  readonly kind: string
  readonly run: () => void
}

type Found = Shape<'Found'>

const typingMs = 120

/** Every page with a list opens one entry by the same parameter. */
const pageOf: Readonly<Record<Found['kind'], string>> = {
  request: '/requests',
  key: '/keys',
  model: '/models',
  account: '/admin/users',
  channel: '/admin/channels',
  group: '/admin/groups',
  order: '/billing/orders',
}

const kindNames: Readonly<Record<Found['kind'], MessageDescriptor>> = {
  request: msg`Request`,
  key: msg`Key`,
  model: msg`Model`,
  account: msg`Account`,
  channel: msg`Channel`,
  group: msg`Group`,
  order: msg`Order`,
}

interface PaletteProps {
  readonly operator: boolean
  /** Text that was typed before it was loaded. */
  readonly typed: () => string
  readonly onClose: () => void
}

export default function Palette({ operator, typed, onClose }: PaletteProps) {
  const { t } = useLingui()
  const [text, setText] = useState(typed)
  const [chosen, setChosen] = useState(0)
  const input = useRef<HTMLInputElement>(null)
  // By default the dialog would focus its first button, which would get the next key if this waited for a picture.
  useLayoutEffect(() => input.current?.focus(), [])
  const search = useFound(text.trim())
  const choices = useChoices(text.trim(), operator, search.items)
  const at = Math.min(chosen, Math.max(0, choices.length - 1))
  function press(event: KeyboardEvent) {
    // Enter and the arrows then choose among what an input method proposes.
    if (isComposing(event)) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setChosen((at + step + choices.length) % Math.max(1, choices.length))
    } else if (event.key === 'Enter' && choices[at] !== undefined) {
      event.preventDefault()
      choices[at].run()
      onClose()
    }
  }
  return (
    <Dialog title={<Trans>Go to</Trans>} onClose={onClose}>
      <Field label={t`Search or paste an id`} hideLabel>
        <Input
          ref={input}
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-choices"
          aria-activedescendant={choices[at] === undefined ? undefined : `palette-${at}`}
          autoComplete="off"
          spellCheck={false}
          value={text}
          placeholder={t`Search or paste an id`}
          onChange={(event) => {
            setText(event.target.value)
            setChosen(0)
          }}
          onKeyDown={press}
        />
      </Field>
      <Choices
        choices={choices}
        chosen={at}
        onChoose={setChosen}
        onRun={(choice) => {
          choice.run()
          onClose()
        }}
      />
      {search.error !== null && <Failure error={search.error} />}
      <p role="status" className="px-3 text-text-2">
        {choices.length === 0 &&
          search.error === null &&
          (search.isLooking ? <Trans>Looking for it</Trans> : <Trans>Nothing matches.</Trans>)}
      </p>
    </Dialog>
  )
}

/** Results of the API, requested after a pause in typing. */
function useFound(text: string) {
  const [asked, setAsked] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), typingMs)
    return () => clearTimeout(timer)
  }, [text])
  const isWorth = asked.length >= 2
  const query = useQuery({
    ...read('/api/search', { params: { query: { q: asked } } }),
    enabled: isWorth,
    placeholderData: keepPreviousData,
  })
  const isLooking = text.length >= 2 && (asked !== text || query.isFetching)
  return {
    items: isWorth && text.length >= 2 ? (query.data?.items ?? []) : [],
    error: isWorth ? query.error : null,
    isLooking,
  }
}

function useChoices(text: string, operator: boolean, found: readonly Found[]): readonly Choice[] {
  const { t } = useLingui()
  const navigate = useNavigate()
  const all = [...userPages, ...(operator ? operatorPages : [])]
  const parts = [...userParts, ...(operator ? operatorParts : [])]
  const pages = [
    ...all.map(({ to, label }) => ({ href: to, label })),
    // There is no room for them in the list of pages.
    ...(text === '' ? [] : parts),
  ]
    .map(({ href, label }) => ({
      id: href,
      label: t(label),
      detail: '',
      kind: t`Page`,
      run: () => void navigate({ href: `/console${href}` }),
    }))
    .filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()))
  const things = found.map(({ kind, id, title, detail, at }) => ({
    id: `${kind} ${id}`,
    label: title,
    detail,
    at,
    kind: t(kindNames[kind]),
    run: () =>
      void navigate({
        href: `/console${operator && kind === 'order' ? '/admin/payments' : pageOf[kind]}?${new URLSearchParams({ open: id })}`,
      }),
  }))
  // A pasted id means that entry; a word may be the name of a page.
  return found[0]?.id === text ? [...things, ...pages] : [...pages, ...things]
}

interface ChoicesProps {
  readonly choices: readonly Choice[]
  readonly chosen: number
  readonly onChoose: (index: number) => void
  readonly onRun: (choice: Choice) => void
}

function Choices({ choices, chosen, onChoose, onRun }: ChoicesProps) {
  const { t } = useLingui()
  useEffect(() => {
    document.getElementById(`palette-${chosen}`)?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  return (
    <ul
      id="palette-choices"
      role="listbox"
      aria-label={t`Results`}
      className="mt-3 max-h-80 overflow-y-auto"
    >
      {choices.map((choice, index) => (
        <li
          key={choice.id}
          id={`palette-${index}`}
          role="option"
          aria-selected={index === chosen}
          className="flex min-h-9 cursor-pointer items-center gap-3 rounded-control px-3 aria-selected:bg-sunken max-md:min-h-11"
          onMouseMove={() => onChoose(index)}
          onClick={() => onRun(choice)}
        >
          <span className="truncate">{choice.label}</span>
          <span className="min-w-0 flex-1 truncate text-cell text-text-2">{choice.detail}</span>
          {choice.at != null && (
            <span className="text-cell text-text-2">
              <Time at={choice.at} />
            </span>
          )}
          <span className="text-label text-text-2">{choice.kind}</span>
        </li>
      ))}
    </ul>
  )
}
