// The list of management keys, each with its actions.

import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { change, get, type Shape } from '../../api/client.ts'
import { useAccount } from '../../app/account-scope.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Widget } from '../../ui/state.tsx'
import { type Column, DataTable, moreOf } from '../../ui/table.tsx'
import { showProblem } from '../../ui/toast.tsx'
import { Badge, Time } from '../../ui/values.tsx'
import { KeyStatus } from './key-columns.tsx'
import { refreshKeys } from './refresh.ts'

type ManagementKey = Shape<'ManagementKey'>

const never = <Trans>never</Trans>

const columns: readonly Column<ManagementKey>[] = [
  {
    id: 'status',
    header: <Trans>Status</Trans>,
    cell: ({ status }) => <KeyStatus status={status} />,
  },
  {
    id: 'name',
    isLong: true,
    header: <Trans>Name</Trans>,
    cell: ({ name }) => <span className="font-medium">{name}</span>,
  },
  {
    id: 'hint',
    header: <Trans>Key</Trans>,
    cell: ({ hint }) => <code className="font-mono text-code text-text-2">{hint}</code>,
  },
  {
    id: 'account',
    isLong: true,
    header: <Trans>Account</Trans>,
    cell: ({ account }) => account ?? <Trans>the whole deployment</Trans>,
  },
  { id: 'scopes', header: <Trans>May</Trans>, cell: ({ scopes }) => <Scopes scopes={scopes} /> },
  {
    id: 'lastUsed',
    header: <Trans>Last used</Trans>,
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? never : <Time at={lastUsedAt} relative />),
  },
  {
    id: 'expiry',
    header: <Trans>Expires</Trans>,
    cell: ({ expiresAt }) => (expiresAt === null ? never : <Time at={expiresAt} relative />),
  },
  {
    id: 'created',
    header: <Trans>Created</Trans>,
    cell: ({ createdAt }) => <Time at={createdAt} relative />,
  },
]

function Scopes({ scopes }: Pick<ManagementKey, 'scopes'>) {
  return (
    <span className="inline-flex gap-1">
      {scopes.includes('read') && (
        <Badge>
          <Trans>read</Trans>
        </Badge>
      )}
      {scopes.includes('write') && (
        <Badge tone="warning">
          <Trans>change</Trans>
        </Badge>
      )}
    </span>
  )
}

export default function ManagementKeys({ mayChange }: { readonly mayChange: boolean }) {
  const { t } = useLingui()
  const account = useAccount()
  const [removing, setRemoving] = useState<ManagementKey | null>(null)
  const query = useInfiniteQuery({
    queryKey: ['/api/management-keys', account ?? null],
    queryFn: ({ pageParam, signal }) =>
      get(
        '/api/management-keys',
        {
          params: {
            query: {
              limit: 50,
              ...(account !== undefined && { account }),
              ...(pageParam !== undefined && { cursor: pageParam }),
            },
          },
        },
        signal,
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  })
  const withActions = useMemo(
    () => (mayChange ? [...columns, actionColumn(setRemoving)] : columns),
    [mayChange],
  )
  return (
    <Card flush title={<Trans>Management keys</Trans>}>
      <Widget query={query}>
        {({ pages }) => (
          <DataTable
            id="management-keys"
            label={t`Management keys`}
            columns={withActions}
            rows={pages.flatMap(({ items }) => items)}
            rowId={({ id }) => id}
            empty={
              <Empty title={<Trans>Your management keys appear here</Trans>}>
                <Trans>A script shows one to make keys, read usage or change settings.</Trans>
              </Empty>
            }
            more={moreOf(query)}
            card={(key) => ({
              title: (
                <>
                  <span className="min-w-0 flex-1 truncate font-medium">{key.name}</span>
                  <KeyStatus status={key.status} />
                  {mayChange && <Actions shown={key} onRemove={setRemoving} />}
                </>
              ),
              facts: [
                <code key="hint">{key.hint}</code>,
                <Scopes key="scopes" scopes={key.scopes} />,
              ],
            })}
          />
        )}
      </Widget>
      {removing !== null && <Remove shown={removing} onClose={() => setRemoving(null)} />}
    </Card>
  )
}

interface RemoveProps {
  readonly shown: ManagementKey
  readonly onClose: () => void
}

function Remove({ shown, onClose }: RemoveProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const params = { path: { id: shown.id } }
  return (
    <Confirm
      title={<Trans>Delete {shown.name}</Trans>}
      action={t`Delete key`}
      {...(shown.lastUsedAt !== null && { typed: shown.name })}
      onConfirm={async () => {
        await change('delete', '/api/management-keys/{id}', { params, ifMatch: shown.revision })
        void refreshKeys(client)
      }}
      onClose={onClose}
    >
      <Trans>Scripts that use it are refused at once.</Trans>
    </Confirm>
  )
}

type OnRemove = (key: ManagementKey) => void

function actionColumn(onRemove: OnRemove): Column<ManagementKey> {
  return {
    id: 'actions',
    header: (
      <span className="sr-only">
        <Trans>Actions</Trans>
      </span>
    ),
    align: 'right',
    cell: (key) => <Actions shown={key} onRemove={onRemove} />,
  }
}

interface ActionsProps {
  readonly shown: ManagementKey
  readonly onRemove: OnRemove
}

function Actions({ shown, onRemove }: ActionsProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const params = { path: { id: shown.id } }
  const isDisabled = shown.status === 'disabled'
  async function toggle() {
    try {
      const ifMatch = shown.revision
      if (isDisabled) await change('post', '/api/management-keys/{id}/enable', { params, ifMatch })
      // Without If-Match: stopping a key must not fail because its name was changed meanwhile.
      else await change('post', '/api/management-keys/{id}/disable', { params })
    } catch (error) {
      showProblem(error as Error)
    }
    void refreshKeys(client)
  }
  return (
    <Menu
      label={t`Actions for ${shown.name}`}
      trigger={<Icon name="more" />}
      items={[
        { label: isDisabled ? t`Enable` : t`Disable`, onSelect: () => void toggle() },
        { label: t`Delete`, danger: true, onSelect: () => onRemove(shown) },
      ]}
    />
  )
}
