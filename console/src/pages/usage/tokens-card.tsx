// The kinds of tokens used: one bar, and a row for each kind.

import { Trans, useLingui } from '@lingui/react/macro'
import { colourOf, type SeriesColour } from '../../charts/series.ts'
import { Swatch } from '../../charts/tooltip.tsx'
import { Card } from '../../ui/page.tsx'
import { Widget } from '../../ui/state.tsx'
import { Count, Percent } from '../../ui/values.tsx'
import type { useBreakdown } from './data.ts'
import { tokenWords } from './words.ts'

export function TokensCard({ query }: { readonly query: ReturnType<typeof useBreakdown> }) {
  return (
    <Card title={<Trans>Tokens by kind</Trans>}>
      <Widget query={query}>{({ totals }) => <Kinds tokens={totals.tokens} />}</Widget>
    </Card>
  )
}

const colours: readonly SeriesColour[] = [1, 2, 3, 4, 5, 6]

function Kinds({ tokens }: { readonly tokens: Readonly<Record<string, number>> }) {
  const { t } = useLingui()
  const all = Object.values(tokens).reduce((sum, count) => sum + count, 0)
  const kinds = (Object.keys(tokenWords) as (keyof typeof tokenWords)[])
    .map((kind) => ({ kind, count: tokens[kind] ?? 0, name: t(tokenWords[kind]) }))
    .filter(({ count }) => count > 0)
    .map((kind, index) => ({ ...kind, colour: colours[index] ?? ('other' as const) }))
  if (all === 0)
    return (
      <p className="text-text-2">
        <Trans>No tokens in this range.</Trans>
      </p>
    )
  return (
    <>
      <div
        aria-hidden="true"
        className="flex h-3 gap-px overflow-hidden rounded-[3px] forced-color-adjust-none"
      >
        {kinds.map(({ kind, count, colour }) => (
          <span
            key={kind}
            style={{ flexGrow: count / all, backgroundColor: colourOf(colour), minWidth: 2 }}
          />
        ))}
      </div>
      <ul className="mt-3 flex flex-wrap gap-x-8 gap-y-2">
        {kinds.map(({ kind, count, colour, name }) => (
          <li key={kind} className="flex items-center gap-2 text-cell">
            <Swatch colour={colour} />
            <span className="text-text-2">{name}</span>
            <span className="font-medium">
              <Count value={count} />
            </span>
            <span className="text-text-3">
              <Percent ratio={count / all} />
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}
