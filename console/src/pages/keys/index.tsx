// API keys: those that call models, and in a separate tab management keys.

import { Trans, useLingui } from '@lingui/react/macro'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { roleOf, useMe } from '../../api/queries.ts'
import type { Catalog } from '../../i18n.ts'
import { Button } from '../../ui/button.tsx'
import { Segments } from '../../ui/field.tsx'
import { later } from '../../ui/later.tsx'
import { Page } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/state.tsx'
import { KeyFilters } from './key-filters.tsx'
import { KeyList } from './key-list.tsx'
import { Summary } from './summary.tsx'

// Forms and dialogs load when they are opened.
const CreateKey = later(() => import('./create-key.tsx'))
const CreateManagementKey = later(() => import('./management-create.tsx'))
const ManagementKeys = later(() => import('./management-keys.tsx'), <Skeleton rows={6} />)

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

export default function KeysPage() {
  const { tab, dialog } = useSearch({ from: '/shell/keys' })
  const navigate = useNavigate({ from: '/keys' })
  const isManagement = tab === 'management'
  const { mayChange } = roleOf(useMe())
  const closeDialog = () =>
    void navigate({ search: (search) => ({ ...search, dialog: undefined }) })
  return (
    <Page
      title={<Trans>API keys</Trans>}
      purpose={
        isManagement ? (
          <Trans>For scripts that use the control API. They call no models.</Trans>
        ) : (
          <Trans>
            Each belongs to a group, which says which models it may use and at what price.
          </Trans>
        )
      }
      actions={
        mayChange && (
          <Button
            variant="primary"
            icon="plus"
            onClick={() =>
              void navigate({ search: (search) => ({ ...search, dialog: 'create' as const }) })
            }
          >
            {isManagement ? <Trans>Create management key</Trans> : <Trans>Create key</Trans>}
          </Button>
        )
      }
      filters={
        <div className="flex flex-wrap items-center gap-2" data-filter>
          <Tabs />
          {!isManagement && <KeyFilters />}
        </div>
      }
    >
      {isManagement ? (
        <ManagementKeys mayChange={mayChange} />
      ) : (
        <>
          <Summary />
          <KeyList mayChange={mayChange} />
        </>
      )}
      {dialog === 'create' &&
        mayChange &&
        (isManagement ? (
          <CreateManagementKey onClose={closeDialog} />
        ) : (
          <CreateKey onClose={closeDialog} />
        ))}
    </Page>
  )
}

function Tabs() {
  const { t } = useLingui()
  const { tab } = useSearch({ from: '/shell/keys' })
  const navigate = useNavigate({ from: '/keys' })
  return (
    <Segments
      label={t`Kind of key`}
      value={tab ?? 'api'}
      options={[
        { value: 'api', label: <Trans>API keys</Trans> },
        { value: 'management', label: <Trans>Management keys</Trans> },
      ]}
      onChange={(value) =>
        void navigate({
          search: ({ account }) => ({
            account,
            tab: value === 'management' ? value : undefined,
          }),
        })
      }
    />
  )
}
