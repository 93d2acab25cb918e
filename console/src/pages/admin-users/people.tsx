// The list of accounts, and the one that is open beside it.

import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { get } from '../../api/client.ts'
import { ColumnChooser } from '../../ui/columns.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { DataTable, moreOf } from '../../ui/table.tsx'
import { Id, Money, Time } from '../../ui/values.tsx'
import { columns, type Listed, PersonStatus } from './columns.tsx'
import { PersonDrawer } from './drawer.tsx'
import type { UsersSearch } from './search.ts'

interface PeopleProps {
  readonly search: UsersSearch
  readonly onChange: (next: Partial<UsersSearch>) => void
}

export function People({ search, onChange }: PeopleProps) {
  const { t } = useLingui()
  const { open, view: _, ...filters } = search
  const people = usePeople(filters)
  const rows = useMemo(() => people.data?.pages.flatMap(({ items }) => items) ?? [], [people.data])
  const place = rows.findIndex(({ id }) => id === open)
  const before = rows[place - 1]?.id
  const after = rows[place + 1]?.id
  return (
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
            onSort={({ by }) => onChange({ sort: by as UsersSearch['sort'] })}
            onOpen={({ id }) => onChange({ open: id })}
            openId={open}
            height="75vh"
            more={moreOf(people)}
            empty={<Empty title={<Trans>Nobody matches.</Trans>} />}
            card={cardOf}
          />
        )}
      </Widget>
      {open !== undefined && (
        <PersonDrawer
          key={open}
          id={open}
          onClose={() => onChange({ open: undefined })}
          onPrevious={before === undefined ? undefined : () => onChange({ open: before })}
          onNext={place < 0 || after === undefined ? undefined : () => onChange({ open: after })}
        />
      )}
    </Card>
  )
}

function usePeople(filters: Omit<UsersSearch, 'open' | 'view'>) {
  return useInfiniteQuery({
    queryKey: ['/api/people', filters],
    queryFn: ({ pageParam, signal }) => {
      const { search, role, status, sort } = filters
      const given = Object.entries({ search, role, status, sort }).filter(([, value]) => value)
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
}

function cardOf(person: Listed) {
  return {
    title: (
      <>
        <span className="truncate font-medium">{person.name || person.id}</span>
        <PersonStatus person={person} />
      </>
    ),
    facts: [
      // People choose their names themselves, also those of others.
      person.name === '' || person.name === person.id ? null : <Id key="id" value={person.id} />,
      person.email,
      <Money key="balance" down nano={person.balanceNano} currency={person.currency} />,
      <Time key="seen" relative at={person.lastSeenAt} />,
    ],
  }
}
