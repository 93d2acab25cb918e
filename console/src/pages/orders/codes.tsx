// Redemption codes: made in batches, shown once, and revoked.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import { change, Problem, randomId, read, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { fromLocalInput } from '../../app/range.ts'
import { isAmount, unitsOfNano } from '../../format.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { download } from '../../ui/download.ts'
import { Field, Input } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { refusalText } from '../../ui/refusal.ts'
import { ProblemLine, Skeleton, Widget } from '../../ui/state.tsx'
import { Copy, Id, Money, Time } from '../../ui/values.tsx'

type Batch = Shape<'RedemptionBatch'>

type NewBatch = Shape<'NewRedemptionBatch'>

const path = '/api/redemption-batches'

export function CodesCard() {
  const { admin } = roleOf(useMe())
  const [isMaking, setMaking] = useState(false)
  const batches = useQuery(read(path, { params: { query: { limit: 50 } } }))
  return (
    <Card
      title={<Trans>Redemption codes</Trans>}
      actions={
        admin && (
          <Button icon="plus" onClick={() => setMaking(true)}>
            <Trans>Make codes</Trans>
          </Button>
        )
      }
    >
      <Widget query={batches} skeleton={<Skeleton rows={2} />}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="text-text-2">
              <Trans>None were made so far.</Trans>
            </p>
          ) : (
            <ul className="flex flex-col">
              {items.map((batch) => (
                <BatchRow key={batch.id} batch={batch} />
              ))}
            </ul>
          )
        }
      </Widget>
      {isMaking && <MakeDialog onClose={() => setMaking(false)} />}
    </Card>
  )
}

function BatchRow({ batch }: { readonly batch: Batch }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const { admin } = roleOf(useMe())
  const [asks, setAsks] = useState(false)
  const { id, note, codes, redeemed, revokedAt, expiresAt } = batch
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 border-t border-border py-2 first:border-0">
      <span>
        <Money nano={batch.amountNano} currency={batch.currency} /> {note} <Id value={id} />
      </span>
      <span className="text-text-2">
        <Trans>
          {redeemed} of {codes} redeemed
        </Trans>
      </span>
      <span className="text-label font-normal text-text-3">
        {revokedAt !== null ? (
          <Trans>
            revoked <Time at={revokedAt} />
          </Trans>
        ) : (
          expiresAt !== null && (
            <Trans>
              until <Time at={expiresAt} />
            </Trans>
          )
        )}
      </span>
      {admin && revokedAt === null && redeemed < codes && (
        <Button variant="danger" onClick={() => setAsks(true)}>
          <Trans>Revoke</Trans>
        </Button>
      )}
      {asks && (
        <Confirm
          title={<Trans>Revoke what is left of this batch?</Trans>}
          action={t`Revoke`}
          onConfirm={async () => {
            await change('post', '/api/redemption-batches/{id}/revoke', {
              params: { path: { id } },
            })
            await client.invalidateQueries({ queryKey: [path] })
          }}
          onClose={() => setAsks(false)}
        >
          <Trans>Codes that were redeemed stay credited.</Trans>
        </Confirm>
      )}
    </li>
  )
}

