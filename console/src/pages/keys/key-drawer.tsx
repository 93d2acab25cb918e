// One key beside the list: its facts and use, actions on it, and its limits to change.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import { change, read } from '../../api/client.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { Button, Buttons, buttonClass } from '../../ui/button.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { KeepDraft } from '../../ui/keep-draft.tsx'
import { Widget } from '../../ui/state.tsx'
import { showProblem, showToast } from '../../ui/toast.tsx'
import { useNewest } from '../../ui/use-newest.ts'
import { Id, Money, None, Time } from '../../ui/values.tsx'
import { DeleteKey, RotateKey } from './key-actions.tsx'
import { type Key, KeyStatus, LastUsed, LimitBar } from './key-columns.tsx'
import { KeyFields } from './key-form.tsx'
import { KeyTest } from './key-test.tsx'
import { bodyOf, type KeyValues, valuesOf } from './key-values.ts'
import { refreshKeys } from './refresh.ts'
import { useKeyForm } from './use-key-form.ts'

interface KeyDrawerProps {
  readonly id: string
  readonly mayChange: boolean
  readonly onClose: () => void
  /** The key no longer exists. */
  readonly onDeleted: () => void
  readonly onPrevious?: (() => void) | undefined
  readonly onNext?: (() => void) | undefined
}

export default function KeyDrawer(props: KeyDrawerProps) {
  const { id, mayChange, onClose, onDeleted, ...neighbours } = props
  const { t } = useLingui()
  const query = useQuery(read('/api/keys/{id}', { params: { path: { id } } }))
  return (
    <Drawer
      label={t`Key`}
      onClose={onClose}
      {...neighbours}
      header={
        <h2 className="flex min-w-0 items-center gap-3 text-section">
          <span className="truncate" title={query.data?.name}>
            {query.data?.name ?? t`Key`}
          </span>
          {query.data !== undefined && (
            <span className="shrink-0 text-cell font-normal">
              <KeyStatus status={query.data.status} />
            </span>
          )}
        </h2>
      }
    >
      <Widget query={query}>
        {(key) => (
          <Details shown={key} mayChange={mayChange && !key.declared} onDeleted={onDeleted} />
        )}
      </Widget>
    </Drawer>
  )
}

interface DetailsProps {
  readonly shown: Key
  readonly mayChange: boolean
  readonly onDeleted: () => void
}

function Details({ shown, mayChange, onDeleted }: DetailsProps) {
  return (
    <div className="flex flex-col gap-6">
      <Facts shown={shown} />
      {shown.declared && (
        <p className="rounded-card bg-info-tint p-3">
          <Trans>The configuration file declares this key: it is changed there alone.</Trans>
        </p>
      )}
      <Actions shown={shown} mayChange={mayChange} onDeleted={onDeleted} />
      {mayChange && <Edit key={shown.id} shown={shown} />}
    </div>
  )
}

function Facts({ shown }: { readonly shown: Key }) {
  const { id, hint, account, currency, today, month, spendLimit, lastUsed } = shown
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5">
      <Fact label={<Trans>Key</Trans>}>
        <code className="font-mono text-code">{hint}</code>
      </Fact>
      <Fact label={<Trans>Id</Trans>}>
        <Id value={id} />
      </Fact>
      <Fact label={<Trans>Account</Trans>}>{account}</Fact>
      <Fact label={<Trans>Group</Trans>}>{shown.group}</Fact>
      <Fact label={<Trans>Today (UTC)</Trans>}>
        <Money nano={today.chargeNano} currency={currency} />
      </Fact>
      <Fact label={<Trans>This month (UTC)</Trans>}>
        <Money nano={month.chargeNano} currency={currency} />
      </Fact>
      <Fact label={<Trans>Spend limit</Trans>}>
        <LimitBar limit={spendLimit} currency={currency} />
        {spendLimit !== null && spendLimit.resetsAt !== null && (
          <span className="ml-2 text-text-2">
            <Trans>
              resets <Time at={spendLimit.resetsAt} relative />
            </Trans>
          </span>
        )}
      </Fact>
      <Fact label={<Trans>Last used</Trans>}>
        <LastUsed whole lastUsed={lastUsed} />
      </Fact>
      <Fact label={<Trans>Expires</Trans>}>
        {shown.expiresAt === null ? <Trans>never</Trans> : <Time at={shown.expiresAt} />}
      </Fact>
      <Fact label={<Trans>Created</Trans>}>
        {shown.createdAt === null ? <None /> : <Time at={shown.createdAt} />}
      </Fact>
      {shown.previousUntil !== null && (
        <Fact label={<Trans>Secret before</Trans>}>
          <Trans>
            works until <Time at={shown.previousUntil} />
          </Trans>
        </Fact>
      )}
    </dl>
  )
}

