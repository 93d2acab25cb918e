// Every version of a channel: who made it, what it changed, and a button to restore it.

import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { change, get, type Shape } from '../../api/client.ts'
import { Actor } from '../../ui/actor.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Difference, differences } from '../../ui/difference.tsx'
import { Skeleton, Widget } from '../../ui/state.tsx'
import { showToast } from '../../ui/toast.tsx'
import { Badge, Time } from '../../ui/values.tsx'
import { refreshChannels } from './channels.ts'

type Version = Shape<'ConfigurationVersion'>

interface VersionsProps {
  readonly id: string
  readonly mayChange: boolean
}

export function Versions({ id, mayChange }: VersionsProps) {
  const { t } = useLingui()
  const params = { path: { id } }
  const query = useInfiniteQuery({
    queryKey: ['/api/channels/{id}/versions', id],
    queryFn: ({ pageParam, signal }) => {
      const asked = { limit: 20, ...(pageParam !== null && { cursor: pageParam }) }
      return get('/api/channels/{id}/versions', { params: { ...params, query: asked } }, signal)
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  })
  return (
    <Widget query={query} skeleton={<Skeleton rows={5} />}>
      {({ pages }) => {
        const versions = pages.flatMap(({ items }) => items)
        return (
          <div className="flex flex-col gap-3">
            <ol aria-label={t`Versions`} className="flex flex-col gap-3">
              {versions.map((version, index) => (
                <VersionItem
                  key={version.version}
                  id={id}
                  version={version}
                  earlier={versions[index + 1] ?? null}
                  newest={versions[0] ?? version}
                  mayChange={mayChange}
                />
              ))}
            </ol>
            {query.hasNextPage && (
              <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                <Trans>Earlier versions</Trans>
              </Button>
            )}
          </div>
        )
      }}
    </Widget>
  )
}

interface ItemProps extends VersionsProps {
  readonly version: Version
  /** null: this is the oldest version that is shown. */
  readonly earlier: Version | null
  readonly newest: Version
}

function VersionItem({ id, version, earlier, newest, mayChange }: ItemProps) {
  const { t } = useLingui()
  const [asks, setAsks] = useState(false)
  const isNewest = version.version === newest.version
  const changed = differences(earlier?.document ?? null, version.document).map(({ name }) => name)
  const isFirst = earlier === null && version.version === 1
  return (
    <li className="rounded-card border border-border p-3">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div>
          <span className="font-medium">
            <Trans>Version {version.version}</Trans>
          </span>{' '}
          {isNewest && (
            <Badge tone="success">
              <Trans>newest</Trans>
            </Badge>
          )}{' '}
          <span className="text-cell text-text-2">
            <Time relative at={version.changedAt} /> · <Actor actor={version.actor} />
          </span>
        </div>
        {mayChange && !isNewest && version.document !== null && (
          <Button onClick={() => setAsks(true)}>
            <Trans>Bring it back</Trans>
          </Button>
        )}
      </div>
      {version.document === null ? (
        <p className="mt-1 text-text-2">
          <Trans>It was removed.</Trans>
        </p>
      ) : (
        <details className="mt-1">
          <summary className="min-h-6 text-cell text-text-2">
            {isFirst ? t`Made` : changed.length === 0 ? t`Nothing differs.` : changed.join(', ')}
          </summary>
          <div className="mt-2">
            <Difference before={earlier?.document ?? null} after={version.document} />
          </div>
        </details>
      )}
      {asks && (
        <Rollback id={id} version={version} newest={newest} onClose={() => setAsks(false)} />
      )}
    </li>
  )
}

interface RollbackProps {
  readonly id: string
  readonly version: Version
  readonly newest: Version
  readonly onClose: () => void
}

function Rollback({ id, version, newest, onClose }: RollbackProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const number = version.version
  return (
    <Confirm
      danger={false}
      title={
        <Trans>
          Bring version {number} of {id} back?
        </Trans>
      }
      action={t`Bring it back`}
      onConfirm={async () => {
        await change('post', '/api/channels/{id}/rollback', {
          params: { path: { id } },
          body: { version: number },
          // For a removed channel there is nothing to compare with.
          ...(newest.document !== null && { ifMatch: newest.version }),
        })
        showToast({ text: t`Version ${number} is back, as a new one`, tone: 'info' })
        await refreshChannels(client)
      }}
      onClose={onClose}
    >
      <p>
        <Trans>It becomes the newest version and serves within a second:</Trans>
      </p>
      <Difference before={newest.document} after={version.document} />
    </Confirm>
  )
}
