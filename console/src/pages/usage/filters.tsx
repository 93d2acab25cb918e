// The metric, the grouping and the filters of usage, all of which are in the address.

import { useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/client.ts'
import { useKeyFinder } from '../../api/names.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { useAccount } from '../../app/account-scope.tsx'
import { Button } from '../../ui/button.tsx'
import { ChoiceFilter } from '../../ui/choice-filter.tsx'
import { Checkbox, Field, Segments, Select } from '../../ui/field.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { type Asked, useAsked, useChange } from './asked.ts'
import { type Dimension, dimensionNames, filterNames, intervals, type Metric } from './search.ts'
import { dimensionWords, intervalWords, useValueName } from './words.ts'

export function Filters({ asked }: { readonly asked: Asked }) {
  const { t } = useLingui()
  const change = useChange()
  const account = useAccount()
  const valueName = useValueName()
  const keyFinder = useKeyFinder()
  const { operator } = roleOf(useMe())
  const { data: choices } = useQuery({
    ...read('/api/statistics/choices', {
      params: { query: account === undefined ? {} : { account } },
    }),
    staleTime: 60_000,
  })
  const { search, range } = asked
  // The choices of tags do not include that there is none.
  const tags = choices === undefined || choices.tag.length === 0 ? [] : ['', ...choices.tag]
  const valuesOf = { ...choices, tag: tags }
  const names = filterNames.filter((name) => {
    if (name === 'tag') return tags.length > 0 || search.tag !== undefined
    return name !== 'channel' || operator
  })
  const none = Object.fromEntries(filterNames.map((name) => [name, undefined]))
  const isFiltered = filterNames.some((name) => search[name] !== undefined)
  return (
    <div data-filter className="flex flex-wrap items-center gap-2">
      <RangePicker range={range} onChange={(range) => change(range, { push: true })} />
      {names.map((name) => (
        <ChoiceFilter
          key={name}
          label={t(dimensionWords[name])}
          options={[...new Set([...(valuesOf[name] ?? []), ...(search[name] ?? [])])].map(
            (value) => ({
              value,
              label: valueName(name, value),
            }),
          )}
          chosen={search[name] ?? []}
          onChange={(chosen) => change({ [name]: chosen })}
          {...(name === 'key' && { finder: keyFinder })}
        />
      ))}
      {isFiltered && (
        <Button variant="quiet" onClick={() => change(none)}>
          {t`Clear filters`}
        </Button>
      )}
      <span className="ml-auto">
        <Checkbox
          label={t`Compare with the period before`}
          checked={search.compare === true}
          onChange={(event) => change({ compare: event.target.checked || undefined })}
        />
      </span>
    </div>
  )
}

type Family =
  | Exclude<Metric, 'ttftP50' | 'ttftP95' | 'latencyP50' | 'latencyP95'>
  | 'ttft'
  | 'latency'

/** The metrics of both percentiles are one choice, with the percentile beside it. */
export function MetricSwitch() {
  const { t } = useLingui()
  const { metric } = useAsked()
  const change = useChange()
  const percentile = metric.endsWith('P50') ? 'P50' : 'P95'
  const isTimed = metric.startsWith('ttft') || metric.startsWith('latency')
  const family = (isTimed ? metric.slice(0, -3) : metric) as Family
  const choose = (family: Family, percentile: 'P50' | 'P95') =>
    change({
      metric: family === 'ttft' || family === 'latency' ? `${family}${percentile}` : family,
    })
  return (
    <div className="flex max-w-full flex-wrap items-center gap-2">
      <Segments<Family>
        label={t`Metric`}
        value={family}
        options={[
          { value: 'spend', label: t`Spend` },
          { value: 'requests', label: t`Requests` },
          { value: 'tokens', label: t`Tokens` },
          { value: 'errors', label: t`Errors` },
          { value: 'errorRate', label: t`Error rate` },
          { value: 'ttft', label: t`First token` },
          { value: 'latency', label: t`Latency` },
          { value: 'throughput', label: t`Throughput` },
          { value: 'cacheRate', label: t`Cache rate` },
        ]}
        onChange={(family) => choose(family, percentile)}
      />
      {isTimed && (
        <Segments
          label={t`Percentile`}
          value={percentile}
          options={[
            { value: 'P50', label: 'p50' },
            { value: 'P95', label: 'p95' },
          ]}
          onChange={(percentile) => choose(family, percentile)}
        />
      )}
    </div>
  )
}

export function GroupSwitch() {
  const { t } = useLingui()
  const asked = useAsked()
  const change = useChange()
  const { operator } = roleOf(useMe())
  const [first = 'none', second = 'none'] = asked.by
  const allowed = dimensionNames.filter(
    (name) => operator || (name !== 'channel' && name !== 'account'),
  )
  const options = (names: readonly Dimension[]) =>
    names.map((name) => (
      <option key={name} value={name}>
        {t(dimensionWords[name])}
      </option>
    ))
  const given = (value: string) => allowed.find((name) => name === value)
  return (
    <div className="flex flex-wrap items-center gap-2 text-label text-text-2">
      <Field label={t`Interval`} hideLabel>
        <Select
          value={asked.search.interval ?? ''}
          onChange={({ target }) =>
            change({ interval: intervals.find((interval) => interval === target.value) })
          }
        >
          <option value="">{t`Automatic`}</option>
          {intervals.map((interval) => (
            <option key={interval} value={interval}>
              {t(intervalWords[interval])}
            </option>
          ))}
        </Select>
      </Field>
      <span className="flex items-center gap-2">
        <span aria-hidden="true" className="whitespace-nowrap">{t`Group by`}</span>
        <Field label={t`Group by`} hideLabel>
          <Select
            value={first}
            onChange={({ target }) => {
              const by = given(target.value)
              change({ by: by ?? 'none', by2: by === undefined ? undefined : asked.search.by2 })
            }}
          >
            {options(['none', ...allowed])}
          </Select>
        </Field>
      </span>
      {first !== 'none' && (
        <span className="flex items-center gap-2">
          <span aria-hidden="true">{t`and`}</span>
          <Field label={t`Group by as well`} hideLabel>
            <Select value={second} onChange={({ target }) => change({ by2: given(target.value) })}>
              {options(['none', ...allowed.filter((name) => name !== first)])}
            </Select>
          </Field>
        </span>
      )}
    </div>
  )
}
