// The time zone in which all times and days are shown: the browser's, UTC, or another one from the settings.

import { useLingui } from '@lingui/react/macro'
import { useNavigate } from '@tanstack/react-router'
import { browserTimeZone, setPreferences, useTimeZone } from '../state/preferences.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'

export default function ZoneMenu() {
  const { t } = useLingui()
  const navigate = useNavigate()
  const zone = useTimeZone()
  return (
    <Menu
      label={t`Time zone: ${zone}`}
      className="plain-link flex h-8 items-center gap-1.5 rounded-control px-2 text-label text-text-2 hover:bg-sunken max-md:size-11 max-md:justify-center"
      trigger={
        <>
          <Icon name="clock" />
          <span className="max-md:sr-only">{zone}</span>
        </>
      }
      items={[
        {
          label: t`This browser (${browserTimeZone})`,
          onSelect: () => setPreferences({ timeZone: null }),
        },
        { label: 'UTC', onSelect: () => setPreferences({ timeZone: 'UTC' }) },
        {
          label: t`Another zone…`,
          onSelect: () => void navigate({ to: '/settings', search: { tab: 'appearance' } }),
        },
      ]}
    />
  )
}
