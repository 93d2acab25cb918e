// Users: all accounts, searchable by anything known of them, and invitations for people without one.

import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import type { Catalog } from '../../i18n.ts'
import { Segments } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { Filters } from './filters.tsx'
import { Invitations } from './invitations.tsx'
import { People } from './people.tsx'
import type { UsersSearch } from './search.ts'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

const route = getRouteApi('/shell/admin/users')

export default function UsersPage() {
  const { t } = useLingui()
  const search = route.useSearch()
  const navigate = useNavigate()
  // Typing replaces the address, so that going back does not go through every letter.
  const change = (next: Partial<UsersSearch>, replace = false) =>
    void navigate({ to: '.', replace, search: (before) => ({ ...before, ...next }) })
  const { view = 'accounts' } = search
  return (
    <Page
      title={<Trans>Users</Trans>}
      purpose={<Trans>Every account: its balance, its spend and its role.</Trans>}
      filters={
        <div className="flex flex-wrap items-end gap-3">
          <Segments
            label={t`View`}
            value={view}
            options={[
              { value: 'accounts', label: t`Accounts` },
              { value: 'invitations', label: t`Invitations` },
            ]}
            onChange={(chosen) => change({ view: chosen === 'accounts' ? undefined : chosen })}
          />
          {view === 'accounts' && <Filters search={search} onChange={change} />}
        </div>
      }
    >
      {view === 'accounts' ? <People search={search} onChange={change} /> : <Invitations />}
    </Page>
  )
}
