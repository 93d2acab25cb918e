// Models and prices: the price of each model and its start, scheduled and missing prices, and published ones.

import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import type { Catalog } from '../../i18n.ts'
import { Segments } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { Book } from './book.tsx'
import { PriceDrawer } from './drawer.tsx'
import { Import } from './import.tsx'
import { Missing } from './missing.tsx'
import { Scheduled } from './scheduled.tsx'
import type { PricesSearch } from './search.ts'
import { Shipped } from './shipped.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

const route = getRouteApi('/shell/admin/prices')

export default function PricesPage() {
  const { t } = useLingui()
  const { view = 'book', search = '', open } = route.useSearch()
  const navigate = useNavigate()
  // Typing replaces the address, so that going back does not go through every letter.
  const change = (next: Partial<PricesSearch>, replace = false) =>
    void navigate({ to: '.', replace, search: (before) => ({ ...before, ...next }) })
  const show = (model: string) => change({ open: model })
  return (
    <Page
      title={<Trans>Models and prices</Trans>}
      purpose={
        <Trans>
          What each model costs, before the multiplier of a group. A price is never edited: another
          version follows it, and each request is charged by the one it was admitted under.
        </Trans>
      }
      filters={
        <Segments
          label={t`View`}
          value={view}
          options={[
            { value: 'book', label: t`In force` },
            { value: 'scheduled', label: t`Scheduled` },
            { value: 'missing', label: t`Missing` },
            { value: 'shipped', label: t`Differs from shipped` },
            { value: 'import', label: t`Compare with a list` },
          ]}
          onChange={(chosen) => change({ view: chosen === 'book' ? undefined : chosen })}
        />
      }
    >
      {view === 'book' && (
        <Book
          search={search}
          open={open}
          onSearch={(text) => change({ search: text }, true)}
          onOpen={show}
          onClose={() => change({ open: undefined })}
        />
      )}
      {view === 'scheduled' && <Scheduled onOpen={show} />}
      {view === 'missing' && <Missing onOpen={show} />}
      {view === 'shipped' && <Shipped onOpen={show} />}
      {view === 'import' && <Import onOpen={show} />}
      {view !== 'book' && open !== undefined && (
        <PriceDrawer key={open} model={open} onClose={() => change({ open: undefined })} />
      )}
    </Page>
  )
}
