// Status: the success of the models in 90 days and the operator's incidents; public if it is turned on.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { read, type Shape } from '../../api/client.ts'
import type { Catalog } from '../../i18n.ts'
import { Segments } from '../../ui/field.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { Time } from '../../ui/values.tsx'
import { DayBars } from './day-bars.tsx'
import { DayTable } from './day-table.tsx'
import { Incidents } from './incidents.tsx'
import type { StatusSearch } from './search.ts'
import { StateWord } from './words.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

const route = getRouteApi('/shell/status')

export default function StatusPage() {
  const { t } = useLingui()
  const { search = '', view = 'bars' } = route.useSearch()
  const navigate = useNavigate()
  const change = (next: Partial<StatusSearch>) =>
    void navigate({ to: '.', replace: true, search: (before) => ({ ...before, ...next }) })
  const features = useQuery(read('/api/features'))
  return (
    <Page
      title={<Trans>Status</Trans>}
      purpose={<Trans>How the models have performed in the last 90 days, and incidents.</Trans>}
      filters={
        <div className="flex flex-wrap items-end gap-3" data-filter>
          <div className="w-64 max-w-full">
            <SearchInput
              label={t`Search models`}
              value={search}
              onChange={(text) => change({ search: text })}
            />
          </div>
          <Segments
            label={t`View`}
            value={view}
            options={[
              { value: 'bars', label: t`Bars` },
              { value: 'table', label: t`Table` },
            ]}
            onChange={(chosen) => change({ view: chosen === 'bars' ? undefined : chosen })}
          />
        </div>
      }
    >
      <Widget query={features} skeleton={<Skeleton rows={8} height={32} />}>
        {({ statusPage }) =>
          statusPage ? <Shown search={search.toLowerCase()} view={view} /> : <TurnedOff />
        }
      </Widget>
    </Page>
  )
}

function TurnedOff() {
  return (
    <Card>
      <Empty title={<Trans>This deployment has no status page.</Trans>}>
        <Trans>An operator may turn it on in the settings of the deployment.</Trans>
      </Empty>
    </Card>
  )
}

interface ShownProps {
  readonly search: string
  readonly view: 'bars' | 'table'
}

function Shown({ search, view }: ShownProps) {
  const status = useQuery({ ...read('/api/status'), refetchInterval: 60_000 })
  return (
    <Widget query={status} skeleton={<Skeleton rows={8} height={32} />}>
      {({ at, state, incidents, days, models }) => (
        <div className="flex flex-col gap-6">
          <Card>
            <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1">
              <p className="text-section">
                <Overall state={state} />
              </p>
              <p className="text-text-2">
                <Trans>
                  Updated <Time at={at} relative />
                </Trans>
              </p>
            </div>
          </Card>
          <Incidents incidents={incidents} />
          <a href="/api/status/feed.rss" className="self-start">
            <Trans>Subscribe to incidents (RSS)</Trans>
          </a>
          <Card title={<Trans>Models</Trans>}>
            <Models
              days={days}
              models={models.filter(({ model }) => model.toLowerCase().includes(search))}
              isSearched={search !== ''}
              view={view}
            />
          </Card>
        </div>
      )}
    </Widget>
  )
}

interface ModelsProps {
  readonly days: readonly string[]
  readonly models: readonly Shape<'ModelStatus'>[]
  readonly isSearched: boolean
  readonly view: 'bars' | 'table'
}

function Models({ days, models, isSearched, view }: ModelsProps) {
  if (models.length === 0) {
    const title = isSearched ? (
      <Trans>No model has this in its name.</Trans>
    ) : (
      <Trans>No model is open to everybody here.</Trans>
    )
    return <Empty title={title} />
  }
  if (view === 'table') return <DayTable days={days} models={models} />
  return (
    <ul className="flex flex-col divide-y divide-border">
      {models.map((each) => (
        <li key={each.model} className="flex flex-col gap-1.5 py-3 first:pt-0 last:pb-0">
          <div className="flex flex-wrap items-baseline justify-between gap-x-4">
            <h3 className="min-w-0 truncate font-medium">{each.model}</h3>
            <StateWord state={each.state} />
          </div>
          <DayBars days={days} model={each} />
        </li>
      ))}
    </ul>
  )
}

function Overall({ state }: { readonly state: Shape<'StatusPage'>['state'] }) {
  switch (state) {
    case 'operational':
      return <StateWord state={state} text={<Trans>All models answer.</Trans>} />
    case 'degraded':
      return <StateWord state={state} text={<Trans>Some requests to some models fail.</Trans>} />
    case 'down':
      return <StateWord state={state} text={<Trans>At least one model does not answer.</Trans>} />
    case 'unknown':
      return (
        <StateWord
          state={state}
          text={<Trans>Too few requests in the last minutes to tell.</Trans>}
        />
      )
  }
}
