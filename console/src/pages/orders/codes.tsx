// Redemption codes: made in batches, shown once, and revoked.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import { change, readAll, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { fromLocalInput } from '../../app/range.ts'
import { unitsOfNano } from '../../format.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { amountRule, countRule, creditBounds } from '../../ui/bounds.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { download } from '../../ui/download.ts'
import { Field, Input } from '../../ui/field.tsx'
import { OnceDialog } from '../../ui/once-dialog.tsx'
import { Card } from '../../ui/page.tsx'
import { ProblemLine, Skeleton, Widget } from '../../ui/state.tsx'
import { useIdempotencyKey } from '../../ui/use-idempotency-key.ts'
import { useRefusal } from '../../ui/use-refusal.ts'
import { useTimeRule } from '../../ui/use-time-rule.ts'
import { Copy, Id, Money, Time } from '../../ui/values.tsx'

type Batch = Shape<'RedemptionBatch'>

type NewBatch = Shape<'NewRedemptionBatch'>

const path = '/api/redemption-batches'

export function CodesCard() {
  const { admin } = roleOf(useMe())
  const [isMaking, setMaking] = useState(false)
  const batches = useQuery(readAll(path))
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
      <span className="min-w-0 wrap-anywhere">
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
  const { t } = useLingui()
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
    <OnceDialog title={<Trans>Save the codes</Trans>} label={t`I saved them`} onClose={onClose}>
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
    </OnceDialog>
  )
}

/** Notes are written by people: one that a spreadsheet would read as a formula is marked as text. */
function csvOf({ secrets, amountNano, currency, expiresAt, note }: NewBatch): string {
  const text = `"${note.replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`
  const rest = [unitsOfNano(amountNano), currency, expiresAt ?? '', text].join(',')
  const lines = secrets.map((code) => `${code},${rest}`)
  // Without the mark, spreadsheets read it in the machine's own encoding.
  const head = '\ufeffcode,amount,currency,expires,note'
  return [head, ...lines].map((line) => `${line}\r\n`).join('')
}

interface Values {
  readonly codes: string
  readonly amount: string
  readonly note: string
  readonly expires: string
}

const mostCodes = 1_000

function fieldOf(field: string): keyof Values | null {
  if (field === 'expiresAt') return 'expires'
  return field === 'codes' || field === 'amount' || field === 'note' ? field : null
}

interface MakeFormProps {
  readonly onMade: (made: NewBatch) => void
  readonly onClose: () => void
}

function MakeForm({ onMade, onClose }: MakeFormProps) {
  const id = useId()
  const timeZone = useTimeZone()
  const idempotencyKey = useIdempotencyKey()
  const form = useForm<Values>({
    defaultValues: { codes: '10', amount: '', note: '', expires: '' },
  })
  const { handleSubmit, formState } = form
  const { problem, attempt } = useRefusal(form, fieldOf)
  async function make({ codes, amount, note, expires }: Values) {
    const expiresAt = fromLocalInput(expires, timeZone)
    const body = {
      codes: Number(codes),
      amount: amount.trim(),
      note,
      ...(expiresAt !== null && { expiresAt }),
    }
    onMade(await change('post', path, { body, idempotencyKey: idempotencyKey.of(body) }))
  }
  return (
    <Dialog
      keep={formState.isDirty}
      busy={formState.isSubmitting}
      title={<Trans>Make codes</Trans>}
      onClose={onClose}
      footer={
        <>
          <Button disabled={formState.isSubmitting} onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button form={id} type="submit" variant="primary" busy={formState.isSubmitting}>
            <Trans>Make codes</Trans>
          </Button>
        </>
      }
    >
      <form
        id={id}
        noValidate
        onSubmit={handleSubmit((values) => attempt(() => make(values)))}
        className="flex flex-col gap-4"
      >
        <Fields form={form} />
        {problem !== null && <ProblemLine error={problem} />}
      </form>
    </Dialog>
  )
}

function Fields({ form }: { readonly form: UseFormReturn<Values> }) {
  const { register, formState } = form
  const { errors } = formState
  const timeZone = useTimeZone()
  const time = useTimeRule()
  const expires = register('expires', time.rule)
  return (
    <>
      <Field label={<Trans>How many</Trans>} error={errors.codes?.message}>
        <Input
          inputMode="numeric"
          {...register('codes', countRule({ least: 1, most: mostCodes }))}
        />
      </Field>
      <Field
        label={<Trans>Worth of each</Trans>}
        hint={<Trans>In units of the currency, up to nine decimals.</Trans>}
        error={errors.amount?.message}
      >
        <Input
          inputMode="decimal"
          autoComplete="off"
          {...register('amount', amountRule(creditBounds))}
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
        <Input
          type="datetime-local"
          {...expires}
          ref={(field) => {
            expires.ref(field)
            time.element.current = field
          }}
        />
      </Field>
    </>
  )
}
