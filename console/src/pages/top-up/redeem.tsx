// A code that is worth credit, redeemed for the account.

import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { change, mayPass, type Reply } from '../../api/client.ts'
import { refreshMoney } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { ProblemLine } from '../../ui/state.tsx'
import { useIdempotencyKey } from '../../ui/use-idempotency-key.ts'
import { sameFields, useRefusal } from '../../ui/use-refusal.ts'
import { Money } from '../../ui/values.tsx'

const fieldOf = sameFields('code')

export function Redeem({ account }: { readonly account: string }) {
  const { t } = useLingui()
  const form = useForm({ defaultValues: { code: '' } })
  const { register, handleSubmit, reset, formState } = form
  const { problem, attempt } = useRefusal(form, fieldOf)
  const idempotencyKey = useIdempotencyKey()
  const [done, setDone] = useState<Reply<'post', '/api/redeem'> | null>(null)
  async function submit({ code }: { readonly code: string }) {
    setDone(null)
    const body = { code: code.trim(), account }
    await attempt(async () => {
      try {
        const once = { idempotencyKey: idempotencyKey.of(body) }
        setDone(await change('post', '/api/redeem', { body, ...once }))
      } catch (error) {
        // A lost answer is asked for again; after another the code itself cannot be credited twice.
        if (!mayPass(error)) idempotencyKey.renew()
        // An earlier attempt may have credited it.
        void refreshMoney()
        throw error
      }
      reset()
      await refreshMoney()
    })
  }
  return (
    <Card title={<Trans>Redeem a code</Trans>}>
      <form
        noValidate
        onSubmit={handleSubmit(submit)}
        className="flex max-w-[420px] flex-col gap-3"
      >
        <Field
          label={<Trans>Redemption code</Trans>}
          hint={<Trans>Twenty letters and digits; hyphens and case do not matter.</Trans>}
          error={formState.errors.code?.message}
        >
          <Input
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            {...register('code', { required: t`Enter the code.` })}
          />
        </Field>
        <Button type="submit" className="self-start" busy={formState.isSubmitting}>
          <Trans>Redeem</Trans>
        </Button>
        <div aria-live="polite">
          {done !== null && (
            <p className="text-success">
              <Trans>
                <Money nano={done.amountNano} currency={done.currency} /> was credited.
              </Trans>
            </p>
          )}
        </div>
        {problem !== null && <ProblemLine error={problem} />}
      </form>
    </Card>
  )
}
