// The prices in force, by model.

import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useId, useMemo, useState } from 'react'
import { get, read, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { Actor } from '../../ui/actor.tsx'
import { Button } from '../../ui/button.tsx'
import { ColumnChooser } from '../../ui/columns.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { type Column, DataTable, moreOf } from '../../ui/table.tsx'
import { PriceDrawer } from './drawer.tsx'
import { Begins, Origin, PriceLine, PricesHeader } from './prices.tsx'

type Row = Shape<'ListedPriceCard'>

const columns: readonly Column<Row>[] = [
  {
    id: 'model',
    isLong: true,
    header: <Trans>Model</Trans>,
    cell: ({ model }) => <span className="font-medium">{model}</span>,
  },
  {
    id: 'prices',
    header: <PricesHeader />,
    cell: ({ prices }) => <PriceLine prices={prices} />,
  },
  {
    id: 'origin',
    header: <Trans>Where from</Trans>,
    cell: ({ origin }) => <Origin origin={origin} />,
  },
  {
    id: 'from',
    header: <Trans>Since</Trans>,
    cell: ({ from }) => <Begins relative at={from} />,
  },
  {
    id: 'actor',
    isLong: true,
    header: <Trans>By</Trans>,
    optional: true,
    cell: ({ actor }) => <Actor actor={actor} />,
  },
  {
    id: 'source',
    isLong: true,
    header: <Trans>Source</Trans>,
    optional: true,
    cell: ({ source, sourceDate }) => [source, sourceDate].filter(Boolean).join(', '),
  },
  {
    id: 'version',
    header: <Trans>Version</Trans>,
    align: 'right',
    optional: true,
    cell: ({ version }) => version,
  },
]

interface BookProps {
  readonly search: string
  readonly open: string | undefined
  readonly onSearch: (text: string | undefined) => void
  readonly onOpen: (model: string) => void
  readonly onClose: () => void
}

function useCards(search: string) {
  return useInfiniteQuery({
    queryKey: ['/api/prices', { search }],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: 200,
        ...(search !== '' && { search }),
        ...(pageParam && { cursor: pageParam }),
      }
      return get('/api/prices', { params: { query } }, signal)
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
  })
}

export function Book({ search, open, onSearch, onOpen, onClose }: BookProps) {
  const { t } = useLingui()
  const cards = useCards(search)
  const rows = useMemo(() => cards.data?.pages.flatMap(({ items }) => items) ?? [], [cards.data])
  const place = rows.findIndex(({ model }) => model === open)
  const before = rows[place - 1]
  const after = place < 0 ? undefined : rows[place + 1]
  return (
    <>
      <Card
        flush
        title={<Trans>Prices in force</Trans>}
        actions={
          <span className="flex flex-wrap items-center gap-2" data-filter>
            <SearchInput label={t`Search models`} value={search} onChange={onSearch} />
            <ColumnChooser id="prices" columns={columns} />
            <PriceAnother priced={rows} onOpen={onOpen} />
          </span>
        }
      >
        <Widget query={cards} skeleton={<Skeleton rows={10} />}>
          {() => (
            <DataTable
              id="prices"
              label={t`Prices in force`}
              columns={columns}
              rows={rows}
              rowId={({ model }) => model}
              onOpen={({ model }) => onOpen(model)}
              openId={open}
              height="75vh"
              more={moreOf(cards)}
              empty={<Empty title={<Trans>No model has this in its name.</Trans>} />}
              card={({ model, prices, origin }) => ({
                title: <span className="truncate font-medium">{model}</span>,
                facts: [
                  <PriceLine key="prices" prices={prices} />,
                  <Origin key="origin" origin={origin} />,
                ],
              })}
            />
          )}
        </Widget>
      </Card>
      {open !== undefined && (
        <PriceDrawer
          key={open}
          model={open}
          onClose={onClose}
          onPrevious={before && (() => onOpen(before.model))}
          onNext={after && (() => onOpen(after.model))}
        />
      )}
    </>
  )
}

/** For a model that has no price yet. */
function PriceAnother({ priced, onOpen }: Omit<NameFormProps, 'onClose'>) {
  const { admin } = roleOf(useMe())
  const [isAsked, setAsked] = useState(false)
  const [wasGivenUp, setGivenUp] = useState(false)
  if (!admin) return null
  if (isAsked)
    return (
      <NameForm
        priced={priced}
        onOpen={onOpen}
        onClose={(isGivenUp) => {
          setGivenUp(isGivenUp)
          setAsked(false)
        }}
      />
    )
  return (
    <Button variant="primary" icon="plus" autoFocus={wasGivenUp} onClick={() => setAsked(true)}>
      <Trans>Price another model</Trans>
    </Button>
  )
}

interface NameFormProps extends Pick<BookProps, 'onOpen'> {
  readonly priced: readonly Row[]
  readonly onClose: (isGivenUp: boolean) => void
}

function NameForm({ priced, onOpen, onClose }: NameFormProps) {
  const { t } = useLingui()
  const list = useId()
  const [name, setName] = useState('')
  const [isLeftOut, setLeftOut] = useState(false)
  const missing = useQuery(read('/api/prices/missing'))
  const known = [...(missing.data?.items ?? []), ...priced].map(({ model }) => model)
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        const model = name.trim()
        setLeftOut(model === '')
        if (model === '') return
        onOpen(model)
        onClose(false)
      }}
    >
      <Field
        hideLabel
        label={t`Name of the model`}
        error={
          isLeftOut && name.trim() === '' ? <Trans>Write the name of a model.</Trans> : undefined
        }
      >
        <Input
          autoFocus
          list={list}
          spellCheck={false}
          autoComplete="off"
          placeholder="acme/model"
          value={name}
          onChange={({ target }) => setName(target.value)}
          onKeyDown={({ key }) => {
            if (key === 'Escape') onClose(true)
          }}
        />
      </Field>
      <datalist id={list}>
        {[...new Set(known)].map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      <Button type="submit" variant="primary">
        <Trans>Open</Trans>
      </Button>
    </form>
  )
}
