// Models: which may be called, their prices for a group, and their recent figures; public if operators allow it.

import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import type { Catalog } from '../../i18n.ts'
import { Button } from '../../ui/button.tsx'
import { ColumnChooser } from '../../ui/columns.tsx'
import { Segments } from '../../ui/field.tsx'
import { useIsPhone } from '../../ui/media.ts'
import { KindName } from '../../ui/model-kind.tsx'
import { FirstPrice, Price } from '../../ui/model-prices.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Blank, Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { DataTable, moreOf, ShowMore } from '../../ui/table.tsx'
import { Time } from '../../ui/values.tsx'
import { vendorName } from '../../ui/vendor-name.ts'
import { ModelCards } from './cards.tsx'
import { columns } from './columns.tsx'
import { ModelDrawer } from './drawer.tsx'
import { Filters } from './filters.tsx'
import { type Model, useModels } from './queries.ts'
import { filtersOf, type ModelsSearch, withoutFilters } from './search.ts'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

const route = getRouteApi('/shell/models')

type Change = (next: Partial<ModelsSearch>, replace?: boolean) => void

export default function ModelsPage() {
  const search = route.useSearch()
  const navigate = useNavigate()
  // Typing replaces the address, so that going back does not go through every letter.
  const change: Change = (next, replace = false) =>
    void navigate({ to: '.', replace, search: (before) => ({ ...before, ...next }) })
  const { query, rows } = useModels(search)
  const { open, group } = search
  const place = rows.findIndex(({ id }) => id === open)
  const before = rows[place - 1]?.id
  const after = rows[place + 1]?.id
  return (
    <Page
      title={<Trans>Models</Trans>}
      purpose={
        <Trans>What may be called, and what it costs for a million tokens or as it says.</Trans>
      }
      filters={<Filters search={search} onChange={change} />}
    >
      <Card
        flush
        title={<Trans>Models</Trans>}
        actions={
          <Actions search={search} rows={rows} isPending={query.isPending} onChange={change} />
        }
      >
        <Widget query={query} skeleton={<Skeleton rows={10} />}>
          {() => <List search={search} onChange={change} query={query} rows={rows} />}
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

interface ActionsProps {
  readonly search: ModelsSearch
  readonly rows: readonly Model[]
  readonly onChange: Change
}

function Actions({
  search,
  rows,
  isPending,
  onChange,
}: ActionsProps & { readonly isPending: boolean }) {
  const { t } = useLingui()
  const isPhone = useIsPhone()
  const group = rows[0]?.group
  const latest = rows
    .map(({ price }) => price.updatedAt)
    .sort()
    .at(-1)
  const query = search.group === undefined ? '' : `?group=${encodeURIComponent(search.group)}`
  return (
    <span className="flex flex-wrap items-center gap-3">
      <span className="text-label text-text-2 max-md:basis-full">
        {isPending && <Blank width={240} />}
        {group !== undefined && latest !== undefined && (
          <Trans>
            Prices of the group {group}, updated <Time relative at={latest} />
          </Trans>
        )}
      </span>
      <a href={`/api/prices/feed.json${query}`}>JSON</a>
      <a href={`/api/prices/feed.rss${query}`}>RSS</a>
      <Segments
        label={t`View`}
        value={search.view ?? 'table'}
        options={[
          { value: 'table', label: t`Table` },
          { value: 'cards', label: t`Cards` },
        ]}
        onChange={(view) => onChange({ view: view === 'table' ? undefined : view })}
      />
      {search.view !== 'cards' && !isPhone && <ColumnChooser id="models" columns={columns} />}
    </span>
  )
}

interface ListProps extends ActionsProps {
  readonly query: ReturnType<typeof useModels>['query']
}

function List({ search, rows, onChange, query }: ListProps) {
  const { t } = useLingui()
  const { open, sort } = search
  const more = moreOf(query)
  if (search.view === 'cards' && rows.length > 0)
    return (
      <>
        <ModelCards rows={rows} openId={open} onOpen={(id) => onChange({ open: id })} />
        <ShowMore more={more} />
      </>
    )
  return (
    <DataTable
      id="models"
      label={t`Models`}
      columns={columns}
      rows={rows}
      rowId={({ id }) => id}
      sort={{ by: sort ?? 'name', descending: sort === 'newest' || sort === 'throughput' }}
      onOpen={({ id }) => onChange({ open: id })}
      openId={open}
      height="75vh"
      more={more}
      empty={<NothingFits search={search} onChange={onChange} />}
      card={(model) => ({
        title: (
          <>
            <span className="truncate font-medium">{model.id}</span>
            <KindName kind={model.kind} />
          </>
        ),
        facts: [
          vendorName(model.vendor),
          <InputFact key="input" model={model} />,
          <OutputFact key="output" model={model} />,
        ],
      })}
    />
  )
}

/** Prices by other units, such as an image, name their unit. */
function InputFact({ model }: { readonly model: Model }) {
  if (model.price.lines.every(({ name }) => name !== 'input')) return <FirstPrice model={model} />
  return (
    <Trans>
      Input <Price model={model} kind="input" />
    </Trans>
  )
}

function OutputFact({ model }: { readonly model: Model }) {
  if (model.price.lines.every(({ name }) => name !== 'output')) return null
  return (
    <Trans>
      Output <Price model={model} kind="output" />
    </Trans>
  )
}

function NothingFits({ search, onChange }: Pick<ListProps, 'search' | 'onChange'>) {
  if (Object.keys(filtersOf(search)).length === 0)
    return <Empty title={<Trans>This group has no models with a price.</Trans>} />
  return (
    <Empty
      title={<Trans>No model fits the filters.</Trans>}
      action={
        <Button onClick={() => onChange(withoutFilters)}>
          <Trans>Clear filters</Trans>
        </Button>
      }
    />
  )
}