function MakeDialog({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient()
  const [batch, setBatch] = useState<NewBatch | null>(null)
  if (batch === null)
    return (
      <MakeForm
        onMade={(made) => {
          setBatch(made)
          void client.invalidateQueries({ queryKey: [path] })
        }}
        onClose={onClose}
      />
    )
  const text = batch.secrets.join('\n')
  return (
    <Dialog
      keep
      title={<Trans>Save the codes</Trans>}
      onClose={onClose}
      footer={
        <Button variant="primary" onClick={onClose}>
          <Trans>I saved them</Trans>
        </Button>
      }
    >
      <p>
        <Trans>This is the only time they are shown.</Trans>
      </p>
      <pre className="mt-3 max-h-72 overflow-y-auto rounded-control bg-sunken p-3 font-mono text-code">
        {text}
      </pre>
      <div className="mt-2 flex items-center gap-2">
        <Copy text={text} />
        <Button onClick={() => download(`codes-${batch.id}.csv`, 'text/csv', csvOf(batch))}>
          <Trans>Download as CSV</Trans>
        </Button>
      </div>
    </Dialog>
  )
}

/** Notes are of people: one that a spreadsheet would take for a formula is taken for text. */
function csvOf({ secrets, amountNano, currency, expiresAt, note }: NewBatch): string {
  const text = `"${note.replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`
  const rest = [unitsOfNano(amountNano), currency, expiresAt ?? '', text].join(',')
  const lines = secrets.map((code) => `${code},${rest}`)
  return ['code,amount,currency,expires,note', ...lines].map((line) => `${line}\r\n`).join('')
}

interface Values {
  readonly codes: string
  readonly amount: string
  readonly note: string
  readonly expires: string
}

interface MakeFormProps {
  readonly onMade: (made: NewBatch) => void
  readonly onClose: () => void
}

function MakeForm({ onMade, onClose }: MakeFormProps) {
  const id = useId()
  const timeZone = useTimeZone()
  // One key for all tries of one form: an answer that was lost makes no second batch.
  const [idempotencyKey, setKey] = useState(randomId)
  const form = useForm<Values>({
    defaultValues: { codes: '10', amount: '', note: '', expires: '' },
  })
  const { handleSubmit, setError, formState } = form
  const make = useMutation({
    mutationFn: ({ codes, amount, note, expires }: Values) => {
      const expiresAt = fromLocalInput(expires, timeZone)
      const body = {
        codes: Number(codes),
        amount: amount.trim(),
        note,
        ...(expiresAt !== null && { expiresAt }),
      }
      return change('post', path, { body, idempotencyKey })
    },
    onSuccess: onMade,
    onError: (error) => {
      if (!(error instanceof Problem && error.status === 0)) setKey(randomId())
      const field = error instanceof Problem ? error.field : null
      if (field === 'codes' || field === 'amount' || field === 'note')
        setError(field, { message: refusalText(error) }, { shouldFocus: true })
      if (field === 'expiresAt') setError('expires', { message: refusalText(error) })
    },
  })
  return (
    <Dialog
      keep={formState.isDirty}
      title={<Trans>Make codes</Trans>}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button form={id} type="submit" variant="primary" busy={make.isPending}>
            <Trans>Make codes</Trans>
          </Button>
        </>
      }
    >
      <form
        id={id}
        noValidate
        onSubmit={handleSubmit((values) => make.mutate(values))}
        className="flex flex-col gap-4"
      >
        <Fields form={form} />
        {make.error !== null && !(make.error instanceof Problem && make.error.field !== null) && (
          <ProblemLine error={make.error} />
        )}
      </form>
    </Dialog>
  )
}

function Fields({ form }: { readonly form: UseFormReturn<Values> }) {
  const { t } = useLingui()
  const { register, formState } = form
  const { errors } = formState
  const timeZone = useTimeZone()
  return (
    <>
      <Field label={<Trans>How many</Trans>} error={errors.codes?.message}>
        <Input inputMode="numeric" {...register('codes')} />
      </Field>
      <Field
        label={<Trans>Worth of each</Trans>}
        hint={<Trans>In units of the currency, up to nine decimals.</Trans>}
        error={errors.amount?.message}
      >
        <Input
          inputMode="decimal"
          autoComplete="off"
          {...register('amount', {
            validate: (text) => isAmount(text, 9) || t`Write an amount such as 12.50.`,
          })}
        />
      </Field>
      <Field label={<Trans>Note</Trans>} error={errors.note?.message}>
        <Input maxLength={256} {...register('note')} />
      </Field>
      <Field
        label={<Trans>Expires</Trans>}
        hint={<Trans>Left empty: never. In the zone {timeZone}.</Trans>}
        error={errors.expires?.message}
      >
        <Input type="datetime-local" {...register('expires')} />
      </Field>
    </>
  )
}
