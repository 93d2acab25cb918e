// The list of keys: sorted by the server, in pages, with a row of actions for chosen ones.

import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { get } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { useAccount } from '../../app/account-scope.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { ColumnChooser } from '../../ui/columns.tsx'
import { later } from '../../ui/later.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { DataTable, moreOf, type Sort, type TableProps } from '../../ui/table.tsx'
import { Money } from '../../ui/values.tsx'
import { BulkBar } from './bulk-bar.tsx'
import { type Key, KeyStatus, keyColumns } from './key-columns.tsx'

const KeyDrawer = later(() => import('./key-drawer.tsx'))

const pageSize = 100

/** The query of the address, page by page. */
function useKeys() {
  const {
    search,
    status,
    group,
    sort = 'created',
    order = 'desc',
  } = useSearch({ from: '/shell/keys' })
  const account = useAccount()
  const asked = { search, status, group, sort, order, account }
  return useInfiniteQuery({
    queryKey: ['/api/keys', asked],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...given(asked), limit: pageSize, ...given({ cursor: pageParam }) }
      return get('/api/keys', { params: { query } }, signal)
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: (before) => before,
  })
}

export function KeyList({ mayChange }: { readonly mayChange: boolean }) {
  const { open } = useSearch({ from: '/shell/keys' })
  const navigate = useNavigate({ from: '/keys' })
  const account = useAccount()
  const { operator } = roleOf(useMe())
  const columns = useMemo(() => keyColumns(operator && account === undefined), [operator, account])
  const query = useKeys()
  const rows = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data])
  const ids = rows.map(({ id }) => id)
  const show = (id: string | undefined, ignoreBlocker = false) =>
    void navigate({ search: (now) => ({ ...now, open: id }), ignoreBlocker })
  const more = moreOf(query)
  return (
    <Card flush title={<Trans>Keys</Trans>} actions={<ColumnChooser id="keys" columns={columns} />}>
      <Widget query={query} skeleton={<Skeleton rows={8} />}>
        {() => (
          <KeyTable columns={columns} rows={rows} more={more} mayChange={mayChange} onOpen={show} />
        )}
      </Widget>
      {open !== undefined && (
        <KeyDrawer
          key={open}
          id={open}
          mayChange={mayChange}
          onClose={() => show(undefined)}
          // What was typed cannot be kept without its key.
          onDeleted={() => show(undefined, true)}
          {...neighbours(ids, open, show)}
        />
      )}
    </Card>
  )
}

interface KeyTableProps extends Pick<TableProps<Key>, 'columns' | 'rows' | 'more'> {
  readonly mayChange: boolean
  readonly onOpen: (id: string) => void
}

function KeyTable({ columns, rows, more, mayChange, onOpen }: KeyTableProps) {
  const { t } = useLingui()
  const {
    search,
    status,
    group,
    sort = 'created',
    order,
    open,
  } = useSearch({ from: '/shell/keys' })
  const navigate = useNavigate({ from: '/keys' })
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const selected = rows.filter(({ id }) => chosen.has(id))
  const isFiltered = [search, status, group].some((each) => each !== undefined)
  const hasAccounts = columns.some(({ id }) => id === 'account')
  const sortBy = ({ by, descending }: Sort) =>
    void navigate({
      search: (now) => ({
        ...now,
        sort: by as typeof sort,
        order: descending ? ('desc' as const) : ('asc' as const),
      }),
    })
  return (
    <>
      {mayChange && selected.length > 0 && (
        <BulkBar keys={selected} onDone={() => setChosen(new Set())} />
      )}
      <DataTable
        id="keys"
        label={t`Keys`}
        columns={columns}
        rows={rows}
        rowName={({ name }) => name}
        rowId={({ id }) => id}
        sort={{ by: sort, descending: order !== 'asc' }}
        onSort={sortBy}
        onOpen={({ id }) => onOpen(id)}
        openId={open}
        height="75vh"
        {...(mayChange && { selection: { ids: chosen, onChange: setChosen } })}
        empty={<NoKeys isFiltered={isFiltered} />}
        more={more}
        card={(key) => cardOf(key, hasAccounts)}
      />
    </>
  )
}

/** How the drawer moves to the previous and next row; not possible if its key is not among those shown. */
function neighbours(ids: readonly string[], id: string, show: (id: string) => void) {
  const at = ids.indexOf(id)
  const [before, after] = at < 0 ? [] : [ids[at - 1], ids[at + 1]]
  return {
    onPrevious: before === undefined ? undefined : () => show(before),
    onNext: after === undefined ? undefined : () => show(after),
  }
}

function cardOf(key: Key, hasAccounts: boolean) {
  return {
    title: (
      <>
        <span className="truncate font-medium">{key.name}</span>
        <KeyStatus status={key.status} />
      </>
    ),
    facts: [
      hasAccounts ? key.account : null,
      <code key="hint" className="font-mono">
        {key.hint}
      </code>,
      key.group,
      <Trans key="spend">
        <Money nano={key.month.chargeNano} currency={key.currency} /> this month
      </Trans>,
    ],
  }
}

function NoKeys({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty
        title={<Trans>No key is like that</Trans>}
        action={
          <Link to="/keys" className={buttonClass()}>
            <Trans>Clear filters</Trans>
          </Link>
        }
      />
    )
  return (
    <Empty
      title={<Trans>Your keys appear here</Trans>}
      action={
        <Link to="/get-started" className={buttonClass()}>
          <Trans>Get started</Trans>
        </Link>
      }
    >
      <p>
        <Trans>
          A key identifies the caller. Make one and enter it in a client: its requests are then
          shown on the page Requests.
        </Trans>
      </p>
    </Empty>
  )
}

/** Without what is undefined. */
function given<Fields extends object>(fields: Fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]: Exclude<Fields[Name], undefined>
  }
}
