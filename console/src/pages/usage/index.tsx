// Usage: one figure over time by up to two dimensions, what it is made of, and what it would have cost otherwise.

import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { Catalog } from '../../i18n.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { useAsked, useChange } from './asked.ts'
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
  const breakdown = useBreakdown(asked)
  const [highlighted, setHighlighted] = useState<string>()
  const pointed = { highlighted, onHighlight: setHighlighted }
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
      <ChartCard asked={asked} {...pointed} />
      <TableCard asked={asked} query={breakdown} {...pointed} />
      <TokensCard query={breakdown} />
      {asked.search.whatif === true && <WhatIf asked={asked} />}
    </Page>
  )
}
