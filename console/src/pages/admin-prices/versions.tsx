// Every version of a model's prices, with buttons to restore it and the shipped prices.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { change, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { Actor } from '../../ui/actor.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Badge } from '../../ui/values.tsx'
import { Begins, Origin, PriceLine } from './prices.tsx'
import { refreshPrices } from './refresh.ts'

type Listed = Shape<'ListedPriceCard'>
type Chosen = { readonly version: number } | 'shipped'

interface VersionsProps {
  readonly model: string
  readonly cards: readonly Listed[]
}

export function Versions({ model, cards }: VersionsProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const { admin } = roleOf(useMe())
  const [chosen, choose] = useState<Chosen | null>(null)
  const current = cards.find(({ state }) => state === 'in force')
  const isOwn = current?.origin === 'set' || current?.origin === 'import'
  async function act() {
    if (chosen === 'shipped') await change('post', '/api/prices/withdraw', { body: { model } })
    else if (chosen !== null) {
      const body = { model, version: chosen.version }
      await change('post', '/api/prices/rollback', { body })
    }
    await refreshPrices(client)
  }
  // A cancellation is a version too, and repeated after each later change: only what it cancels is shown.
  const cancels = new Map(cards.map((card) => [card, cancelledBy(cards, card)?.version]))
  const cancelled = new Set(cancels.values())
  const shown = cards.filter((card) => card.state === 'in force' || cancels.get(card) === undefined)
  if (cards.length === 0) return null
  return (
    <section className="flex flex-col gap-2">
      <div className="flex flex-wrap items-baseline justify-between gap-2">
        <h3 className="text-section">
          <Trans>Versions</Trans>
        </h3>
        {admin && isOwn && (
          <Button variant="quiet" onClick={() => choose('shipped')}>
            <Trans>Withdraw: back to the shipped prices</Trans>
          </Button>
        )}
      </div>
      <ol className="flex flex-col divide-y divide-border">
        {shown.toReversed().map((card) => (
          <Version
            key={card.version}
            card={card}
            isCancelled={cancelled.has(card.version)}
            onBack={
              admin && card.state === 'replaced' && card.origin !== 'file'
                ? () => choose(card)
                : undefined
            }
          />
        ))}
      </ol>
      {chosen !== null && (
        <Confirm
          title={
            chosen === 'shipped' ? (
              <Trans>Go back to the shipped prices of {model}?</Trans>
            ) : (
              <Trans>Bring version {chosen.version} back?</Trans>
            )
          }
          action={chosen === 'shipped' ? t`Withdraw` : t`Bring back`}
          danger={false}
          onConfirm={act}
          onClose={() => choose(null)}
        >
          <p>
            <Trans>Requests that are under way keep the price they were admitted under.</Trans>
          </p>
        </Confirm>
      )}
    </section>
  )
}

/** The version that a card cancels: it has the prices from before that version, and the same start. */
function cancelledBy(cards: readonly Listed[], { source, from }: Listed): Listed | undefined {
  const version = Number(/^version (\d+) was cancelled$/.exec(source ?? '')?.[1])
  return cards.find((other) => other.version === version && other.from === from)
}

interface VersionProps {
  readonly card: Listed
  readonly isCancelled: boolean
  readonly onBack: (() => void) | undefined
}

function Version({ card, isCancelled, onBack }: VersionProps) {
  const { t } = useLingui()
  const states = {
    'in force': t`in force`,
    scheduled: t`scheduled`,
    replaced: t`replaced`,
  }
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-1 py-2">
      <span className="tabular font-medium">{card.version}</span>
      <Badge tone={card.state === 'in force' ? 'success' : 'neutral'}>
        {isCancelled ? t`cancelled` : states[card.state]}
      </Badge>
      <span className="min-w-0 flex-1 text-label font-normal text-text-2">
        <Origin origin={card.origin} />
        {card.actor !== null && (
          <>
            {' · '}
            <Actor actor={card.actor} />
          </>
        )}{' '}
        · <Begins at={card.from} />
      </span>
      {onBack !== undefined && (
        <Button variant="quiet" onClick={onBack}>
          <Trans>Bring back</Trans>
        </Button>
      )}
      <span className="w-full">
        <PriceLine whole prices={card.prices} />
      </span>
    </li>
  )
}
