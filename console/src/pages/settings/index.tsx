// Settings of the signed-in person: profile, sessions, message history, appearance, data.

import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMe } from '../../api/queries.ts'
import type { Catalog } from '../../i18n.ts'
import { Segments } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { AlertSettings } from './alerts.tsx'
import { Appearance } from './appearance.tsx'
import { MyData } from './data.tsx'
import { History } from './history.tsx'
import { Profile } from './profile.tsx'
import { Sessions } from './sessions.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

const route = getRouteApi('/shell/settings')

export default function SettingsPage() {
  const { t } = useLingui()
  const { tab = 'profile' } = route.useSearch()
  const navigate = useNavigate()
  const me = useMe()
  return (
    <Page
      title={<Trans>Settings</Trans>}
      purpose={
        <Trans>Your profile, sign-ins and sessions, and which of your messages are kept.</Trans>
      }
      filters={
        <Segments
          label={t`Part of the settings`}
          value={tab}
          onChange={(next) =>
            void navigate({
              to: '.',
              search: (before) => ({ ...before, tab: next === 'profile' ? undefined : next }),
            })
          }
          options={[
            { value: 'profile', label: t`Profile` },
            { value: 'sessions', label: t`Sessions` },
            { value: 'history', label: t`Message history` },
            { value: 'alerts', label: t`Alerts` },
            { value: 'appearance', label: t`Appearance` },
            { value: 'data', label: t`My data` },
          ]}
        />
      }
    >
      {tab === 'alerts' && <AlertSettings />}
      {tab === 'appearance' && <Appearance />}
      {tab === 'sessions' && <Sessions />}
      {tab === 'history' && <History />}
      {me && tab === 'profile' && <Profile key={me.id} me={me} />}
      {me && tab === 'data' && <MyData me={me} />}
    </Page>
  )
}
