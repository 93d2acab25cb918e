// Usage: one figure over time by up to two dimensions, its breakdown, and what it would have cost otherwise.

import { Trans, useLingui } from '@lingui/react/macro'
import { memo, useDeferredValue, useState } from 'react'
import type { Catalog } from '../../i18n.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { type Asked, useAsked, useChange } from './asked.ts'
import { ChartCard } from './chart-card.tsx'
import { useBreakdown } from './data.ts'
import { Filters } from './filters.tsx'
import { TableCard } from './table-card.tsx'
import { TokensCard } from './tokens-card.tsx'
import { WhatIf } from './what-if.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

export default function UsagePage() {
  const { t } = useLingui()
  const asked = useAsked()
  const change = useChange()
  // The pressed button shows at once; the figures follow.
  const shown = useDeferredValue(asked)
  return (
    <Page
      title={<Trans>Usage</Trans>}
      purpose={<Trans>What was used and what it cost, by model, key and more.</Trans>}
      actions={
        <Button icon="reconcile" onClick={() => change({ whatif: true }, { push: true })}>
          {t`What if`}
        </Button>
      }
      filters={<Filters asked={asked} />}
    >
      <Figures asked={shown} />
      {asked.search.whatif === true && <WhatIf asked={asked} />}
    </Page>
  )
}

const Figures = memo(PlainFigures)

function PlainFigures({ asked }: { readonly asked: Asked }) {
  const breakdown = useBreakdown(asked)
  const [highlighted, setHighlighted] = useState<string>()
  const pointed = { highlighted, onHighlight: setHighlighted }
  return (
    <>
      <ChartCard asked={asked} {...pointed} />
      <TableCard asked={asked} query={breakdown} {...pointed} />
      <TokensCard query={breakdown} />
    </>
  )
}
