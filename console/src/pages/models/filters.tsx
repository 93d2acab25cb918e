// The filters and sorting of models; each is in the address under the API's name.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { read, readAll } from '../../api/client.ts'
import { useMe } from '../../api/queries.ts'
import { shortCount } from '../../format.ts'
import { Button } from '../../ui/button.tsx'
import { ChoiceFilter } from '../../ui/choice-filter.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useIsPhone } from '../../ui/media.ts'
import { useKindName } from '../../ui/model-kind.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { vendorName } from '../../ui/vendor-name.ts'
import { abilityNames, useAbilityText } from './abilities.tsx'
import { filtersOf, type ModelsSearch, validateModelsSearch, withoutFilters } from './search.ts'

interface FiltersProps {
  readonly search: ModelsSearch
  readonly onChange: (next: Partial<ModelsSearch>, replace?: boolean) => void
}

export function Filters({ search, onChange }: FiltersProps) {
  const { t } = useLingui()
  return (
    <div data-filter className="flex flex-wrap items-center gap-2">
      <div className="w-48 max-md:w-full">
        <SearchInput
          label={t`Search models`}
          value={search.search}
          onChange={(text) => onChange({ search: text }, true)}
        />
      </div>
      <Folded count={Object.keys(filtersOf({ ...search, search: undefined })).length}>
        <Choices search={search} onChange={onChange} />
        <Order search={search} onChange={onChange} />
      </Folded>
    </div>
  )
}

/** On a phone they would fill the screen. */
function Folded({ count, children }: { readonly count: number; readonly children: ReactNode }) {
  const isPhone = useIsPhone()
  if (!isPhone) return children
  return (
    <details className="w-full">
      <summary className="flex min-h-11 cursor-pointer items-center gap-2 font-medium">
        <Icon name="filter" />
        {count === 0 ? <Trans>Filters and order</Trans> : <Trans>Filters and order: {count}</Trans>}
      </summary>
      <div className="flex max-h-[60dvh] flex-wrap items-center gap-2 overflow-y-auto py-2">
        {children}
      </div>
    </details>
  )
}

const contexts = [32_000, 128_000, 200_000, 1_000_000] as const

function Choices({ search, onChange }: FiltersProps) {
  const { t, i18n } = useLingui()
  const abilities = useAbilityText()
  const kindName = useKindName()
  const { data } = useQuery({
    ...read('/api/model-choices', {
      params: { query: search.group === undefined ? {} : { group: search.group } },
    }),
    staleTime: 60_000,
  })
  /** One value at a time: the last one that was ticked. */
  const one = (name: keyof ModelsSearch) => ({
    chosen: search[name] === undefined ? [] : [String(search[name])],
    onChange: (chosen: readonly string[] | undefined) =>
      onChange({ [name]: undefined, ...validateModelsSearch({ [name]: chosen?.at(-1) }) }),
  })
  const plain = (values: readonly string[] | undefined) =>
    (values ?? []).map((value) => ({ value }))
  const modalities = [
    { value: 'text', label: t`Text` },
    { value: 'image', label: t`Image` },
    { value: 'audio', label: t`Audio` },
    { value: 'video', label: t`Video` },
  ]
  return (
    <>
      <ChoiceFilter
        label={t`Vendor`}
        options={(data?.vendors ?? []).map((value) => ({ value, label: vendorName(value) }))}
        {...one('vendor')}
      />
      <ChoiceFilter
        label={t`Kind`}
        options={(data?.kinds ?? []).map((value) => ({ value, label: kindName(value) }))}
        {...one('kind')}
      />
      <ChoiceFilter
        label={t`Can`}
        options={abilityNames.map((value) => ({ value, label: abilities[value] }))}
        chosen={abilityNames.filter((name) => search[name])}
        onChange={(chosen = []) =>
          onChange(
            Object.fromEntries(
              abilityNames.map((name) => [name, chosen.includes(name) ? true : undefined]),
            ),
          )
        }
      />
      <ChoiceFilter label={t`Takes`} options={modalities} {...one('modality')} />
      <ChoiceFilter
        label={t`Context`}
        options={contexts.map((tokens) => {
          const size = shortCount(tokens, i18n.locale)
          return { value: String(tokens), label: t`at least ${size}` }
        })}
        {...one('context')}
      />
      <ChoiceFilter label={t`Endpoint`} options={plain(data?.endpoints)} {...one('endpoint')} />
      <Groups search={search} onChange={onChange} />
      {Object.keys(filtersOf(search)).length > 0 && (
        <Button variant="quiet" onClick={() => onChange(withoutFilters)}>
          <Trans>Clear filters</Trans>
        </Button>
      )}
    </>
  )
}

function Groups({ search, onChange }: FiltersProps) {
  const { t } = useLingui()
  const me = useMe()
  const groups = useQuery({
    ...readAll('/api/groups'),
    enabled: Boolean(me),
  })
  const items = groups.data?.items ?? []
  if (items.length < 2) return null
  return (
    <Field hideLabel label={t`Group`}>
      <Select
        className="max-w-56"
        value={search.group ?? ''}
        onChange={(event) => onChange({ group: event.target.value || undefined })}
      >
        <option value="">{t`My group`}</option>
        {items.map(({ id }) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </Select>
    </Field>
  )
}

function Order({ search, onChange }: FiltersProps) {
  const { t } = useLingui()
  return (
    <div className="ml-auto w-36 max-md:ml-0 max-md:w-full">
      <Field hideLabel label={t`Sort by`}>
        <Select
          value={search.sort ?? 'name'}
          onChange={(event) => onChange({ sort: event.target.value as ModelsSearch['sort'] })}
        >
          <option value="name">{t`By name`}</option>
          <option value="price">{t`Cheapest input first`}</option>
          <option value="outputPrice">{t`Cheapest output first`}</option>
          <option value="newest">{t`Newest first`}</option>
          <option value="latency">{t`Quickest first token`}</option>
          <option value="throughput">{t`Most tokens per second`}</option>
        </Select>
      </Field>
    </div>
  )
}
