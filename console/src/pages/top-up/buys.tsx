// What an amount buys, in tokens of a model that the reader chooses.

import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { readAll, type Shape } from '../../api/client.ts'
import { Field, Select } from '../../ui/field.tsx'
import { Blank, Blanks } from '../../ui/state.tsx'
import { Count } from '../../ui/values.tsx'

type Model = Shape<'Model'>

const route = getRouteApi('/shell/billing/top-up')

export function Buys({ nano }: { readonly nano: bigint }) {
  const { model: chosen } = route.useSearch()
  const navigate = useNavigate()
  const { data, isPending } = useQuery({
    ...readAll('/api/models', { kind: 'chat' }),
    staleTime: 60_000,
  })
  const models = data?.items.filter((model) => tokensFor(nano, model, 'input') !== null) ?? []
  const model = models.find(({ id }) => id === chosen) ?? models[0]
  if (isPending) return <BuysBlank />
  if (model === undefined) return null
  return (
    <div className="flex flex-col gap-2">
      <Field label={<Trans>Enough for about</Trans>}>
        <Select
          value={model.id}
          onChange={({ target: { value } }) =>
            void navigate({
              to: '.',
              replace: true,
              search: (before) => ({ ...before, model: value }),
            })
          }
        >
          {models.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </Select>
      </Field>
      <Tokens nano={nano} model={model} />
    </div>
  )
}

/** As high as what comes, so that the button below stays where it is. */
function BuysBlank() {
  return (
    <Blanks>
      <div className="flex flex-col gap-2">
        <Field label={<Trans>Enough for about</Trans>}>
          <Select disabled />
        </Field>
        <p>
          <Blank width={280} />
        </p>
      </div>
    </Blanks>
  )
}

function Tokens({ nano, model }: { readonly nano: bigint; readonly model: Model }) {
  const [input, output] = [tokensFor(nano, model, 'input'), tokensFor(nano, model, 'output')]
  if (input === null) return null
  return (
    <p className="text-text-2" aria-live="polite">
      {output === null ? (
        <Trans>
          <Count pad={false} value={input} /> input tokens, at today’s price
        </Trans>
      ) : (
        <Trans>
          <Count pad={false} value={input} /> input tokens or <Count pad={false} value={output} />{' '}
          output tokens, at today’s price
        </Trans>
      )}
    </p>
  )
}

/** Rounded down; null: it has no such price, or it is free. */
function tokensFor(nano: bigint, { price }: Model, kind: string): number | null {
  const line = price.lines.find(
    ({ name, unit, above }) => name === kind && unit === 'token' && above === 0,
  )
  const millionNano = BigInt(line?.priceNano ?? 0)
  return millionNano === 0n ? null : Number((nano * 1_000_000n) / millionNano)
}
