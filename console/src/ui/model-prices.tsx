// How prices of models are shown: the unit, the group, and the vendor's published price beside it.

import { Trans, useLingui } from '@lingui/react/macro'
import type { Shape } from '../api/client.ts'
import { exactMoney, shortCount, shortMoney } from '../format.ts'
import { sizeOf } from './price-size.ts'
import { Badge, None } from './values.tsx'

type Model = Shape<'Model'>

export type PriceLine = Model['price']['lines'][number]

/** The unit after a price: `/ image`, `/ 1 M characters`. */
export function useUnitText(): (unit: string, size: 1 | 1_000_000) => string {
  const { t } = useLingui()
  return (unit, size) => {
    const isOne = size === 1
    switch (unit) {
      case 'token':
        return t`/ 1 M tokens`
      case 'image':
        return isOne ? t`/ image` : t`/ 1 M images`
      case 'second':
        return isOne ? t`/ second` : t`/ 1 M seconds`
      case 'request':
        return isOne ? t`/ request` : t`/ 1 M requests`
      case 'search':
      case 'webSearch':
        return isOne ? t`/ search` : t`/ 1 M searches`
      case 'toolImageInput':
      case 'toolImageOutput':
        return t`/ 1 M tokens`
      case 'character':
        return t`/ 1 M characters`
      default:
        return t`/ 1 M`
    }
  }
}

/** The name of a price in words: its kind, then what narrows it down. */
export function useLineName(): (name: string) => string {
  const { t } = useLingui()
  const names: Readonly<Record<string, string>> = {
    input: t`Input`,
    cachedInput: t`Cached input`,
    cacheWrite: t`Cache write (5 min)`,
    cacheWrite1h: t`Cache write (1 h)`,
    output: t`Output`,
    reasoning: t`Reasoning`,
    audioInput: t`Audio input`,
    audioOutput: t`Audio output`,
    imageInput: t`Image input`,
    imageOutput: t`Image output`,
    request: t`Request`,
    search: t`Search`,
    webSearch: t`Web search`,
    toolImageInput: t`Input for pictures by a tool`,
    toolImageOutput: t`Pictures by a tool`,
    image: t`Image`,
    second: t`Second`,
    character: t`Character`,
    cachedAudio: t`Cached audio`,
    cachedImage: t`Cached image`,
  }
  return (name) => {
    const [kind = '', ...narrowed] = (name.split('>')[0] ?? '').split('/')
    return [names[kind] ?? kind, ...narrowed].join(' ')
  }
}

/** As all amounts of the line are shown. */
export function sizeOfLine({ unit, priceNano, baseNano, officialNano }: PriceLine): 1 | 1_000_000 {
  return sizeOf(unit, priceNano, baseNano, officialNano)
}

interface LinePriceProps {
  readonly line: PriceLine
  readonly model: Model
}

/** The group's price; before it, struck through, the vendor's published price if that is higher. */
export function LinePrice({ line, model }: LinePriceProps) {
  const { t, i18n } = useLingui()
  const unitText = useUnitText()
  const { currency, price } = model
  const size = sizeOfLine(line)
  const unit = unitText(line.unit, size)
  const of = (nano: string) => (BigInt(nano) * BigInt(size)) / 1_000_000n
  const exact = (nano: string) => exactMoney(of(nano), currency, i18n.locale)
  const short = (nano: string) => shortMoney(of(nano), currency, i18n.locale)
  const { priceNano, baseNano, officialNano } = line
  const official = officialNano === null ? null : exact(officialNano)
  const [paid, base, multiplier] = [exact(priceNano), exact(baseNano), price.multiplier]
  const made = t`${paid} ${unit}: ${base} × ${multiplier}, in ${currency}.`
  const published =
    official === null
      ? t`The vendor’s list price is not known.`
      : t`The vendor’s list price: ${official}.`
  const isCheaper = officialNano !== null && BigInt(officialNano) > BigInt(priceNano)
  return (
    <span className="tabular inline-flex gap-1.5 whitespace-nowrap" title={`${made} ${published}`}>
      {isCheaper && (
        <s className="text-text-3">
          <span className="sr-only">
            <Trans>List price</Trans>{' '}
          </span>
          {short(officialNano)}
        </s>
      )}
      {short(priceNano)}
    </span>
  )
}

interface PriceProps {
  readonly model: Model
  readonly kind: string
}

/** The price of a kind of token, for a million; says if longer prompts have another price. */
export function Price({ model, kind }: PriceProps) {
  const { lines } = model.price
  const line = lines.find(({ name }) => name === kind)
  if (line === undefined) return <None />
  const tiers = lines.filter(({ name }) => name.startsWith(`${kind}>`))
  return (
    <span className="inline-flex items-center gap-1.5">
      {tiers.length > 0 && <Tiers tiers={tiers} model={model} />}
      <LinePrice line={line} model={model} />
    </span>
  )
}

function Tiers({ tiers, model }: { readonly tiers: readonly PriceLine[]; readonly model: Model }) {
  const { t, i18n } = useLingui()
  const texts = tiers.map(({ above, priceNano }) => {
    const tokens = shortCount(above, i18n.locale)
    const amount = shortMoney(priceNano, model.currency, i18n.locale)
    return t`prompts above ${tokens} tokens: ${amount}`
  })
  return (
    <span title={texts.join('; ')}>
      <Badge>
        <Trans>by length</Trans>
      </Badge>
    </span>
  )
}

/** The price of input: of tokens, or if these have no price, of its unit, the cheapest first. */
export function FirstPrice({ model }: { readonly model: Model }) {
  const unitText = useUnitText()
  const { lines } = model.price
  if (lines.some(({ name }) => name === 'input')) return <Price model={model} kind="input" />
  const [first, ...others] = lines.toSorted((one, other) =>
    BigInt(one.priceNano) < BigInt(other.priceNano) ? -1 : 1,
  )
  if (first === undefined) return <None />
  const isRange = others.some(
    ({ unit, priceNano }) => unit === first.unit && priceNano !== first.priceNano,
  )
  return (
    <span className="inline-flex items-baseline gap-1">
      {isRange && (
        <span className="text-text-2">
          <Trans>from</Trans>
        </span>
      )}
      <LinePrice line={first} model={model} />
      <span className="text-text-2">{unitText(first.unit, sizeOfLine(first))}</span>
    </span>
  )
}
