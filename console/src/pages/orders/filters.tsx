// The filters of the list of orders.

import { useLingui } from '@lingui/react/macro'
import type { FormEvent } from 'react'
import { Checkbox, Field, Input, Select } from '../../ui/field.tsx'
import { useProviderName } from '../../ui/provider-name.tsx'
import { useAddressText } from '../../ui/search-input.tsx'
import type { OrdersSearch } from './search.ts'
import { useStateNames } from './words.tsx'

interface FiltersProps {
  readonly search: OrdersSearch
  readonly onChange: (next: Partial<OrdersSearch>) => void
}

const providers = ['alipay', 'wechatpay', 'stripe']

export function Filters({ search, onChange }: FiltersProps) {
  const { t } = useLingui()
  const names = useStateNames()
  const nameOf = useProviderName()
  return (
    <div data-filter className="flex flex-wrap items-center gap-4">
      <ByNumber search={search} onChange={onChange} />
      <Choice
        label={t`State`}
        any={t`Any state`}
        value={search.state}
        choices={Object.entries(names)}
        onChange={(state) => onChange({ state: state as OrdersSearch['state'] })}
      />
      <Choice
        label={t`Provider`}
        any={t`Any provider`}
        value={search.provider}
        choices={providers.map((each) => [each, nameOf(each)])}
        onChange={(provider) => onChange({ provider: provider as OrdersSearch['provider'] })}
      />
      <Checkbox
        label={t`Unusual payments only`}
        checked={search.flagged === true}
        onChange={({ target: { checked } }) => onChange({ flagged: checked || undefined })}
      />
      <Checkbox
        label={t`Waiting for more than two minutes`}
        checked={search.stuck === true}
        onChange={({ target: { checked } }) => onChange({ stuck: checked || undefined })}
      />
    </div>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly any: string
  readonly value: string | undefined
  readonly choices: readonly (readonly [value: string, name: string])[]
  readonly onChange: (value: string | undefined) => void
}

function Choice({ label, any, value = '', choices, onChange }: ChoiceProps) {
  return (
    <Field hideLabel label={label}>
      <Select value={value} onChange={({ target }) => onChange(target.value || undefined)}>
        <option value="">{any}</option>
        {choices.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </Select>
    </Field>
  )
}

/** The search starts when the number is complete, since a part of one finds nothing. */
function ByNumber({ search, onChange }: FiltersProps) {
  const { t } = useLingui()
  const { number = '' } = search
  const input = useAddressText(number)
  const apply = () => {
    const wanted = input.current?.value.trim() || undefined
    if (wanted !== search.number) onChange({ number: wanted })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    apply()
  }
  return (
    <form onSubmit={submit}>
      <Field hideLabel label={t`Order or trade number`}>
        <Input
          ref={input}
          type="search"
          placeholder={t`Number, then Enter`}
          defaultValue={number}
          onBlur={apply}
          onChange={({ target }) => {
            if (target.value === '') apply()
          }}
        />
      </Field>
    </form>
  )
}
