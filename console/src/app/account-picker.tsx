// Finds an account by anything known of it, and shows its data on every page.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { read } from '../api/client.ts'
import { Field, Input } from '../ui/field.tsx'
import { Popover } from '../ui/popover.tsx'
import { Skeleton, Widget } from '../ui/state.tsx'

interface AccountPickerProps {
  readonly onChoose: (account: string) => void
}

export default function AccountPicker({ onChoose }: AccountPickerProps) {
  const { t } = useLingui()
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover
      label={t`All accounts`}
      icon="users"
      text={
        <span aria-hidden="true" className="max-md:hidden">
          <Trans>All accounts</Trans>
        </span>
      }
      open={isOpen}
      onOpenChange={setOpen}
    >
      <Found
        onChoose={(account) => {
          setOpen(false)
          onChoose(account)
        }}
      />
    </Popover>
  )
}

function Found({ onChoose }: AccountPickerProps) {
  const { t } = useLingui()
  const [text, setText] = useState('')
  const search = useDeferredValue(text.trim())
  const query = { limit: 8, ...(search !== '' && { search }) }
  const people = useQuery({
    ...read('/api/people', { params: { query } }),
    placeholderData: (before) => before,
  })
  return (
    <div className="flex w-72 max-w-full flex-col gap-2 p-2">
      <Field hideLabel label={t`Find an account`}>
        <Input
          autoFocus
          type="search"
          autoComplete="off"
          placeholder={t`Name, e-mail, id, key…`}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </Field>
      <Widget query={people} skeleton={<Skeleton rows={3} />}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="px-2 py-1 text-text-2">
              <Trans>Nobody matches.</Trans>
            </p>
          ) : (
            <ul className="flex flex-col">
              {items.map(({ id, name, email }) => (
                <li key={id}>
                  <button
                    type="button"
                    onClick={() => onChoose(id)}
                    className="flex w-full flex-col rounded-control px-2 py-1 text-left hover:bg-sunken"
                  >
                    <span className="truncate font-medium">{name || id}</span>
                    <span className="truncate text-label font-normal text-text-2">
                      {email ?? id}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Widget>
    </div>
  )
}
