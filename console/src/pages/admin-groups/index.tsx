// Groups: which models their keys may use, at what price and within which limits; and who uses each.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { read, readAll } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import type { Catalog } from '../../i18n.ts'
import { Button } from '../../ui/button.tsx'
import { ColumnChooser } from '../../ui/columns.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { DataTable } from '../../ui/table.tsx'
import { Count } from '../../ui/values.tsx'
import { columns, Multipliers, Origin } from './columns.tsx'
import { GroupDrawer } from './drawer.tsx'
import { MakeGroup } from './make-group.tsx'
import { rowsOf } from './rows.ts'
import type { GroupsSearch } from './search.ts'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

const route = getRouteApi('/shell/admin/groups')

export default function GroupsPage() {
  const { admin } = roleOf(useMe())
  const { open, make } = route.useSearch()
  const navigate = useNavigate()
  const change = (next: Partial<GroupsSearch>, ignoreBlocker = false) =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...next }), ignoreBlocker })
  const groups = useQuery(readAll('/api/configuration/groups'))
  const uses = useQuery({ ...read('/api/groups/uses'), refetchInterval: 60_000 })
  const rows = rowsOf(groups.data?.items ?? [], uses.data)
  const place = rows.findIndex(({ item }) => item.id === open)
  const before = rows[place - 1]?.item.id
  const after = place < 0 ? undefined : rows[place + 1]?.item.id
  return (
    <Page
      title={<Trans>Groups</Trans>}
      purpose={
        <Trans>
          A key belongs to a group: it says which models it may use, at what price and within which
          limits.
        </Trans>
      }
      actions={
        admin && (
          <Button variant="primary" icon="plus" onClick={() => change({ make: 'true' })}>
            <Trans>New group</Trans>
          </Button>
        )
      }
    >
      <Card
        flush
        title={<Trans>Groups</Trans>}
        actions={<ColumnChooser id="groups" columns={columns} />}
      >
        <Widget query={groups} skeleton={<Skeleton rows={4} />}>
          {() => <List rows={rows} open={open} onOpen={(id) => change({ open: id })} />}
        </Widget>
      </Card>
      {uses.data !== undefined && uses.data.peopleOfAll > 0 && (
        <p className="text-text-2">
          <Trans>
            Accounts that may make keys of any group, and are counted in none:{' '}
            <Count value={uses.data.peopleOfAll} />
          </Trans>
        </p>
      )}
      {open !== undefined && groups.data !== undefined && (
        <GroupDrawer
          key={open}
          id={open}
          row={rows[place]}
          onClose={() => change({ open: undefined })}
          // What was typed cannot be kept without its group.
          onDeleted={() => change({ open: undefined }, true)}
          onPrevious={before === undefined ? undefined : () => change({ open: before })}
          onNext={after === undefined ? undefined : () => change({ open: after })}
        />
      )}
      {make !== undefined && admin && (
        <MakeGroup
          onClose={() => change({ make: undefined })}
          onMade={(id) => change({ make: undefined, open: id })}
        />
      )}
    </Page>
  )
}

interface ListProps {
  readonly rows: ReturnType<typeof rowsOf>
  readonly open: string | undefined
  readonly onOpen: (id: string) => void
}

function List({ rows, open, onOpen }: ListProps) {
  const { t } = useLingui()
  return (
    <DataTable
      id="groups"
      label={t`Groups`}
      columns={columns}
      rows={rows}
      rowId={({ item }) => item.id}
      onOpen={({ item }) => onOpen(item.id)}
      openId={open}
      empty={<Empty title={<Trans>There is no group.</Trans>} />}
      card={({ item, settings, use }) => ({
        title: <span className="truncate font-medium">{item.id}</span>,
        facts: [
          <Multipliers key="multiplier" {...settings} />,
          use === undefined ? null : (
            <span key="keys">
              <Trans>
                <Count value={use.keys} /> keys
              </Trans>
            </span>
          ),
          <Origin key="origin" {...item} />,
        ],
      })}
    />
  )
}
