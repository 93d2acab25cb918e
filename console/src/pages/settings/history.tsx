// Which messages of the account are kept, for how long, and deleting them.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { change, read, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { forgetConversations } from '../../state/conversations.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { download } from '../../ui/download.ts'
import { Checkbox, Field, Input } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { KeepDraft } from '../../ui/keep-draft.tsx'
import { Card } from '../../ui/page.tsx'
import { Below, Widget } from '../../ui/state.tsx'
import { showToast } from '../../ui/toast.tsx'
import { useNewest } from '../../ui/use-newest.ts'
import { sameFields, useRefusal } from '../../ui/use-refusal.ts'
import { makeKeys } from './keys.ts'

type Choice = Shape<'HistoryChoice'>
type Mode = Choice['inForce']['mode']

const rank: readonly Mode[] = ['off', 'metadata', 'sealed', 'full']

export function History() {
  const choice = useQuery(read('/api/me/history'))
  const { mayChange } = roleOf(useMe())
  return (
    <>
      <Card title={<Trans>Message history</Trans>}>
        <Widget query={choice}>{(data) => <Form choice={data} />}</Widget>
      </Card>
      <Below isReady={!choice.isPending}>{mayChange && <Deletion />}</Below>
    </>
  )
}

/** As typed. */
interface Values {
  readonly mode: Mode
  /** Empty: the deployment's usual time. */
  readonly retentionDays: string
  readonly publicKey: string
}

function valuesOf({ mode, inForce, retentionDays, publicKey }: Choice): Values {
  return {
    mode: mode ?? inForce.mode,
    retentionDays: retentionDays === null ? '' : String(retentionDays),
    publicKey: publicKey ?? '',
  }
}

function bodyOf({ mode, retentionDays, publicKey }: Values) {
  return {
    mode,
    retentionDays: retentionDays === '' ? null : Number(retentionDays),
    publicKey: publicKey === '' ? null : publicKey,
  }
}

function Form({ choice }: { readonly choice: Choice }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const form = useForm<Values>({ defaultValues: valuesOf(choice) })
  const { problem, attempt, clear } = useRefusal(form, sameFields('publicKey', 'retentionDays'))
  const newest = useNewest({ form, shown: choice, valuesOf, clear })
  const { mode, retentionDays, publicKey } = form.watch()
  const { errors, isDirty, isSubmitting } = form.formState
  const { mayChange } = roleOf(useMe())
  // Registered so that a refusal of an earlier attempt does not block the next.
  form.register('publicKey')
  form.register('retentionDays')
  const set = (name: keyof Values) => (text: string) =>
    form.setValue(name, text, { shouldDirty: true, shouldValidate: true })
  async function send(values: Values) {
    await attempt(async () => {
      try {
        await change('put', '/api/me/history', {
          body: bodyOf(values),
          ifMatch: newest.base.revision,
        })
      } finally {
        await client.invalidateQueries({ queryKey: ['/api/me/history'] })
      }
      form.reset(values)
      showToast({ text: t`Saved. It applies to requests that begin from now on.`, tone: 'info' })
    })
  }
  return (
    <form
      onSubmit={(event) => void form.handleSubmit(send)(event)}
      className="flex max-w-2xl flex-col gap-5"
    >
      <KeepDraft isInTab isDirty={isDirty} />
      <fieldset disabled={!mayChange} className="contents">
        <Modes mode={mode} allowed={choice.allowed.mode} onChange={set('mode')} />
        {mode === 'sealed' && (
          <SealKey
            value={publicKey}
            onChange={set('publicKey')}
            error={errors.publicKey?.message}
          />
        )}
        <Retention
          days={retentionDays}
          most={choice.allowed.retentionDays}
          onChange={set('retentionDays')}
          error={errors.retentionDays?.message}
        />
      </fieldset>
      <FormProblem problem={problem} newest={newest} />
      {mayChange ? (
        <div>
          <Button type="submit" variant="primary" busy={isSubmitting} disabled={newest.isStale}>
            <Trans>Save</Trans>
          </Button>
        </div>
      ) : (
        <p className="text-text-2">
          <Trans>Auditors read everything and change nothing.</Trans>
        </p>
      )}
    </form>
  )
}

interface RetentionProps {
  /** As typed. */
  readonly days: string
  /** The operator's maximum. */
  readonly most: number
  readonly onChange: (days: string) => void
  readonly error: string | undefined
}