function Fact({ label, children }: { readonly label: ReactNode; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-text-2">{label}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  )
}

function Actions({ shown, mayChange, onDeleted }: DetailsProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const [asks, setAsks] = useState<'rotate' | 'delete' | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [isTested, setTested] = useState(false)
  const isDisabled = shown.status === 'disabled'
  const params = { path: { id: shown.id } }
  async function toggle() {
    setBusy(true)
    try {
      const ifMatch = shown.revision
      if (isDisabled) await change('post', '/api/keys/{id}/enable', { params, ifMatch })
      // Without If-Match: stopping a key must not fail because its name or a limit was changed meanwhile.
      else await change('post', '/api/keys/{id}/disable', { params })
    } catch (error) {
      showProblem(error as Error)
    }
    setBusy(false)
    void refreshKeys(client)
  }
  return (
    <div className="flex flex-col gap-3">
      <Buttons>
        <Button
          onClick={() => {
            setTested(true)
            void client.invalidateQueries({ queryKey: ['/api/keys/{id}/test', shown.id] })
          }}
        >
          <Trans>Test key</Trans>
        </Button>
        <Link to="/requests" search={{ key: [shown.id] } as never} className={buttonClass()}>
          <Trans>Its requests</Trans>
        </Link>
        {mayChange && (
          <>
            <Button icon="refresh" onClick={() => setAsks('rotate')}>
              <Trans>Rotate</Trans>
            </Button>
            <Button busy={isBusy} onClick={() => void toggle()}>
              {isDisabled ? t`Enable` : t`Disable`}
            </Button>
            <Button variant="danger" icon="trash" onClick={() => setAsks('delete')}>
              <Trans>Delete</Trans>
            </Button>
          </>
        )}
      </Buttons>
      {isTested && <KeyTest id={shown.id} />}
      {asks === 'rotate' && <RotateKey shown={shown} onClose={() => setAsks(null)} />}
      {asks === 'delete' && (
        <DeleteKey shown={shown} onClose={() => setAsks(null)} onDone={onDeleted} />
      )}
    </div>
  )
}

function Edit({ shown }: { readonly shown: Key }) {
  const { t } = useLingui()
  // The fields keep local times, which a zone chosen meanwhile must not move.
  const [timeZone] = useState(useTimeZone())
  const client = useQueryClient()
  const valuesFrom = (key: Key) => valuesOf(key, timeZone)
  const { form, problem, clear, submit } = useKeyForm(
    valuesFrom(shown),
    async (values, { sentMs }) => {
      try {
        await save(values, sentMs)
      } finally {
        await refreshKeys(client)
      }
      form.reset(values)
      showToast({ text: t`Key changed`, tone: 'info' })
    },
  )
  const newest = useNewest({ form, shown, valuesOf: valuesFrom, clear })
  async function save(values: KeyValues, sentMs: number) {
    const was = bodyOf(valuesFrom(newest.base), sentMs, timeZone)
    // Unchanged fields are not sent: an expiry that has passed would be refused.
    const body = Object.fromEntries(
      Object.entries(bodyOf(values, sentMs, timeZone)).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name as keyof typeof was]),
      ),
    )
    const params = { path: { id: shown.id } }
    await change('patch', '/api/keys/{id}', { params, body, ifMatch: newest.base.revision })
  }
  return (
    <form
      noValidate
      aria-label={t`Change the key`}
      className="flex flex-col gap-4 border-t border-border pt-4"
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        submit()
      }}
    >
      <KeepDraft isDirty={form.formState.isDirty} />
      <h3 className="text-section">
        <Trans>Change the key</Trans>
      </h3>
      <KeyFields form={form} currency={shown.currency} timeZone={timeZone} />
      <FormProblem problem={problem} newest={newest} />
      <Buttons>
        <Button
          type="submit"
          variant="primary"
          busy={form.formState.isSubmitting}
          disabled={!form.formState.isDirty || newest.isStale}
        >
          <Trans>Save changes</Trans>
        </Button>
        {form.formState.isDirty && (
          <Button onClick={newest.discard}>
            <Trans>Discard</Trans>
          </Button>
        )}
      </Buttons>
    </form>
  )
}
