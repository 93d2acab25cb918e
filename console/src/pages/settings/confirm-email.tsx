// The code that was mailed to an address, which proves that its owner reads it.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { change, type Shape } from '../../api/client.ts'
import { Button, Buttons } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { ProblemLine } from '../../ui/state.tsx'
import { showToast } from '../../ui/toast.tsx'

export function ConfirmEmail({ alerts }: { readonly alerts: Shape<'Alerts'> }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const [code, setCode] = useState('')
  const { email } = alerts
  const refresh = () => client.invalidateQueries({ queryKey: ['/api/me/alerts'] })
  const verify = useMutation({
    mutationFn: () => change('post', '/api/me/alerts/email/verify', { body: { code } }),
    onSuccess: refresh,
  })
  const again = useMutation({
    mutationFn: () => {
      const { lowBalanceNano, daySpendNano, timeZone, keyLimitPercent, errorRatePercent } = alerts
      const rules = { lowBalanceNano, daySpendNano, timeZone, keyLimitPercent, errorRatePercent }
      const body = { ...rules, webhook: alerts.webhook, newSecret: false, email, newCode: true }
      return change('put', '/api/me/alerts', { body, ifMatch: alerts.revision })
    },
    onSuccess: () => {
      showToast({ text: t`Another code was mailed.`, tone: 'info' })
      return refresh()
    },
  })
  const send = (event: FormEvent) => {
    event.preventDefault()
    verify.mutate()
  }
  const problem = verify.error ?? again.error
  return (
    <form
      className="mt-4 flex max-w-2xl flex-col gap-3 border-t border-border pt-4"
      onSubmit={send}
    >
      <Field label={t`Code that was mailed to ${email}`}>
        <Input
          autoComplete="one-time-code"
          required
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
      </Field>
      {problem !== null && <ProblemLine error={problem} />}
      <Buttons>
        <Button type="submit" variant="primary" busy={verify.isPending}>
          <Trans>Confirm</Trans>
        </Button>
        <Button busy={again.isPending} onClick={() => again.mutate()}>
          <Trans>Mail another code</Trans>
        </Button>
      </Buttons>
    </form>
  )
}
