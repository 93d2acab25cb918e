// A code that is worth credit, redeemed for the account.

import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { change, type Reply } from '../../api/client.ts'
import { refreshMoney } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { ProblemLine } from '../../ui/state.tsx'
import { sameFields, useRefusal } from '../../ui/use-refusal.ts'
import { Money } from '../../ui/values.tsx'

const fieldOf = sameFields('code')

export function Redeem({ account }: { readonly account: string }) {
  const form = useForm({ defaultValues: { code: '' } })
  const { register, handleSubmit, reset, formState } = form
  const { problem, attempt } = useRefusal(form, fieldOf)
  const [done, setDone] = useState<Reply<'post', '/api/redeem'> | null>(null)
  async function submit({ code }: { readonly code: string }) {
    setDone(null)
    await attempt(async () => {
      setDone(await change('post', '/api/redeem', { body: { code: code.trim(), account } }))
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
            {...register('code', { required: true })}
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
