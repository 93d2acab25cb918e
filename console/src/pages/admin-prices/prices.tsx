// How a card's prices and the differences between two cards are written, and the names that prices have.

import { Trans, useLingui } from '@lingui/react/macro'
import type { Shape } from '../../api/client.ts'
import { Badge, None, Time } from '../../ui/values.tsx'

export type Prices = Readonly<Record<string, string>>
type Difference = Shape<'PriceDifference'>

/** The price names of docs/pricing.md; tiers (`input>200000`) and sizes (`image/1024x1024/hd`) are typed. */
export const priceNames = [
  'input',
  'cachedInput',
  'cacheWrite',
  'cacheWrite1h',
  'output',
  'reasoning',
  'audioInput',
  'audioOutput',
  'imageInput',
  'imageOutput',
  'cachedAudio',
  'cachedImage',
  'request',
  'search',
  'webSearch',
  'image',
  'second',
  'character',
] as const

/** The whole card on one line: `input 0.15 · output 0.60`. */
export function PriceLine({ prices }: { readonly prices: Prices }) {
  const entries = Object.entries(prices)
  if (entries.length === 0) return <Trans>withdrawn</Trans>
  const text = entries.map(([name, price]) => `${name} ${price}`).join(' · ')
  return (
    <span className="tabular block max-w-[min(56ch,60vw)] truncate" title={text}>
      {text}
    </span>
  )
}

export function Differences({ of }: { readonly of: readonly Difference[] }) {
  if (of.length === 0) return <Trans>nothing</Trans>
  return (
    <ul className="flex flex-col gap-0.5">
      {of.map(({ name, before, after, percent, large }) => (
        <li key={name} className="tabular flex flex-wrap items-baseline gap-x-2">
          <span className="text-text-2">{name}</span>
          <span>
            {before ?? <None />} → {after ?? <None />}
          </span>
          {percent !== null && <span className="text-text-2">{percent} %</span>}
          {large && (
            <Badge tone="warning">
              <Trans>more than tenfold</Trans>
            </Badge>
          )}
        </li>
      ))}
    </ul>
  )
}

export function Origin({ origin }: { readonly origin: Shape<'ListedPriceCard'>['origin'] }) {
  const { t } = useLingui()
  const words = {
    file: t`configuration file`,
    shipped: t`shipped`,
    set: t`set here`,
    import: t`imported`,
  }
  return words[origin]
}

/** The start of a card; a shipped card applies to all times. */
export function Begins({
  at,
  relative = false,
}: {
  readonly at: string
  readonly relative?: boolean
}) {
  if (Date.parse(at) === 0) return <Trans>from the start</Trans>
  return <Time at={at} relative={relative} />
}
