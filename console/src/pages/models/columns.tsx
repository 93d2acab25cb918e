// The columns of the list of models.

import { Trans } from '@lingui/react/macro'
import { KindName } from '../../ui/model-kind.tsx'
import { FirstPrice, Price } from '../../ui/model-prices.tsx'
import type { Column } from '../../ui/table.tsx'
import { Copy, Count, None, Time } from '../../ui/values.tsx'
import { vendorName } from '../../ui/vendor-name.ts'
import { Abilities, abilitiesOf } from './abilities.tsx'
import { FirstToken, Speed, Success } from './measured.tsx'
import type { Model } from './queries.ts'

export const columns: readonly Column<Model>[] = [
  {
    id: 'name',
    isName: true,
    isLong: true,
    header: <Trans>Model</Trans>,
    cell: ({ id }) => (
      <span className="flex items-center gap-1 font-medium">
        <span className="min-w-0 truncate" title={id}>
          {id}
        </span>
        <Copy text={id} />
      </span>
    ),
  },
  { id: 'vendor', header: <Trans>Vendor</Trans>, cell: ({ vendor }) => vendorName(vendor) },
  { id: 'kind', header: <Trans>Kind</Trans>, cell: ({ kind }) => <KindName kind={kind} /> },
  {
    id: 'abilities',
    header: <Trans>Can</Trans>,
    optional: true,
    cell: (model) => (abilitiesOf(model).length === 0 ? <None /> : <Abilities model={model} />),
  },
  {
    id: 'context',
    from: 1024,
    header: <Trans>Context</Trans>,
    align: 'right',
    cell: ({ context }) => (context === null ? <None /> : <Count pad={false} value={context} />),
  },
  {
    id: 'price',
    header: <Trans>Input</Trans>,
    align: 'right',
    cell: (model) => <FirstPrice model={model} />,
  },
  {
    id: 'cachedInput',
    header: <Trans>Cached input</Trans>,
    align: 'right',
    optional: true,
    cell: (model) => <Price model={model} kind="cachedInput" />,
  },
  {
    id: 'cacheWrite',
    header: <Trans>Cache write (5 min)</Trans>,
    align: 'right',
    optional: true,
    cell: (model) => <Price model={model} kind="cacheWrite" />,
  },
  {
    id: 'outputPrice',
    header: <Trans>Output</Trans>,
    align: 'right',
    cell: (model) => <Price model={model} kind="output" />,
  },
  {
    id: 'audioInput',
    header: <Trans>Audio input</Trans>,
    align: 'right',
    optional: true,
    cell: (model) => <Price model={model} kind="audioInput" />,
  },
  {
    id: 'audioOutput',
    header: <Trans>Audio output</Trans>,
    align: 'right',
    optional: true,
    cell: (model) => <Price model={model} kind="audioOutput" />,
  },
  {
    id: 'imageInput',
    header: <Trans>Image input</Trans>,
    align: 'right',
    optional: true,
    cell: (model) => <Price model={model} kind="imageInput" />,
  },
  {
    id: 'imageOutput',
    header: <Trans>Image output</Trans>,
    align: 'right',
    optional: true,
    cell: (model) => <Price model={model} kind="imageOutput" />,
  },
  {
    id: 'latency',
    from: 1024,
    header: <Trans>First token, p50 and p95</Trans>,
    align: 'right',
    cell: ({ live }) => <FirstToken live={live} />,
  },
  {
    id: 'throughput',
    header: <Trans>Tokens/s</Trans>,
    from: 1800,
    align: 'right',
    cell: ({ live }) => <Speed brief live={live} />,
  },
  {
    id: 'success',
    from: 1024,
    header: <Trans>Success, 24 h</Trans>,
    align: 'right',
    cell: ({ live }) => <Success live={live} />,
  },
  {
    id: 'updated',
    header: <Trans>Price updated</Trans>,
    align: 'right',
    optional: true,
    cell: ({ price }) => <Time relative at={price.updatedAt} />,
  },
  {
    id: 'newest',
    header: <Trans>Offered since</Trans>,
    align: 'right',
    optional: true,
    cell: ({ since }) => <Time relative at={since} />,
  },
]
