// The columns of the list of models, and how prices and measured figures are shown.

import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Shape } from '../../api/client.ts'
import type { Column } from '../../ui/table.tsx'
import { Badge, Copy, Count, Duration, Money, None } from '../../ui/values.tsx'

export type Model = Shape<'Model'>

/** Below so many requests a figure says more of chance than of the model. */
const leastSample = 30

export const columns: readonly Column<Model>[] = [
  {
    id: 'name',
    header: <Trans>Model</Trans>,
    cell: ({ id }) => (
      <span className="inline-flex items-center gap-1 font-medium">
        {id}
        <Copy text={id} />
      </span>
    ),
  },
  { id: 'vendor', header: <Trans>Vendor</Trans>, cell: ({ vendor }) => vendor },
  { id: 'kind', header: <Trans>Kind</Trans>, cell: ({ kind }) => <Badge>{kind}</Badge> },
  {
    id: 'context',
    header: <Trans>Context</Trans>,
    align: 'right',
    cell: ({ context }) => (context === null ? <None /> : <Count value={context} />),
  },
  {
    id: 'price',
    header: <Trans>Input</Trans>,
    align: 'right',
    cell: (model) => <Price model={model} kind="input" />,
  },
  {
    id: 'cached',
    header: <Trans>Cached</Trans>,
    align: 'right',
    optional: true,
    cell: (model) => <Price model={model} kind="cachedInput" />,
  },
  {
    id: 'output',
    header: <Trans>Output</Trans>,
    align: 'right',
    cell: (model) => <Price model={model} kind="output" />,
  },
  {
    id: 'latency',
    header: <Trans>First token</Trans>,
    align: 'right',
    cell: ({ live }) => (
      <Measured sample={live?.ttft?.sample ?? 0}>
        <Duration ms={live?.ttft?.p50Ms ?? null} />
      </Measured>
    ),
  },
  {
    id: 'throughput',
    header: <Trans>Tokens/s</Trans>,
    align: 'right',
    cell: ({ live }) => (
      <Measured sample={live?.speed?.sample ?? 0}>
        {live?.speed?.tokensPerSecond.toFixed(0)}
      </Measured>
    ),
  },
  {
    id: 'success',
    header: <Trans>Success, 24 h</Trans>,
    align: 'right',
    cell: ({ live }) => (
      <Measured sample={live?.success?.sample ?? 0}>
        {live?.success?.percent.toFixed(1)}&nbsp;%
      </Measured>
    ),
  },
]

interface MeasuredProps {
  readonly sample: number
  readonly children: ReactNode
}

/** Measured here, and only where enough was: no figure is invented. */
export function Measured({ sample, children }: MeasuredProps) {
  if (sample < leastSample)
    return (
      <span className="text-text-3">
        <Trans>too little traffic, n = {sample}</Trans>
      </span>
    )
  return <span>{children}</span>
}

/** Of the first tier, for a million; struck through before it what the vendor publishes, where that is more. */
export function Price({ model, kind }: { readonly model: Model; readonly kind: string }) {
  const line = model.price.lines.find(({ name }) => name === kind)
  if (line === undefined) return <None />
  return <LinePrice line={line} currency={model.currency} />
}

interface LinePriceProps {
  readonly line: Model['price']['lines'][number]
  readonly currency: string
}

export function LinePrice({ line, currency }: LinePriceProps) {
  const { priceNano, officialNano } = line
  const isCheaper = officialNano !== null && BigInt(officialNano) > BigInt(priceNano)
  return (
    <span className="inline-flex gap-1.5">
      {isCheaper && (
        <s className="text-text-3">
          <Money nano={officialNano} currency={currency} />
        </s>
      )}
      <Money nano={priceNano} currency={currency} />
    </span>
  )
}
