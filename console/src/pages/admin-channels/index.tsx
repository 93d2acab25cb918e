// Channels: the vendors behind the models, the state of each, and all actions of operators on them.

import { Trans, useLingui } from '@lingui/react/macro'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { roleOf, useMe } from '../../api/queries.ts'
import type { Catalog } from '../../i18n.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { later } from '../../ui/later.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Page } from '../../ui/page.tsx'
import { showProblem } from '../../ui/toast.tsx'
import { ChannelFilters } from './filters.tsx'
import { ChannelList } from './list.tsx'
import type { ChannelsSearch } from './search.ts'
import { exportChannels } from './transfer.ts'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

const route = getRouteApi('/shell/admin/channels')
const NewChannel = later(() => import('./new-channel.tsx'))
const ChannelDrawer = later(() => import('./drawer.tsx'))
const RoutingPreview = later(() => import('./routing.tsx'))
const ImportDialog = later(() => import('./import.tsx'))

export default function ChannelsPage() {
  const { open, dialog } = route.useSearch()
  const navigate = useNavigate()
  const { admin } = roleOf(useMe())
  const isNew = dialog === 'new' && admin
  const show = (next: Partial<ChannelsSearch>) =>
    void navigate({ to: '.', search: (now) => ({ ...now, ...next }) })
  return (
    <Page
      title={<Trans>Channels</Trans>}
      purpose={
        <Trans>
          The vendors that serve the models: how each performs, and which one is asked for which
          model.
        </Trans>
      }
      actions={<Actions admin={admin} onImport={() => show({ dialog: 'import' })} />}
      filters={<ChannelFilters />}
    >
      <ChannelList admin={admin} />
      {isNew && <NewChannel />}
      {open !== undefined && !isNew && <ChannelDrawer key={open} id={open} admin={admin} />}
      {dialog === 'routing' && open === undefined && <RoutingPreview />}
      {dialog === 'import' && admin && <ImportDialog onClose={() => show({ dialog: undefined })} />}
    </Page>
  )
}

interface ActionsProps {
  readonly admin: boolean
  readonly onImport: () => void
}

function Actions({ admin, onImport }: ActionsProps) {
  const { t } = useLingui()
  const save = () => void exportChannels().catch(showProblem)
  const items = [
    { label: t`Export as JSON`, onSelect: save },
    ...(admin ? [{ label: t`Import JSON`, onSelect: onImport }] : []),
  ]
  return (
    <>
      <Menu
        label={t`More`}
        className={buttonClass()}
        trigger={<Icon name="more" />}
        items={items}
      />
      <Link
        from="/admin/channels"
        to="."
        search={(now) => ({ ...now, open: undefined, dialog: 'routing' as const })}
        className={buttonClass()}
      >
        <Trans>Where would a request go?</Trans>
      </Link>
      {admin && (
        <Link
          from="/admin/channels"
          to="."
          search={(now) => ({ ...now, open: undefined, tab: undefined, dialog: 'new' as const })}
          className={buttonClass('primary')}
        >
          <Icon name="plus" />
          <Trans>New channel</Trans>
        </Link>
      )}
    </>
  )
}
