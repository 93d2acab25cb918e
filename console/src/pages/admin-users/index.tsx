// Users: everybody with an account, found by anything that is known of them.

import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { get, type Shape } from '../../api/client.ts'
import type { Catalog } from '../../i18n.ts'
import { ColumnChooser } from '../../ui/columns.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { type Column, DataTable } from '../../ui/table.tsx'
import { Badge, Count, Id, Money, Status, Time } from '../../ui/values.tsx'
import { PersonDrawer } from './drawer.tsx'
import type { UsersSearch } from './search.ts'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

type Listed = Shape<'ListedPerson'>
const route = getRouteApi('/shell/admin/users')

const columns: readonly Column<Listed>[] = [
  {
    id: 'status',
    header: <Trans>Status</Trans>,
    cell: (person) => <PersonStatus person={person} />,
  },
  { id: 'name', header: <Trans>Name</Trans>, cell: ({ name, id }) => name || id },
  { id: 'email', header: <Trans>E-mail</Trans>, cell: ({ email }) => email ?? '' },
  { id: 'id', header: <Trans>Account</Trans>, optional: true, cell: ({ id }) => <Id value={id} /> },
  { id: 'role', header: <Trans>Role</Trans>, cell: ({ role }) => <Badge>{role}</Badge> },
  {
    id: 'balance',
    header: <Trans>Balance</Trans>,
    align: 'right',
    sortable: true,
    cell: ({ balanceNano, currency }) => <Money down nano={balanceNano} currency={currency} />,
  },
  {
    id: 'spend',
    header: <Trans>Spend, 30 days</Trans>,
    align: 'right',
    sortable: true,
    cell: ({ spendNano, currency }) => <Money nano={spendNano} currency={currency} />,
  },
  {
    id: 'keys',
    header: <Trans>Keys</Trans>,
    align: 'right',
    cell: ({ keys }) => <Count value={keys} />,
  },
  {
    id: 'lastSeen',
    header: <Trans>Last seen</Trans>,
    sortable: true,
    cell: ({ lastSeenAt }) => <Time relative at={lastSeenAt} />,
  },
  {
    id: 'newest',
    header: <Trans>Here since</Trans>,
    sortable: true,
    cell: ({ createdAt }) => <Time relative at={createdAt} />,
  },
]

export default function UsersPage() {
  const { t } = useLingui()
  const search = route.useSearch()
  const navigate = useNavigate()
  // What is typed replaces the address: going back does not go through every letter.
  const change = (next: Partial<UsersSearch>, replace = false) =>
    void navigate({ to: '.', replace, search: (before) => ({ ...before, ...next }) })
  const { open, ...filters } = search
  const people = useInfiniteQuery({
    queryKey: ['/api/people', filters],
    queryFn: ({ pageParam, signal }) => {
      const given = Object.entries(filters).filter(([name, value]) => name !== 'account' && value)
      const query = {
        ...Object.fromEntries(given),
        limit: 100,
        ...(pageParam && { cursor: pageParam }),
      }
      return get('/api/people', { params: { query } }, signal)
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
  })
  const rows = useMemo(() => people.data?.pages.flatMap(({ items }) => items) ?? [], [people.data])
  const place = rows.findIndex(({ id }) => id === open)
  const before = rows[place - 1]?.id
  const after = rows[place + 1]?.id
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = people
  return (
    <Page
      title={<Trans>Users</Trans>}
      purpose={<Trans>Everybody with an account: what they have, spend and may do.</Trans>}
      filters={<Filters search={search} onChange={change} />}
    >
      <Card
        flush
        title={<Trans>Accounts</Trans>}
        actions={<ColumnChooser id="users" columns={columns} />}
      >
        <Widget query={people} skeleton={<Skeleton rows={8} />}>
          {() => (
            <DataTable
              id="users"
              label={t`Accounts`}
              columns={columns}
              rows={rows}
              rowId={({ id }) => id}
              sort={{ by: search.sort ?? 'newest', descending: true }}
              onSort={({ by }) => change({ sort: by as UsersSearch['sort'] })}
              onOpen={({ id }) => change({ open: id })}
              openId={open}
              height="75vh"
              more={
                hasNextPage
                  ? { isLoading: isFetchingNextPage, load: () => void fetchNextPage() }
                  : undefined
              }
              empty={<Empty title={<Trans>Nobody is found so.</Trans>} />}
              card={(person) => ({
                title: (
                  <>
                    <span className="truncate font-medium">{person.name || person.id}</span>
                    <PersonStatus person={person} />
                  </>
                ),
                facts: [
                  person.email,
                  <Money key="balance" down nano={person.balanceNano} currency={person.currency} />,
                  <Time key="seen" relative at={person.lastSeenAt} />,
                ],
              })}
            />
          )}
        </Widget>
      </Card>
      {open !== undefined && (
        <PersonDrawer
          key={open}
          id={open}
          onClose={() => change({ open: undefined })}
          onPrevious={before === undefined ? undefined : () => change({ open: before })}
          onNext={place < 0 || after === undefined ? undefined : () => change({ open: after })}
        />
      )}
    </Page>
  )
}

export function PersonStatus({ person }: { readonly person: Pick<Listed, 'status'> }) {
  if (person.status === 'active')
    return (
      <Status tone="ok">
        <Trans>Active</Trans>
      </Status>
    )
  if (person.status === 'suspended')
    return (
      <Status tone="warning">
        <Trans>Suspended</Trans>
      </Status>
    )
  return (
    <Status tone="off">
      <Trans>Deleted</Trans>
    </Status>
  )
}

interface FiltersProps {
  readonly search: UsersSearch
  readonly onChange: (next: Partial<UsersSearch>, replace?: boolean) => void
}

function Filters({ search, onChange }: FiltersProps) {
  const { t } = useLingui()
  return (
    <div data-filter className="flex flex-wrap items-end gap-2">
      <div className="w-72">
        <Field hideLabel label={t`Search users`}>
          <Input
            type="search"
            defaultValue={search.search ?? ''}
            placeholder={t`Name, e-mail, id, key…`}
            onChange={(event) => onChange({ search: event.target.value || undefined }, true)}
          />
        </Field>
      </div>
      <Field hideLabel label={t`Role`}>
        <Select
          value={search.role ?? ''}
          onChange={(event) =>
            onChange({ role: (event.target.value || undefined) as UsersSearch['role'] })
          }
        >
          <option value="">{t`Any role`}</option>
          <option value="user">user</option>
          <option value="auditor">auditor</option>
          <option value="admin">admin</option>
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
