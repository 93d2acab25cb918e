// The rows of the list as a file, with the same filters; the browser saves it as it arrives.

import { useLingui } from '@lingui/react/macro'
import { apiAddress } from '../../api/viewing.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import { type Asked, rowFilters } from './queries.ts'

export function ExportButton({ asked }: { readonly asked: Asked }) {
  const { t } = useLingui()
  function save(format: 'csv' | 'json') {
    const given = { ...rowFilters(asked), format }
    const query = new URLSearchParams(
      Object.entries(given).map(([name, value]) => [name, `${value}`]),
    )
    const link = document.createElement('a')
    link.href = apiAddress(`/api/requests/export?${query}`)
    link.download = `requests.${format === 'csv' ? 'csv' : 'ndjson'}`
    link.click()
  }
  return (
    <Menu
      className={buttonClass()}
      trigger={
        <>
          <Icon name="download" />
          {t`Export`}
        </>
      }
      items={[
        { label: t`CSV of these rows`, onSelect: () => save('csv') },
        { label: t`JSON lines of these rows`, onSelect: () => save('json') },
      ]}
    />
  )
}
