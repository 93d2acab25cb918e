// Audit log: what operators did, who, when, from where, and what it changed.

import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { get, read, type Shape } from '../../api/client.ts'
import { useBalance } from '../../api/queries.ts'
import { useListBounds } from '../../app/list-bounds.ts'
import { type Range, rangeOf } from '../../app/range.ts'
import { exactMoney } from '../../format.ts'
import type { Catalog } from '../../i18n.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { Actor } from '../../ui/actor.tsx'
import { Buttons, buttonClass } from '../../ui/button.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { RoleName } from '../../ui/role-name.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { type Column, DataTable, moreOf } from '../../ui/table.tsx'
import { Copy, Time, useNow } from '../../ui/values.tsx'
import { actionChoices, actionText } from './action-words.ts'
import { useFieldName } from './field-words.ts'
import type { AuditSearch } from './search.ts'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

type Entry = Shape<'OperatorEvent'>
const route = getRouteApi('/shell/admin/audit')

const columns: readonly Column<Entry>[] = [
  { id: 'at', header: <Trans>Time</Trans>, cell: ({ at }) => <Time at={at} brief /> },
  {
    id: 'actor',
    isLong: true,
    header: <Trans>Who</Trans>,
    cell: ({ actor }) => <Actor actor={actor} />,
  },
  {
    id: 'role',
    header: <Trans>Role</Trans>,
    optional: true,
    cell: ({ role }) => <RoleName role={role} />,
  },
  {
    id: 'action',
    isLong: true,
    header: <Trans>Action</Trans>,
    cell: (event) => <Action event={event} />,
  },
  {
    id: 'target',
    isLong: true,
    header: <Trans>Object</Trans>,
    cell: ({ target }) => Object.values(target).join(', '),
  },
  {
    id: 'changes',
    isLong: true,
    header: <Trans>Changed</Trans>,
    cell: ({ changes }) => <Changed changes={changes} />,
  },
  { id: 'address', header: <Trans>Address</Trans>, cell: ({ address }) => address ?? '' },
]

function Changed({ changes }: Pick<Entry, 'changes'>) {
  const fieldName = useFieldName()
  return Object.keys(changes ?? {})
    .map(fieldName)
    .join(', ')
}

/** In words; the operation's id on hover. A preview, or what would have needed a confirmation, changed nothing. */
function Action({ event: { action, detail } }: { readonly event: Entry }) {
  const { t } = useLingui()
  return (
    <span title={action}>
      {actionText(action, t)}
      {detail['applied'] === false && (
        <span className="ml-2 text-text-2">
          <Trans>not applied</Trans>
        </span>
      )}
    </span>
  )
}

type Change = (next: Partial<AuditSearch>, replace?: boolean) => void

/** By the names and values of the API's filters. */
function useEvents(filters: Readonly<Record<string, string>>) {
  return useInfiniteQuery({
    queryKey: ['/api/events', filters],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...filters, limit: 100, ...(pageParam && { cursor: pageParam }) }
      return get('/api/events', { params: { query } }, signal)
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
  })
}

export default function AuditPage() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const zone = useTimeZone()
  const nowMs = useNow(60_000)
  const range = useMemo(() => rangeOf(search, nowMs, zone, '30d'), [search, nowMs, zone])
  // Typing replaces the address, so that going back does not go through every letter.
  const change: Change = (next, replace = false) =>
    void navigate({ to: '.', replace, search: (before) => ({ ...before, ...next }) })
  const { actor, action, text, open } = search
  const given = Object.entries({ actor, action, text, ...useListBounds(search, '30d') })
  const filters: Record<string, string> = Object.fromEntries(
    given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  const events = useEvents(filters)
  const rows = useMemo(() => events.data?.pages.flatMap(({ items }) => items) ?? [], [events.data])
  return (
    <Page
      title={<Trans>Audit log</Trans>}
      purpose={<Trans>What operators did. Entries are added and never changed.</Trans>}
      actions={
        <Buttons>
          <Export filters={filters} format="csv">
            <Trans>Export CSV</Trans>
          </Export>
          <Export filters={filters} format="json">
            <Trans>Export JSON</Trans>
          </Export>
        </Buttons>
      }
      filters={<Filters search={search} range={range} change={change} />}
    >
      <Card flush title={<Trans>Events</Trans>}>
        <Widget query={events} skeleton={<Skeleton rows={8} />}>
          {() => <EventTable events={events} rows={rows} open={open} change={change} />}
        </Widget>
      </Card>
      {open !== undefined && <OpenedEvent key={open} rows={rows} open={open} change={change} />}
    </Page>
  )
}

interface ExportProps {
  readonly filters: Readonly<Record<string, string>>
  readonly format: 'csv' | 'json'
  readonly children: ReactNode
}

function Export({ filters, format, children }: ExportProps) {
  return (
    <a
      className={buttonClass()}
      download
      href={`/api/events/export?${new URLSearchParams({ ...filters, format })}`}
    >
      <Icon name="download" />
      {children}
    </a>
  )
}

interface FiltersProps {
  readonly search: AuditSearch
  readonly range: Range
  readonly change: Change
}

