// How a card's prices and the differences between two cards are written, and the names that prices have.

import { Trans, useLingui } from '@lingui/react/macro'
import type { Shape } from '../../api/client.ts'
import { nanoOfUnits, shortCount, unitsOfNano } from '../../format.ts'
import { useLineName, useUnitText } from '../../ui/model-prices.tsx'
import { sizeOf } from '../../ui/price-size.ts'
import { Badge, None, Time } from '../../ui/values.tsx'
import { useCurrency } from '../requests/currency.ts'

export type Prices = Readonly<Record<string, string>>
type Difference = Shape<'PriceDifference'>

const tiered = [
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
] as const

/** Their prices may depend on the length of the prompt. */
export const tieredNames: ReadonlySet<string> = new Set(tiered)

/** The price names of docs/pricing.md, first those of tokens. */
export const tokenNames = [
  ...tiered,
  'cachedAudio',
  'cachedImage',
  'toolImageInput',
  'toolImageOutput',
] as const
export const unitNames = ['request', 'search', 'webSearch', 'image', 'second', 'character'] as const
const units: ReadonlySet<string> = new Set(unitNames)

/** A price of a card in words: its name, and its amount with its unit if that is not a million tokens. */
function usePriceText() {
  const { t, i18n } = useLingui()
  const lineName = useLineName()
  const unitText = useUnitText()
  return {
    nameOf(name: string): string {
      const [base = '', above] = name.split('>')
      const kind = lineName(base)
      if (above === undefined) return kind
      const tokens = shortCount(Number(above), i18n.locale)
      return t`${kind} above ${tokens} tokens`
    },
    amountOf(name: string, price: string): string {
      const unit = name.split('/')[0] ?? ''
      if (!units.has(unit)) return price
      const nano = nanoOfUnits(price)
      const size = sizeOf(unit, nano)
      const amount = unitsOfNano(String((BigInt(nano) * BigInt(size)) / 1_000_000n))
      return `${amount} ${unitText(unit, size)}`
    },
  }
}

export function PricesHeader() {
  const currency = useCurrency()
  return <Trans>In {currency} for a million tokens, or as it says</Trans>
}

/** The card on one line, or as `whole` on several: `Input 0.15 · Output 0.6 · Cached input 0.075`. */
export function PriceLine({
  prices,
  whole = false,
}: {
  readonly prices: Prices
  readonly whole?: boolean
}) {
  const { nameOf, amountOf } = usePriceText()
  // What every chat is charged for comes first: the line may be cut.
  const { input, output, ...others } = prices
  const first = Object.entries({ input, output }).filter(([, price]) => price !== undefined)
  const entries = [...first, ...Object.entries(others)] as readonly [string, string][]
  if (entries.length === 0) return <Trans>withdrawn</Trans>
  const text = entries
    .map(([name, price]) => `${nameOf(name)} ${amountOf(name, price)}`)
    .join(' · ')
  if (whole) return <span className="tabular block">{text}</span>
  return (
    <span className="tabular block max-w-[min(56ch,60vw)] truncate" title={text}>
      {text}
    </span>
  )
}

export function Differences({ of }: { readonly of: readonly Difference[] }) {
  const { nameOf, amountOf } = usePriceText()
  if (of.length === 0) return <Trans>nothing</Trans>
  return (
    <ul className="flex flex-col gap-0.5">
      {of.map(({ name, before, after, percent, large }) => (
        <li key={name} className="tabular flex flex-wrap items-baseline gap-x-2">
          <span className="text-text-2">{nameOf(name)}</span>
          <span>
            {before === null ? <None /> : amountOf(name, before)} →{' '}
            {after === null ? <None /> : amountOf(name, after)}
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
