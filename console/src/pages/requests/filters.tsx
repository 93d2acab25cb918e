// The filters of the list: each is in the address, under the API's name.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read } from '../../api/client.ts'
import { useKeyFinder, useKeyName } from '../../api/names.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import type { Range } from '../../app/range.ts'
import { Button } from '../../ui/button.tsx'
import { ChoiceFilter } from '../../ui/choice-filter.tsx'
import { later } from '../../ui/later.tsx'
import { useKindName } from '../../ui/model-kind.tsx'
import { Popover } from '../../ui/popover.tsx'
import { Printed } from '../../ui/printed.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { useCurrency } from './currency.ts'
import { type MoreDraft, moreWords, streamedWords } from './more-words.ts'
import { endedBy, endings, filtersOf, type RequestsSearch, withoutFilters } from './search.ts'

const MoreForm = later(() => import('./more-filters.tsx'), null)

interface FiltersProps {
  readonly search: RequestsSearch
  readonly range: Range
  readonly account: string | undefined
  readonly onChange: (next: Partial<RequestsSearch>) => void
}

export function Filters({ search, range, account, onChange }: FiltersProps) {
  const { t } = useLingui()
  const { operator } = roleOf(useMe())
  const query = account === undefined ? {} : { account }
  const { data } = useQuery({
    ...read('/api/statistics/choices', { params: { query } }),
    staleTime: 60_000,
  })
  const isFiltered = Object.keys(filtersOf(search)).length > 0
  const keyName = useKeyName()
  const keyFinder = useKeyFinder()
  const kindName = useKindName()
  const named = (values: readonly string[] | undefined, nameOf: (value: string) => string) =>
    (values ?? []).map((value) => ({ value, label: nameOf(value) }))
  // Totals of refused requests have no model and no channel, which is nothing that the list can be filtered by.
  const plain = (values: readonly string[] | undefined) =>
    (values ?? []).filter((value) => value !== '').map((value) => ({ value }))
  const tags = plain(data?.tag)
  // A chosen key that the choices do not include has a name too.
  const keys = [
    ...new Set([...(data?.key ?? []), ...(search.key === undefined ? [] : [search.key])]),
  ]
  const choices = [
    { name: 'model', label: t`Model`, options: plain(data?.model) },
    { name: 'key', label: t`Key`, options: named(keys, keyName), finder: keyFinder },
    { name: 'group', label: t`Group`, options: plain(data?.group) },
    { name: 'operation', label: t`Endpoint`, options: named(data?.operation, kindName) },
    { name: 'tag', label: t`Tag`, options: tags },
    { name: 'channel', label: t`Channel`, options: plain(data?.channel) },
  ] as const
  const isShown = (name: (typeof choices)[number]['name']) => {
    if (name === 'tag') return tags.length > 0 || search.tag !== undefined
    return name !== 'channel' || operator
  }
  return (
    <div data-filter className="flex flex-wrap items-center gap-2">
      <RangePicker range={range} onChange={onChange} />
      <StatusFilter search={search} onChange={onChange} />
      {choices
        .filter(({ name }) => isShown(name))
        .map(({ name, label, options, ...more }) => (
          <ChoiceFilter
            key={name}
            label={label}
            options={options}
            {...more}
            chosen={search[name] === undefined ? [] : [search[name]]}
            // One value at a time: the last one that was ticked.
            onChange={(chosen) => onChange({ [name]: chosen?.at(-1) })}
          />
        ))}
      <MoreFilters search={search} onChange={onChange} />
      {isFiltered && (
        <Button variant="quiet" onClick={() => onChange(withoutFilters)}>
          <Trans>Clear filters</Trans>
        </Button>
      )}
    </div>
  )
}

type OneFilterProps = Pick<FiltersProps, 'search' | 'onChange'>

function StatusFilter({ search, onChange }: OneFilterProps) {
  const { t } = useLingui()
  const names = {
    ok: t`Ok`,
    failed: t`All errors`,
    interrupted: t`Broke off`,
    '4xx': t`Refused (4xx)`,
    '5xx': t`Failed (5xx)`,
  }
  return (
    <ChoiceFilter
      label={t`Status`}
      options={endings.map((value) => ({ value, label: names[value] }))}
      chosen={[search.outcome, search.statusClass].filter((each) => each !== undefined)}
      onChange={(chosen) => onChange(endedBy(chosen?.at(-1)))}
    />
  )
}

/** As typed. */
function draftOf(search: RequestsSearch): MoreDraft {
  return {
    errorCode: search.errorCode ?? '',
    client: search.client ?? '',
    id: search.id ?? '',
    vendorRequestId: search.vendorRequestId ?? '',
    minCost: search.minCost ?? '',
    minLatencyMs: search.minLatencyMs === undefined ? '' : String(search.minLatencyMs),
    stream: search.stream ?? '',
  }
}

function MoreFilters({ search, onChange }: OneFilterProps) {
  const { t } = useLingui()
  const [isOpen, setOpen] = useState(false)
  const [draft, setDraft] = useState(() => draftOf(search))
  const currency = useCurrency()
  const count = Object.values(draftOf(search)).filter((value) => value !== '').length
  function open(isOpen: boolean) {
    if (isOpen) setDraft(draftOf(search))
    setOpen(isOpen)
  }
  function filter(next: Partial<RequestsSearch>) {
    setOpen(false)
    onChange(next)
  }
  return (
    <>
      <Popover
        label={t`More filters`}
        icon="filter"
        text={count > 0 ? t`More filters: ${count}` : undefined}
        open={isOpen}
        onOpenChange={open}
      >
        <MoreForm draft={draft} setDraft={setDraft} currency={currency} onChange={filter} />
      </Popover>
      <PrintedMore search={search} currency={currency} />
    </>
  )
}

interface PrintedMoreProps {
  readonly search: RequestsSearch
  readonly currency: string
}

function PrintedMore({ search, currency }: PrintedMoreProps) {
  const { t } = useLingui()
  const { stream, minCost, minLatencyMs } = search
  const values = {
    ...draftOf(search),
    ...(stream !== undefined && { stream: t(streamedWords[stream]) }),
    ...(minCost !== undefined && { minCost: `${minCost} ${currency}` }),
    ...(minLatencyMs !== undefined && { minLatencyMs: `${minLatencyMs} ms` }),
  }
  const names = Object.keys(moreWords) as (keyof MoreDraft)[]
  return names
    .filter((name) => values[name])
    .map((name) => (
      <Printed key={name} label={t(moreWords[name])}>
        {values[name]}
      </Printed>
    ))
}
