// The cost of a group: its multiplier, and the resulting prices of two models.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { read, readAll, type Shape } from '../../api/client.ts'
import { Failure } from '../../ui/state.tsx'
import { Money, None } from '../../ui/values.tsx'

export function GroupEffect({ group }: { readonly group: string }) {
  const { t } = useLingui()
  const models = useQuery(
    read('/api/models', { params: { query: { group, kind: 'chat', limit: 2 } } }),
  )
  const groups = useQuery(readAll('/api/groups'))
  const known = groups.data?.items.find(({ id }) => id === group)
  if (models.error !== null)
    return <Failure error={models.error} retry={() => void models.refetch()} />
  return (
    <div
      aria-live="polite"
      className="rounded-card border border-border bg-sunken px-3 py-2 text-cell"
    >
      {known !== undefined && <Effect multiplier={known.multiplier} models={known.models.length} />}
      {known !== undefined && Object.keys(known.modelMultipliers).length > 0 && (
        <p className="text-text-2">
          <Trans>
            Otherwise:{' '}
            {Object.entries(known.modelMultipliers)
              .map(([model, multiplier]) => `${model} × ${multiplier}`)
              .join(', ')}
          </Trans>
        </p>
      )}
      {models.data !== undefined && models.data.items.length > 0 && (
        <table aria-label={t`What two of its models cost`} className="mt-1 w-full">
          <thead>
            <tr className="text-label text-text-2">
              <th scope="col" className="text-left font-medium">
                <Trans>For a million tokens</Trans>
              </th>
              <th scope="col" className="text-right font-medium">
                <Trans>Input</Trans>
              </th>
              <th scope="col" className="text-right font-medium">
                <Trans>Output</Trans>
              </th>
            </tr>
          </thead>
          <tbody>
            {models.data.items.map((model) => (
              <tr key={model.id}>
                <td className="max-w-40 truncate">{model.id}</td>
                <Price model={model} name="input" />
                <Price model={model} name="output" />
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  )
}

function Effect({ multiplier, models }: { readonly multiplier: string; readonly models: number }) {
  const ratio = Number(multiplier)
  return (
    <p>
      {ratio === 1 ? (
        <Plural
          value={models}
          one="Prices as they are listed (× 1), # model."
          other="Prices as they are listed (× 1), # models."
        />
      ) : ratio < 1 ? (
        <Plural
          value={models}
          one={`Prices × ${multiplier}: below the list, # model.`}
          other={`Prices × ${multiplier}: below the list, # models.`}
        />
      ) : (
        <Plural
          value={models}
          one={`Prices × ${multiplier}: above the list, # model.`}
          other={`Prices × ${multiplier}: above the list, # models.`}
        />
      )}
    </p>
  )
}

interface PriceProps {
  readonly model: Shape<'Model'>
  readonly name: string
}

function Price({ model, name }: PriceProps) {
  const line = model.price.lines.find((each) => each.name === name)
  return (
    <td className="tabular text-right">
      {line === undefined ? (
        <None />
      ) : (
        <>
          {line.baseNano !== line.priceNano && (
            <s className="mr-1.5 text-text-3">
              <Money nano={line.baseNano} currency={model.currency} />
            </s>
          )}
          <Money nano={line.priceNano} currency={model.currency} />
        </>
      )}
    </td>
  )
}
