// The filters of the list: each is in the address, under the API's name.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { read } from '../../api/client.ts'
import { useKeyName } from '../../api/names.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import type { Range } from '../../app/range.ts'
import { amountProblem, countProblem, creditBounds } from '../../ui/bounds.ts'
import { Button } from '../../ui/button.tsx'
import { ChoiceFilter } from '../../ui/choice-filter.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { useKindName } from '../../ui/model-kind.tsx'
import { Popover } from '../../ui/popover.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { useCurrency } from './currency.ts'
import { filtersOf, type RequestsSearch, statusClasses, withoutFilters } from './search.ts'

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
  const statusNames = { '2xx': t`Ok`, '4xx': t`Refused (4xx)`, '5xx': t`Failed (5xx)` }
  const isFiltered = Object.keys(filtersOf(search)).length > 0
  const keyName = useKeyName()
  const kindName = useKindName()
  const named = (values: readonly string[] | undefined, nameOf: (value: string) => string) =>
    (values ?? []).map((value) => ({ value, label: nameOf(value) }))
  // Totals of refused requests have no model and no channel, which is nothing that the list can be filtered by.
  const plain = (values: readonly string[] | undefined) =>
    (values ?? []).filter((value) => value !== '').map((value) => ({ value }))
  const tags = plain(data?.tag)
  const choices = [
    {
      name: 'statusClass',
      label: t`Status`,
      options: statusClasses.map((value) => ({ value, label: statusNames[value] })),
    },
    { name: 'model', label: t`Model`, options: plain(data?.model) },
    { name: 'key', label: t`Key`, options: named(data?.key, keyName) },
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
      {choices
        .filter(({ name }) => isShown(name))
        .map(({ name, label, options }) => (
          <ChoiceFilter
            key={name}
            label={label}
            options={options}
            chosen={search[name] === undefined ? [] : [search[name]]}
            // One value at a time: the last one that was ticked.
            onChange={(chosen) => onChange({ [name]: chosen?.at(-1) })}
          />
        ))}
      <MoreFilters key={JSON.stringify(search)} search={search} onChange={onChange} />
      {isFiltered && (
        <Button variant="quiet" onClick={() => onChange(withoutFilters)}>
          <Trans>Clear filters</Trans>
        </Button>
      )}
    </div>
  )
}

/** At most a day, which is the API's maximum. */
const latencyBounds = { least: 0, most: 86_400_000, isOptional: true }

/** As typed. */
function draftOf(search: RequestsSearch) {
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

function MoreFilters({ search, onChange }: Pick<FiltersProps, 'search' | 'onChange'>) {
  const { t } = useLingui()
  const [draft, setDraft] = useState(() => draftOf(search))
  const [wrong, setWrong] = useState<{
    minCost?: string | undefined
    minLatencyMs?: string | undefined
  }>({})
  const field = (name: keyof typeof draft) => ({
    value: draft[name],
    autoComplete: 'off',
    onChange: (event: { target: { value: string } }) =>
      setDraft({ ...draft, [name]: event.target.value }),
  })
  const currency = useCurrency()
  const count = Object.values(draft).filter((value) => value !== '').length
  function submit(event: FormEvent) {
    event.preventDefault()
    const { minCost, minLatencyMs, ...texts } = draft
    const found = {
      minCost: amountProblem(minCost, { ...creditBounds, isOptional: true }),
      minLatencyMs: countProblem(minLatencyMs, latencyBounds),
    }
    setWrong(found)
    if (Object.values(found).some((problem) => problem !== undefined)) return
    const given = Object.entries(texts).map(([name, value]) => [name, value.trim() || undefined])
    onChange({
      ...Object.fromEntries(given),
      minCost: minCost.trim() || undefined,
      minLatencyMs: minLatencyMs.trim() === '' ? undefined : Number(minLatencyMs),
    })
  }
  return (
    <Popover
      label={t`More filters`}
      icon="filter"
      text={count > 0 ? t`More filters: ${count}` : undefined}
    >
      <form onSubmit={submit} className="flex w-72 flex-col gap-3 p-3">
        <Field label={t`Error code`}>
          <Input placeholder="insufficient_quota" {...field('errorCode')} />
        </Field>
        <Field label={t`Client`}>
          <Input placeholder="openai-python" {...field('client')} />
        </Field>
        <Field label={t`Request id`}>
          <Input placeholder="req_…" {...field('id')} />
        </Field>
        <Field label={t`Vendor’s request id`}>
          <Input {...field('vendorRequestId')} />
        </Field>
        <Field label={t`Cost at least`} error={wrong.minCost}>
          <Input inputMode="decimal" unit={currency} {...field('minCost')} />
        </Field>
        <Field label={t`Took at least`} error={wrong.minLatencyMs}>
          <Input inputMode="numeric" unit="ms" {...field('minLatencyMs')} />
        </Field>
        <Field label={t`Streaming`}>
          <Select {...field('stream')}>
            <option value="">{t`Either`}</option>
            <option value="true">{t`Streamed`}</option>
            <option value="false">{t`Not streamed`}</option>
          </Select>
        </Field>
        <Button type="submit" variant="primary">
          <Trans>Filter</Trans>
        </Button>
      </form>
    </Popover>
  )
}
