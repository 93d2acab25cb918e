// The success of a model in the last 90 days, as on the status page, if there is one.

import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '../../api/client.ts'
import { useFeatures } from '../../api/queries.ts'
import { type Catalog, loadCatalog } from '../../i18n.ts'
import { later } from '../../ui/later.tsx'
import { Skeleton, Widget } from '../../ui/state.tsx'
import type { Model } from './queries.ts'

const statusTexts: Catalog = (language) => import(`../status/locales/${language}.po`)

/** With the status page's own texts. */
const DayBars = later(
  async () => {
    const [{ DayBars }] = await Promise.all([
      import('../status/day-bars.tsx'),
      loadCatalog(statusTexts),
    ])
    return { default: DayBars }
  },
  <Skeleton rows={1} height={32} />,
)

export function StatusOfModel({ model: { id } }: { readonly model: Model }) {
  const { statusPage } = useFeatures()
  const status = useQuery({ ...read('/api/status'), enabled: statusPage, staleTime: 30_000 })
  if (!statusPage) return null
  return (
    <section>
      <div className="mb-2 flex items-baseline justify-between gap-4">
        <h3 className="text-section">
          <Trans>The last 90 days</Trans>
        </h3>
        <Link to="/status" search={{ search: id }}>
          <Trans>Status page</Trans>
        </Link>
      </div>
      <Widget query={status} skeleton={<Skeleton rows={1} height={32} />}>
        {({ days, models }) => {
          const own = models.find(({ model }) => model === id)
          if (own === undefined)
            return (
              <p className="text-text-2">
                <Trans>The status page has models that everybody sees, and this one is not.</Trans>
              </p>
            )
          return <DayBars days={days} model={own} />
        }}
      </Widget>
    </section>
  )
}
