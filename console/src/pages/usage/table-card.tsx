// The breakdown of the figure: one row for each group, and a totals row that equals the chart's sums.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useMemo } from 'react'
import type { Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { groupId, otherId } from '../../charts/statistics.ts'
import { Swatch } from '../../charts/tooltip.tsx'
import { ColumnChooser } from '../../ui/columns.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { type Column, DataTable } from '../../ui/table.tsx'
import { Count, Money, Percent } from '../../ui/values.tsx'
import { type Asked, useChange } from './asked.ts'
import { type useBreakdown, useColours } from './data.ts'
import { ExportMenu } from './export-menu.tsx'
import { useOpenRequests } from './open-requests.ts'
import { sorts } from './search.ts'
import { dimensionWords, tokenWords, useValueName } from './words.ts'

type Breakdown = Shape<'Breakdown'>
type Row = Breakdown['rows'][number]
type Figures = Breakdown['totals']

interface TableCardProps {
  readonly asked: Asked
  readonly query: ReturnType<typeof useBreakdown>
  readonly highlighted: string | undefined
  readonly onHighlight: (id: string | undefined) => void
}

export function TableCard(props: TableCardProps) {
  const { asked, query } = props
  const columns = useColumns(asked, query.data?.currency ?? '')
  return (
    <Card
      flush
      title={<Trans>Breakdown</Trans>}
      actions={
        <span className="flex gap-2">
          <ColumnChooser id="usage" columns={columns} />
          <ExportMenu asked={asked} />
        </span>
      }
    >
      <Widget query={query} skeleton={<Skeleton rows={6} height={24} />}>
        {(breakdown) => <Table {...props} columns={columns} breakdown={breakdown} />}
      </Widget>
    </Card>
  )
}

interface TableProps extends TableCardProps {
  readonly columns: readonly Column<Row>[]
  readonly breakdown: Breakdown
}

function Table({ asked, breakdown, columns, highlighted, onHighlight }: TableProps) {
  const { t } = useLingui()
  const change = useChange()
  const openRequests = useOpenRequests(asked)
  const { by, rows, totals, currency, since, until } = breakdown
  const shown: readonly Row[] = by.length === 0 ? [{ group: {}, ...totals }] : rows
  return (
    <div
      onPointerOver={(event) => {
        const row = (event.target as Element).closest<HTMLElement>('[data-id]')
        onHighlight(row?.dataset['id'])
      }}
      onPointerLeave={() => onHighlight(undefined)}
    >
      <DataTable
        id="usage"
        label={t`Breakdown`}
        columns={columns}
        rows={shown}
        rowId={({ group }) => groupId(group, by)}
        highlightedId={highlighted}
        sort={{ by: asked.search.sort ?? 'spend', descending: asked.search.order === undefined }}
        onSort={({ by, descending }) => {
          const sort = sorts.find((sort) => sort === by)
          if (sort !== undefined) change({ sort, order: descending ? undefined : 'asc' })
        }}
        {...(by.length > 0 && { totals: totalsRow(totals, currency, t`Total`) })}
        onOpen={({ group }) => openRequests({ group, start: since, end: until })}
        height="640px"
        empty={<Empty title={<Trans>Nothing was used in this range.</Trans>} />}
        card={(row) => ({
          title: (
            <>
              {columns[0]?.cell(row)}
              <Money nano={row.spendNano} currency={currency} />
            </>
          ),
          facts: [
            <Plural key="requests" value={row.requests} one="# request" other="# requests" />,
            <Percent key="share" ratio={row.share} />,
            t`Failed: ${row.failed}`,
          ],
        })}
      />
    </div>
  )
}

function totalsRow(totals: Figures, currency: string, name: string) {
  const tokens = Object.entries(totals.tokens).map(([kind, count]) => [
    kind,
    <Count key={kind} value={count} />,
  ])
  return {
    ...Object.fromEntries(tokens),
    name,
    requests: <Count value={totals.requests} />,
    success: <Count value={totals.success} />,
    failed: <Count value={totals.failed} />,
    spend: <Money nano={totals.spendNano} currency={currency} />,
    share: <Percent ratio={totals.share} />,
    errorRate: <Percent ratio={totals.errorRate} />,
    cacheRate: <Percent ratio={totals.cacheRate} />,
    ...(totals.vendorCostNano !== undefined && {
      vendorCostNano: <Money nano={totals.vendorCostNano} currency={currency} />,
    }),
    ...(totals.writeoffNano !== undefined && {
      writeoffNano: <Money nano={totals.writeoffNano} currency={currency} />,
    }),
  }
}

/** By default those that every model has. */
const tokenKinds = [
  { kind: 'input', shown: {} },
  { kind: 'cachedInput', shown: { from: 1024 } },
  { kind: 'cacheWrite', shown: { optional: true } },
  { kind: 'cacheWrite1h', shown: { optional: true } },
  { kind: 'audioInput', shown: { optional: true } },
  { kind: 'imageInput', shown: { optional: true } },
  { kind: 'output', shown: {} },
  { kind: 'reasoning', shown: { from: 1024 } },
  { kind: 'audioOutput', shown: { optional: true } },
  { kind: 'imageOutput', shown: { optional: true } },
] as const

const right = { align: 'right', sortable: true } as const

function count(id: 'requests' | 'success' | 'failed', header: string): Column<Row> {
  return { ...right, id, header, cell: (row) => <Count value={row[id]} /> }
}

function rate(id: 'errorRate' | 'cacheRate', header: string): Column<Row> {
  return { ...right, id, header, optional: true, cell: (row) => <Percent ratio={row[id]} /> }
}

function useColumns(asked: Asked, currency: string): readonly Column<Row>[] {
  const { t } = useLingui()
  const { operator } = roleOf(useMe())
  const colours = useColours(asked)
  const valueName = useValueName()
  return useMemo<readonly Column<Row>[]>(() => {
    const { by } = asked
    const money = (nano: string) => <Money nano={nano} currency={currency} />
    const nameOf = ({ group, otherGroups = 0 }: Row) => {
      if (by.length === 0) return t`Everything`
      if (groupId(group, by) === otherId) return t`Others: ${otherGroups}`
      return by.map((dimension) => valueName(dimension, group[dimension] ?? '')).join(' · ')
    }
    const name: Column<Row> = {
      id: 'name',
      isLong: true,
      header: by.length === 0 ? t`Usage` : by.map((name) => t(dimensionWords[name])).join(' · '),
      cell: (row) => (
        <span className="inline-flex max-w-full min-w-0 items-center gap-2">
          {by.length > 0 && <Swatch colour={colours.get(groupId(row.group, by)) ?? 'other'} />}
          <span className="truncate" title={nameOf(row)}>
            {nameOf(row)}
          </span>
        </span>
      ),
    }
    const tokens = tokenKinds.map(({ kind, shown }) => ({
      id: kind,
      header: t(tokenWords[kind]),
      align: 'right' as const,
      sortable: sorts.some((sort) => sort === kind),
      ...shown,
      cell: (row: Row) => <Count value={row.tokens[kind] ?? 0} />,
    }))
    const forOperators = (id: 'vendorCostNano' | 'writeoffNano', header: string): Column<Row> => ({
      id,
      header,
      align: 'right',
      optional: true,
      cell: (row) => money(row[id] ?? '0'),
    })
    return [
      name,
      count('requests', t`Requests`),
      count('success', t`Succeeded`),
      count('failed', t`Failed`),
      ...tokens,
      { ...right, id: 'spend', header: t`Spend`, cell: ({ spendNano }) => money(spendNano) },
      {
        id: 'share',
        align: 'right',
        header: t`Share`,
        cell: ({ share }) => <Percent ratio={share} />,
      },
      rate('errorRate', t`Error rate`),
      rate('cacheRate', t`Cache rate`),
      ...(operator
        ? [
            forOperators('vendorCostNano', t`Vendor cost`),
            forOperators('writeoffNano', t`Written off`),
          ]
        : []),
    ]
  }, [asked, operator, currency, colours, valueName, t])
}
