// The first page: the balance and how long it lasts, the figures of the period, the last requests.

import { Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { read } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import type { Catalog } from '../../i18n.ts'
import { Segments } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { Widget } from '../../ui/state.tsx'
import { type Asked, useAsked } from './asked.ts'
import { BalanceBlank, BalanceCard } from './balance-card.tsx'
import { Figures, FiguresBlank } from './figures.tsx'
import { FirstRun } from './first-run.tsx'
import { KeysCard } from './keys-card.tsx'
import { Notices } from './notices.tsx'
import { RequestsCard } from './requests-card.tsx'
import { SpendCard } from './spend-card.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

export default function OverviewPage() {
  const asked = useAsked()
  const { timeZone } = asked.span
  const overview = useQuery({
    ...read('/api/overview', { params: { query: { timeZone, ...asked.whose } } }),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  })
  const requests = useQuery({
    ...read('/api/requests', { params: { query: { limit: 10, ...asked.whose } } }),
    refetchInterval: 30_000,
  })
  const { operator } = roleOf(useMe())
  // All accounts together have none.
  const hasBalance =
    overview.data === undefined
      ? !operator || asked.whose.account !== undefined
      : overview.data.balance !== null
  const isNew = requests.data?.items.length === 0
  return (
    <Page
      title={<Trans>Overview</Trans>}
      actions={isNew ? undefined : <PeriodSwitch asked={asked} />}
    >
      <Notices />
      {hasBalance && (
        <Widget query={overview} skeleton={<BalanceBlank />}>
          {(overview) => <BalanceCard overview={overview} />}
        </Widget>
      )}
      {isNew ? (
        <FirstRun />
      ) : (
        <>
          <Widget query={overview} skeleton={<FiguresBlank />}>
            {(overview) => <Figures asked={asked} overview={overview} />}
          </Widget>
          <SpendCard asked={asked} />
          <div className="grid gap-6 xl:grid-cols-[1fr_320px]">
            <RequestsCard query={requests} currency={overview.data?.currency ?? ''} />
            <KeysCard asked={asked} />
          </div>
        </>
      )}
    </Page>
  )
}

function PeriodSwitch({ asked }: { readonly asked: Asked }) {
  const { t } = useLingui()
  const navigate = useNavigate({ from: '/' })
  return (
    <Segments
      label={t`Period`}
      value={asked.period}
      options={[
        { value: 'today', label: t`Today` },
        { value: 'days7', label: t`7 days` },
        { value: 'days30', label: t`30 days` },
      ]}
      onChange={(period) =>
        void navigate({ search: (search) => ({ ...search, period }), replace: true })
      }
    />
  )
}
