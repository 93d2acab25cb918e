// Every version of a group that was made here, with what it changed, and a button to restore it.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { change, read } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { Actor } from '../../ui/actor.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Skeleton, Widget } from '../../ui/state.tsx'
import { Time } from '../../ui/values.tsx'
import { Limits } from './columns.tsx'
import { refreshGroups } from './refresh.ts'
import { type Item, settingsOf } from './rows.ts'

interface VersionsProps {
  readonly id: string
  /** The number of the newest version; undefined: the group was removed. */
  readonly revision: number | undefined
}

export function Versions({ id, revision }: VersionsProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const { admin } = roleOf(useMe())
  const params = { path: { id } }
  const versions = useQuery(read('/api/groups/{id}/versions', { params }))
  const [chosen, choose] = useState<number | null>(null)
  async function bringBack() {
    if (chosen === null) return
    const body = { version: chosen }
    const known = revision === undefined ? {} : { ifMatch: revision }
    await change('post', '/api/groups/{id}/rollback', { params, body, ...known })
    await refreshGroups(client)
  }
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-section">
        <Trans>Versions</Trans>
      </h3>
      <Widget query={versions} skeleton={<Skeleton rows={2} />}>
        {({ items }) => (
          <ol className="flex flex-col divide-y divide-border">
            {items.map(({ version, document, changedAt, actor }) => (
              <li key={version} className="flex flex-wrap items-baseline gap-x-3 gap-y-1 py-2">
                <span className="tabular font-medium">{version}</span>
                <span className="min-w-0 flex-1 break-words">
                  {document === null ? <Trans>removed</Trans> : <Described document={document} />}
                </span>
                <span className="text-label font-normal text-text-2">
                  <Actor actor={actor} /> · <Time relative at={changedAt} />
                </span>
                {admin && document !== null && version !== revision && (
                  <Button variant="quiet" onClick={() => choose(version)}>
                    <Trans>Bring back</Trans>
                  </Button>
                )}
              </li>
            ))}
          </ol>
        )}
      </Widget>
      {chosen !== null && (
        <Confirm
          title={<Trans>Bring version {chosen} back?</Trans>}
          action={t`Bring back`}
          danger={false}
          onConfirm={bringBack}
          onClose={() => choose(null)}
        >
          <p>
            <Trans>
              It becomes the newest version, and takes effect in every server within a second.
            </Trans>
          </p>
        </Confirm>
      )}
    </section>
  )
}

/** Its settings in a line, also those with their default. */
function Described({ document }: Pick<Item, 'document'>) {
  const { multiplier, modelMultipliers, models, limits } = settingsOf({ document })
  const others = Object.entries(modelMultipliers).map(([model, other]) => ` · ${model} × ${other}`)
  return (
    <>
      × {multiplier}
      {others} ·{' '}
      {models.length === 1 && models[0] === '*' ? <Trans>all models</Trans> : models.join(', ')}
      {Object.values(limits).some((limit) => limit !== null) && (
        <>
          {' · '}
          <Limits limits={limits} />
        </>
      )}
    </>
  )
}
