// Models: what may be called, what it costs a group per million tokens, and how it does; public where operators allow.

import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { get, read } from '../../api/client.ts'
import { useMe } from '../../api/queries.ts'
import type { Catalog } from '../../i18n.ts'
import { Button } from '../../ui/button.tsx'
import { ColumnChooser } from '../../ui/columns.tsx'
import { Checkbox, Field, Input, Select } from '../../ui/field.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { DataTable } from '../../ui/table.tsx'
import { Badge } from '../../ui/values.tsx'
import { columns, Price } from './columns.tsx'
import { ModelDrawer } from './drawer.tsx'
import { kinds, type ModelsSearch } from './search.ts'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

const route = getRouteApi('/shell/models')

export default function ModelsPage() {
  const { t } = useLingui()
  const search = route.useSearch()
  const navigate = useNavigate()
  // What is typed replaces the address: going back does not go through every letter.
  const change = (next: Partial<ModelsSearch>, replace = false) =>
    void navigate({ to: '.', replace, search: (before) => ({ ...before, ...next }) })
  const { open, sort, search: words, group, kind, vendor, tools, vision } = search
  const filters = { search: words, group, kind, vendor, tools, vision, sort }
  const given = Object.fromEntries(
    Object.entries(filters).filter(([, value]) => value !== undefined),
  )
  const models = useInfiniteQuery({
    queryKey: ['/api/models', given],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...given, limit: 200, ...(pageParam && { cursor: pageParam }) }
      return get('/api/models', { params: { query } }, signal)
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
  })
  const rows = useMemo(() => models.data?.pages.flatMap(({ items }) => items) ?? [], [models.data])
  const isFiltered = Object.keys(given).some((name) => name !== 'sort')
  const place = rows.findIndex(({ id }) => id === open)
  const before = rows[place - 1]?.id
  const after = rows[place + 1]?.id
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = models
  const shownGroup = rows[0]?.group
  return (
    <Page
      title={<Trans>Models</Trans>}
      purpose={
        shownGroup === undefined ? (
          <Trans>What may be called, and what it costs.</Trans>
        ) : (
          <Trans>
            What may be called, and what it costs the group {shownGroup}, per million tokens.
          </Trans>
        )
      }
      filters={<Filters search={search} onChange={change} />}
    >
      <Card
        flush
        title={<Trans>Models</Trans>}
        actions={
          <span className="flex flex-wrap items-center gap-3">
            <a href="/api/prices/feed.json">JSON</a>
            <a href="/api/prices/feed.rss">RSS</a>
            <ColumnChooser id="models" columns={columns} />
          </span>
        }
      >
        <Widget query={models} skeleton={<Skeleton rows={10} />}>
          {() => (
            <DataTable
              id="models"
              label={t`Models`}
              columns={columns}
              rows={rows}
              rowId={({ id }) => id}
              sort={{ by: sort ?? 'name', descending: sort === 'newest' || sort === 'throughput' }}
              onSort={({ by }) => change({ sort: by as ModelsSearch['sort'] })}
              onOpen={({ id }) => change({ open: id })}
              openId={open}
              height="75vh"
              more={
                hasNextPage
                  ? { isLoading: isFetchingNextPage, load: () => void fetchNextPage() }
                  : undefined
              }
              empty={
                <Empty
                  title={
                    isFiltered ? (
                      <Trans>No model fits the filters.</Trans>
                    ) : (
                      <Trans>This group has no models with a price.</Trans>
                    )
                  }
                  action={
                    isFiltered && (
                      <Button onClick={() => change(withoutFilters)}>
                        <Trans>Clear filters</Trans>
                      </Button>
                    )
                  }
                />
              }
              card={(model) => ({
                title: (
                  <>
                    <span className="truncate font-medium">{model.id}</span>
                    <Badge>{model.kind}</Badge>
                  </>
                ),
                facts: [
                  model.vendor,
                  <Price key="input" model={model} kind="input" />,
                  <Price key="output" model={model} kind="output" />,
                ],
              })}
            />
          )}
        </Widget>
      </Card>
      {open !== undefined && (
        <ModelDrawer
          key={open}
          id={open}
          group={group}
          onClose={() => change({ open: undefined })}
          onPrevious={before === undefined ? undefined : () => change({ open: before })}
          onNext={place < 0 || after === undefined ? undefined : () => change({ open: after })}
        />
      )}
    </Page>
  )
}

const withoutFilters = {
  search: undefined,
  group: undefined,
  kind: undefined,
  vendor: undefined,
  tools: undefined,
  vision: undefined,
} as const

interface FiltersProps {
  readonly search: ModelsSearch
  readonly onChange: (next: Partial<ModelsSearch>, replace?: boolean) => void
}

function Filters({ search, onChange }: FiltersProps) {
  const { t } = useLingui()
  const me = useMe()
  const groups = useQuery({
    ...read('/api/groups', { params: { query: { limit: 200 } } }),
    enabled: Boolean(me),
  })
  return (
    <div data-filter className="flex flex-wrap items-center gap-2">
      <div className="w-64">
        <Field hideLabel label={t`Search models`}>
          <Input
            type="search"
            defaultValue={search.search ?? ''}
            placeholder={t`Search models`}
            onChange={(event) => onChange({ search: event.target.value || undefined }, true)}
          />
        </Field>
      </div>
      <Field hideLabel label={t`Kind`}>
        <Select
          value={search.kind ?? ''}
          onChange={(event) =>
            onChange({ kind: kinds.find((kind) => kind === event.target.value) })
          }
        >
          <option value="">{t`Any kind`}</option>
          {kinds.map((kind) => (
            <option key={kind} value={kind}>
              {kind}
            </option>
          ))}
        </Select>
      </Field>
      {(groups.data?.items.length ?? 0) > 1 && (
        <Field hideLabel label={t`Group`}>
          <Select
            value={search.group ?? ''}
            onChange={(event) => onChange({ group: event.target.value || undefined })}
          >
            <option value="">{t`My group`}</option>
            {groups.data?.items.map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </Select>
        </Field>
      )}
      <Field hideLabel label={t`Sort by`}>
        <Select
          value={search.sort ?? 'name'}
          onChange={(event) => onChange({ sort: event.target.value as ModelsSearch['sort'] })}
        >
          <option value="name">{t`By name`}</option>
          <option value="price">{t`Cheapest first`}</option>
          <option value="newest">{t`Newest first`}</option>
          <option value="latency">{t`Quickest first token`}</option>
          <option value="throughput">{t`Most tokens per second`}</option>
        </Select>
      </Field>
      <Checkbox
        label={t`Tools`}
        checked={search.tools === true}
        onChange={(event) => onChange({ tools: event.target.checked ? true : undefined })}
      />
      <Checkbox
        label={t`Vision`}
        checked={search.vision === true}
        onChange={(event) => onChange({ vision: event.target.checked ? true : undefined })}
      />
    </div>
  )
}