function Retention({ days, most, onChange, error }: RetentionProps) {
  const { t } = useLingui()
  return (
    <div className="max-w-60">
      <Field
        label={<Trans>Kept for</Trans>}
        hint={<Trans>At most {most} days. Empty: the deployment’s usual time.</Trans>}
        error={error}
      >
        <Input
          inputMode="numeric"
          unit={t`days`}
          value={days}
          onChange={({ target }) => onChange(target.value.replace(/\D/g, ''))}
        />
      </Field>
    </div>
  )
}

interface ModesProps {
  readonly mode: Mode
  /** The operator's maximum. */
  readonly allowed: Mode
  readonly onChange: (mode: Mode) => void
}

function Modes({ mode, allowed, onChange }: ModesProps) {
  const { t } = useLingui()
  const modes = [
    { mode: 'off', name: t`Keep nothing`, detail: t`No messages are kept.` },
    {
      mode: 'metadata',
      name: t`That there was a request`,
      detail: t`Model, sizes and names of parameters; no text.`,
    },
    {
      mode: 'sealed',
      name: t`Sealed messages`,
      detail: t`Encrypted to your key: nobody who has the database, not even the operator, can read them. The gateway sees them in its memory while it relays. Without the secret key they are lost for ever.`,
    },
    {
      mode: 'full',
      name: t`Readable messages`,
      detail: t`You read them here; so can whoever reads the gateway’s database.`,
    },
  ] as const
  const most = modes[rank.indexOf(allowed)] ?? modes[0]
  return (
    <>
      <fieldset className="flex flex-col gap-3">
        <legend className="mb-2 text-label text-text-2">
          <Trans>What is kept of your messages</Trans>
        </legend>
        {modes.map((each) => (
          <Checkbox
            key={each.mode}
            type="radio"
            name="mode"
            label={each.name}
            hint={each.detail}
            checked={mode === each.mode}
            disabled={rank.indexOf(each.mode) > rank.indexOf(most.mode)}
            onChange={() => onChange(each.mode)}
          />
        ))}
      </fieldset>
      {most.mode !== 'full' && (
        <p className="text-label font-normal text-text-3">
          <Trans>The operator of this deployment allows no more than: {most.name}</Trans>
        </p>
      )}
    </>
  )
}

interface SealKeyProps {
  readonly value: string
  readonly onChange: (publicKey: string) => void
  readonly error: string | undefined
}

/** Made in this browser: the secret key is only saved to a file of the person's own. */
function SealKey({ value, onChange, error }: SealKeyProps) {
  const make = useMutation({
    mutationFn: async () => {
      const keys = await makeKeys()
      const text = JSON.stringify(keys, null, 2)
      download('tollgate-history-key.json', 'application/json', text)
      onChange(keys.publicKey)
    },
  })
  return (
    <div className="flex flex-col gap-2">
      <Field
        label={<Trans>Public key that messages are sealed to</Trans>}
        hint={<Trans>X25519, base64url. Make one here, or with: tollgate history keygen</Trans>}
        error={error ?? (make.error === null ? undefined : make.error.message)}
      >
        <Input
          value={value}
          autoComplete="off"
          onChange={(event) => onChange(event.target.value)}
        />
      </Field>
      <div>
        <Button icon="key" busy={make.isPending} onClick={() => make.mutate()}>
          <Trans>Make a key and save its secret file</Trans>
        </Button>
      </div>
    </div>
  )
}

function Deletion() {
  const { t } = useLingui()
  const me = useMe()
  const [isOpen, setOpen] = useState(false)
  return (
    <Card title={<Trans>Delete what is kept</Trans>}>
      <p className="mb-3 max-w-2xl text-text-2">
        <Trans>
          Bodies, their media and the data that sealed them are deleted at once. Usage and receipts
          stay: they hold no text.
        </Trans>
      </p>
      <Button variant="danger" icon="trash" onClick={() => setOpen(true)}>
        <Trans>Delete all my messages</Trans>
      </Button>
      {isOpen && (
        <Confirm
          title={<Trans>Delete all my messages?</Trans>}
          action={t`Delete all my messages`}
          typed={t`delete`}
          onConfirm={async () => {
            await change('delete', '/api/history', { params: { query: { all: true } } })
            if (me) forgetConversations(me.id)
            showToast({ text: t`Your messages were deleted.`, tone: 'info' })
          }}
          onClose={() => setOpen(false)}
        >
          <p>
            <Trans>This cannot be undone.</Trans>
          </p>
        </Confirm>
      )}
    </Card>
  )
}
