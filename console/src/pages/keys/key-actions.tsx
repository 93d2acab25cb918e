// Irreversible actions on a key: a new secret, and deleting it.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { change, randomId, read, type Shape } from '../../api/client.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Widget } from '../../ui/state.tsx'
import { Money } from '../../ui/values.tsx'
import { type Key, LastUsed } from './key-columns.tsx'
import { refreshKeys } from './refresh.ts'
import { ShownOnce } from './shown-once.tsx'

interface RotateProps {
  readonly shown: Key
  readonly onClose: () => void
}

export function RotateKey({ shown, onClose }: RotateProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const [overlap, setOverlap] = useState('86400')
  const [made, setMade] = useState<Shape<'KeyWithSecret'> | null>(null)
  // One idempotency key per choice: repeated after a lost answer, the key is rotated once and its secret is returned
  // again.
  const idempotencyKeys = useRef<Record<string, string>>({})
  const isDone = useRef(false)
  if (made !== null) {
    const close = () => {
      void refreshKeys(client)
      onClose()
    }
    return <ShownOnce made={made} onClose={close} />
  }
  async function rotate() {
    idempotencyKeys.current[overlap] ??= randomId()
    const made = await change('post', '/api/keys/{id}/rotate', {
      params: { path: { id: shown.id } },
      body: { overlapSeconds: Number(overlap) },
      idempotencyKey: idempotencyKeys.current[overlap],
      ifMatch: shown.revision,
    })
    isDone.current = true
    setMade(made)
  }
  return (
    <Confirm
      title={<Trans>Rotate {shown.name}</Trans>}
      action={t`Rotate`}
      danger={false}
      onConfirm={rotate}
      // Afterwards it closes together with the secret that it shows.
      onClose={() => {
        if (!isDone.current) onClose()
      }}
    >
      <p>
        <Trans>
          The key gets a new secret. The one it has now works for the overlap, so that you can
          replace it where it is used. Limits and spending stay.
        </Trans>
      </p>
      <Field label={t`The secret it has now works for`}>
        <Select value={overlap} onChange={(event) => setOverlap(event.target.value)}>
          <option value="0">{t`No longer: it stops within a second`}</option>
          <option value="3600">{t`An hour`}</option>
          <option value="86400">{t`A day`}</option>
          <option value="259200">{t`Three days`}</option>
          <option value="604800">{t`A week`}</option>
        </Select>
      </Field>
    </Confirm>
  )
}

interface DeleteProps extends RotateProps {
  readonly onDone: () => void
}

export function DeleteKey({ shown, onClose, onDone }: DeleteProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const impact = useQuery({
    ...read('/api/keys/{id}/impact', { params: { path: { id: shown.id } } }),
    staleTime: 0,
  })
  const requests = impact.data?.requestsLastDay ?? 0
  // Until its traffic is known, it is treated as having some.
  const isUsed = impact.data === undefined || requests > 0
  return (
    <Confirm
      title={<Trans>Delete {shown.name}</Trans>}
      action={t`Delete key`}
      {...(isUsed && { typed: shown.name })}
      onConfirm={async () => {
        const { id, revision } = shown
        await change('delete', '/api/keys/{id}', { params: { path: { id } }, ifMatch: revision })
        onDone()
        void refreshKeys(client)
      }}
      onClose={onClose}
    >
      <p>
        <Trans>
          Whoever uses it is refused within a second. Its usage stays in the statistics.
        </Trans>
      </p>
      <Widget query={impact}>
        {({ lastUsed, month, currency }) => (
          <div
            className={`rounded-card p-3 ${requests > 0 ? 'bg-danger-tint' : 'bg-sunken'}`}
            data-impact
          >
            <p className="font-medium">
              <Plural
                value={requests}
                _0="No request in the last 24 hours."
                one="# request in the last 24 hours."
                other="# requests in the last 24 hours."
              />
            </p>
            <p className="mt-1">
              <Trans>
                Last used: <LastUsed whole lastUsed={lastUsed} />
              </Trans>
            </p>
            <p>
              <Trans>
                This month: <Money nano={month.chargeNano} currency={currency} />
              </Trans>
            </p>
          </div>
        )}
      </Widget>
    </Confirm>
  )
}
