// The filters of the list of keys, all of which are in the address.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { readAll } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { SearchInput } from '../../ui/search-input.tsx'

const unfiltered = { search: undefined, status: undefined, group: undefined }

export function KeyFilters() {
  const { t } = useLingui()
  const { search = '', status = '', group = '' } = useSearch({ from: '/shell/keys' })
  const navigate = useNavigate({ from: '/keys' })
  const groups = useQuery(readAll('/api/groups'))
  return (
    <>
      <div className="w-56 max-md:w-full">
        <SearchInput
          label={t`Search by name or last characters`}
          placeholder={t`Name or last characters`}
          value={search}
          onChange={(text) =>
            void navigate({ search: (now) => ({ ...now, search: text }), replace: true })
          }
        />
      </div>
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
          onClick={() => void navigate({ search: (now) => ({ ...now, ...unfiltered }) })}
        >
          <Trans>Clear filters</Trans>
        </Button>
      )}
    </>
  )
}
