// The filters of the list of keys, all of which are in the address.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { read } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'

const typingMs = 250

export function KeyFilters() {
  const { t } = useLingui()
  const { search = '', status = '', group = '' } = useSearch({ from: '/shell/keys' })
  const navigate = useNavigate({ from: '/keys' })
  const groups = useQuery(read('/api/groups'))
  return (
    <>
      <SearchField />
      <div className="w-36">
        <Field label={t`Status`} hideLabel>
          <Select
            value={status}
            onChange={(event) =>
              void navigate({
                search: (now) => ({
                  ...now,
                  status: (event.target.value || undefined) as typeof now.status,
                }),
              })
            }
          >
            <option value="">{t`Any status`}</option>
            <option value="active">{t`Active`}</option>
            <option value="disabled">{t`Disabled`}</option>
            <option value="expired">{t`Expired`}</option>
          </Select>
        </Field>
      </div>
      <div className="w-36">
        <Field label={t`Group`} hideLabel>
          <Select
            value={group}
            onChange={(event) =>
              void navigate({
                search: (now) => ({ ...now, group: event.target.value || undefined }),
              })
            }
          >
            <option value="">{t`Any group`}</option>
            {groups.data?.items.map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </Select>
        </Field>
      </div>
      {(search !== '' || status !== '' || group !== '') && (
        <Button
          variant="quiet"
          onClick={() =>
            void navigate({
              search: (now) => ({ ...now, search: undefined, status: undefined, group: undefined }),
            })
          }
        >
          <Trans>Clear filters</Trans>
        </Button>
      )}
    </>
  )
}

/** Typed text goes into the address after a pause in typing. */
function SearchField() {
  const { t } = useLingui()
  const { search = '' } = useSearch({ from: '/shell/keys' })
  const navigate = useNavigate({ from: '/keys' })
  const [text, setText] = useState(search)
  useEffect(() => setText(search), [search])
  useEffect(() => {
    if (text === search) return
    const timer = setTimeout(
      () =>
        void navigate({ search: (now) => ({ ...now, search: text || undefined }), replace: true }),
      typingMs,
    )
    return () => clearTimeout(timer)
  }, [text, search, navigate])
  return (
    <div className="w-56 max-md:w-full">
      <Field label={t`Search by name or last characters`} hideLabel>
        <Input
          type="search"
          placeholder={t`Name or last characters`}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
    </div>
  )
}
