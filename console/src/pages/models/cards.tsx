// The models as cards, for browsing rather than comparing.

import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { KindName } from '../../ui/model-kind.tsx'
import { FirstPrice, Price } from '../../ui/model-prices.tsx'
import { Count, None } from '../../ui/values.tsx'
import { vendorName } from '../../ui/vendor-name.ts'
import { Abilities } from './abilities.tsx'
import { FirstToken, Speed, Success } from './measured.tsx'
import type { Model } from './queries.ts'

interface ModelCardsProps {
  readonly rows: readonly Model[]
  readonly openId: string | undefined
  readonly onOpen: (id: string) => void
}

export function ModelCards({ rows, openId, onOpen }: ModelCardsProps) {
  const { t } = useLingui()
  return (
    <ul aria-label={t`Models`} className="grid gap-3 p-4 md:grid-cols-2 xl:grid-cols-3">
      {rows.map((model) => (
        <li
          key={model.id}
          className={`relative flex min-w-0 flex-col gap-2 rounded-card border p-3 hover:bg-sunken ${model.id === openId ? 'border-accent bg-accent/8' : 'border-border'}`}
        >
          <span className="flex items-center justify-between gap-2">
            <button
              type="button"
              className="min-w-0 truncate text-left font-medium after:absolute after:inset-0"
              title={model.id}
              onClick={() => onOpen(model.id)}
            >
              {model.id}
            </button>
            <KindName kind={model.kind} />
          </span>
          <span className="text-label text-text-2">{vendorName(model.vendor)}</span>
          <Abilities model={model} />
          <ModelFacts model={model} />
        </li>
      ))}
    </ul>
  )
}

function ModelFacts({ model }: { readonly model: Model }) {
  const { context, live } = model
  return (
    <dl className="mt-auto grid grid-cols-2 gap-x-4 gap-y-1 border-t border-border pt-2 text-cell">
      <Fact name={<Trans>Input</Trans>}>
        <FirstPrice model={model} />
      </Fact>
      <Fact name={<Trans>Output</Trans>}>
        <Price model={model} kind="output" />
      </Fact>
      <Fact name={<Trans>Context</Trans>}>
        {context === null ? <None /> : <Count pad={false} value={context} />}
      </Fact>
      {live !== null && (
        <>
          <Fact name={<Trans>First token, p50 and p95</Trans>}>
            <FirstToken live={live} />
          </Fact>
          <Fact name={<Trans>Tokens/s</Trans>}>
            <Speed live={live} />
          </Fact>
          <Fact name={<Trans>Success, 24 h</Trans>}>
            <Success live={live} />
          </Fact>
        </>
      )}
    </dl>
  )
}

function Fact({ name, children }: { readonly name: ReactNode; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-label text-text-2">{name}</dt>
      <dd className="truncate">{children}</dd>
    </div>
  )
}
