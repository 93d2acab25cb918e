// The filters of the list of accounts.

import { useLingui } from '@lingui/react/macro'
import { Field, Select } from '../../ui/field.tsx'
import { RoleOptions } from '../../ui/role-name.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import type { UsersSearch } from './search.ts'

interface FiltersProps {
  readonly search: UsersSearch
  readonly onChange: (next: Partial<UsersSearch>, replace?: boolean) => void
}

export function Filters({ search, onChange }: FiltersProps) {
  const { t } = useLingui()
  return (
    <div data-filter className="flex flex-wrap items-end gap-2">
      <div className="w-72">
        <SearchInput
          label={t`Search users`}
          placeholder={t`Name, e-mail, id, key…`}
          value={search.search}
          onChange={(text) => onChange({ search: text }, true)}
        />
      </div>
      <Field hideLabel label={t`Role`}>
        <Select
          value={search.role ?? ''}
          onChange={(event) =>
            onChange({ role: (event.target.value || undefined) as UsersSearch['role'] })
          }
        >
          <option value="">{t`Any role`}</option>
          <RoleOptions />
        </Select>
      </Field>
      <Field hideLabel label={t`Status`}>
        <Select
          value={search.status ?? ''}
          onChange={(event) =>
            onChange({ status: (event.target.value || undefined) as UsersSearch['status'] })
          }
        >
          <option value="">{t`Any status`}</option>
          <option value="active">{t`Active`}</option>
          <option value="suspended">{t`Suspended`}</option>
          <option value="deleted">{t`Deleted`}</option>
        </Select>
      </Field>
    </div>
  )
}
