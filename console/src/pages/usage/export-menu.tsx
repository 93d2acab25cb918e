// Exports exactly what is shown: the chart's series or the table's rows, for a spreadsheet or a program.

import { Trans, useLingui } from '@lingui/react/macro'
import { apiAddress } from '../../api/viewing.ts'
import { mostColours } from '../../charts/statistics.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import type { Asked } from './asked.ts'
import { mostRows } from './data.ts'

type View = 'series' | 'breakdown'

function addressOf(asked: Asked, view: View, format: 'csv' | 'json'): string {
  const { by, span, filters, metric, search } = asked
  const own =
    view === 'series'
      ? {
          metric,
          limit: String(mostColours),
          interval: search.interval ?? 'auto',
        }
      : { limit: String(mostRows), sort: search.sort ?? 'spend', order: search.order ?? 'desc' }
  const grouped: Record<string, string> = by.length > 0 ? { by: by.join(',') } : {}
  const query = new URLSearchParams({ ...span, ...filters, ...grouped, ...own, view, format })
  return apiAddress(`/api/statistics/export?${query}`)
}

/** The browser saves it as it arrives. */
function save(address: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = ''
  link.click()
}

export function ExportMenu({ asked }: { readonly asked: Asked }) {
  const { t } = useLingui()
  const item = (label: string, view: View, format: 'csv' | 'json') => ({
    label,
    onSelect: () => save(addressOf(asked, view, format)),
  })
  return (
    <Menu
      className={buttonClass()}
      trigger={
        <>
          <Icon name="download" />
          <Trans>Export</Trans>
        </>
      }
      items={[
        item(t`Table as CSV`, 'breakdown', 'csv'),
        item(t`Table as JSON`, 'breakdown', 'json'),
        item(t`Chart as CSV`, 'series', 'csv'),
        item(t`Chart as JSON`, 'series', 'json'),
      ]}
    />
  )
}
