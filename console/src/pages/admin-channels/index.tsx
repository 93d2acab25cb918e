// Channels: the vendors behind the models, how each does, and everything an operator does about them.

import { Trans } from '@lingui/react/macro'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { roleOf, useMe } from '../../api/queries.ts'
import type { Catalog } from '../../i18n.ts'
import { Page } from '../../ui/page.tsx'
import { ChannelFilters } from './filters.tsx'
import { ChannelList } from './list.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

const route = getRouteApi('/shell/admin/channels')
const ChannelDrawer = lazy(() => import('./drawer.tsx'))

export default function ChannelsPage() {
  const { open } = route.useSearch()
  const { admin } = roleOf(useMe())
  return (
    <Page
      title={<Trans>Channels</Trans>}
      purpose={
        <Trans>The vendors behind the models: how each does, and who is asked for what.</Trans>
      }
      filters={<ChannelFilters />}
    >
      <ChannelList admin={admin} />
      <Suspense fallback={null}>
        {open !== undefined && <ChannelDrawer key={open} id={open} />}
      </Suspense>
    </Page>
  )
}