function Filters({ search: { text, actor, action }, range, change }: FiltersProps) {
  const { t, i18n } = useLingui()
  return (
    <div data-filter className="flex flex-wrap items-end gap-2">
      <RangePicker range={range} onChange={(next) => change(next)} />
      <div className="w-56">
        <SearchInput
          label={t`Search in the log`}
          placeholder={t`Text`}
          value={text}
          onChange={(typed) => change({ text: typed }, true)}
        />
      </div>
      <div className="w-44">
        <SearchInput
          label={t`Who`}
          value={actor}
          onChange={(typed) => change({ actor: typed }, true)}
        />
      </div>
      <div className="w-64">
        <Field hideLabel label={t`Action`}>
          <Select
            value={action ?? ''}
            onChange={(event) => change({ action: event.target.value || undefined })}
          >
            <option value="">{t`All actions`}</option>
            {actionChoices(t, i18n.locale).map(([id, text]) => (
              <option key={id} value={id}>
                {text}
              </option>
            ))}
          </Select>
        </Field>
      </div>
    </div>
  )
}

interface ListedProps {
  readonly rows: readonly Entry[]
  readonly open: string | undefined
  readonly change: Change
}

function EventTable({
  events,
  rows,
  open,
  change,
}: ListedProps & { readonly events: ReturnType<typeof useEvents> }) {
  const { t } = useLingui()
  return (
    <DataTable
      id="audit"
      label={t`Events`}
      columns={columns}
      rows={rows}
      rowId={({ id }) => id}
      onOpen={({ id }) => change({ open: id })}
      openId={open}
      height="75vh"
      more={moreOf(events)}
      empty={<Empty title={<Trans>No operator changed anything in this time.</Trans>} />}
      card={(event) => ({
        title: (
          <>
            <span className="font-medium">
              <Action event={event} />
            </span>
            <Time relative at={event.at} />
          </>
        ),
        facts: [<Actor key="actor" actor={event.actor} />, Object.values(event.target).join(', ')],
      })}
    />
  )
}

interface OpenedProps extends ListedProps {
  readonly open: string
}

/** Also an event that is older than the listed ones, or left out by the filters. */
function OpenedEvent({ rows, open, change }: OpenedProps) {
  const { t } = useLingui()
  const place = rows.findIndex(({ id }) => id === open)
  const listed = rows[place]
  const event = useQuery({
    ...read('/api/events/{id}', { params: { path: { id: open } } }),
    ...(listed !== undefined && { initialData: listed }),
    // An event does not change.
    staleTime: Number.POSITIVE_INFINITY,
  })
  const before = rows[place - 1]?.id
  const after = place < 0 ? undefined : rows[place + 1]?.id
  const action = event.data?.action
  return (
    <Drawer
      label={action === undefined ? t`Event` : actionText(action, t)}
      header={
        <h2 className="text-section">
          {event.data === undefined ? <Trans>Event</Trans> : <Action event={event.data} />}
        </h2>
      }
      onClose={() => change({ open: undefined })}
      onPrevious={before === undefined ? undefined : () => change({ open: before })}
      onNext={after === undefined ? undefined : () => change({ open: after })}
    >
      <Widget query={event} skeleton={<Skeleton rows={6} />}>
        {(opened) => <EventDetail event={opened} />}
      </Widget>
    </Drawer>
  )
}

function EventDetail({ event }: { readonly event: Entry }) {
  const { changes } = event
  const textOf = useValueText()
  const fieldName = useFieldName()
  const json = JSON.stringify(event, null, 2)
  return (
    <div className="flex flex-col gap-4">
      <p>
        <Actor actor={event.actor} /> · <Time at={event.at} />
        {event.address !== null && ` · ${event.address}`}
        {' · '}
        <code className="font-mono text-code text-text-2">{event.action}</code>
      </p>
      {changes !== null && (
        <table className="w-full table-fixed text-cell">
          <thead>
            <tr className="border-b border-border text-left text-label text-text-2">
              <th scope="col">
                <Trans>What</Trans>
              </th>
              <th scope="col">
                <Trans>Before</Trans>
              </th>
              <th scope="col">
                <Trans>After</Trans>
              </th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(changes).map(([name, value]) => (
              <tr key={name} className="border-b border-border align-top">
                <td className="py-1.5 pr-2 font-medium break-words" title={name}>
                  {fieldName(name)}
                </td>
                <td className="py-1.5 pr-2 font-mono text-code break-words text-danger">
                  {textOf(name, value.before)}
                </td>
                <td className="py-1.5 font-mono text-code break-words text-success">
                  {textOf(name, value.after)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <div className="relative">
        <span className="absolute top-2 right-2">
          <Copy text={json} />
        </span>
        <pre
          tabIndex={0}
          className="overflow-x-auto rounded-card bg-sunken p-3 font-mono text-code"
        >
          {json}
        </pre>
      </div>
    </div>
  )
}

/** The text of a field's value; amounts in the currency. */
function useValueText(): (name: string, value: unknown) => string {
  const { i18n } = useLingui()
  const currency = useBalance().data?.currency
  return (name, value) => {
    if (value === undefined) return ''
    if (typeof value !== 'string') return JSON.stringify(value)
    const isAmount = name.endsWith('Nano') && currency !== undefined
    return isAmount ? exactMoney(value, currency, i18n.locale) : value
  }
}
