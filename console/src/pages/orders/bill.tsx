// A provider's bill of a day compared with the recorded payments; provable differences are repaired by querying the
// order.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { change, read, type Shape } from '../../api/client.ts'
import { refreshMoney, roleOf, useMe } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { useProviderName } from '../../ui/provider-name.tsx'
import { ProblemLine, Skeleton, Widget } from '../../ui/state.tsx'
import { Id } from '../../ui/values.tsx'

type Bill = Shape<'PaymentBill'>
type Difference = Bill['differences'][number]
type Asked = { readonly provider: 'alipay' | 'wechatpay' | 'stripe'; readonly day: string }

/** Yesterday in China's time zone, by which the bills are made. */
function yesterday(): string {
  return new Date(Date.now() + (8 - 24) * 3_600_000).toISOString().slice(0, 10)
}

export function BillCard() {
  const nameOf = useProviderName()
  const [provider, setProvider] = useState<Asked['provider']>('alipay')
  const [day, setDay] = useState(yesterday)
  const [asked, setAsked] = useState<Asked | null>(null)
  return (
    <Card title={<Trans>Compare with a provider’s bill</Trans>}>
      <div className="flex flex-col gap-4">
        <form
          className="flex flex-wrap items-end gap-3"
          onSubmit={(event) => {
            event.preventDefault()
            setAsked({ provider, day })
          }}
        >
          <Field label={<Trans>Provider</Trans>}>
            <Select
              value={provider}
              onChange={({ target }) => setProvider(target.value as Asked['provider'])}
            >
              <option value="alipay">{nameOf('alipay')}</option>
              <option value="wechatpay">{nameOf('wechatpay')}</option>
              <option value="stripe">{nameOf('stripe')}</option>
            </Select>
          </Field>
          <Field label={<Trans>Day (UTC+8)</Trans>}>
            <Input
              type="date"
              required
              max={yesterday()}
              value={day}
              onChange={({ target }) => setDay(target.value)}
            />
          </Field>
          <Button type="submit">
            <Trans>Compare</Trans>
          </Button>
        </form>
        {asked !== null && <Comparison key={`${asked.provider} ${asked.day}`} asked={asked} />}
      </div>
    </Card>
  )
}

function Comparison({ asked }: { readonly asked: Asked }) {
  const bill = useQuery({
    ...read('/api/payments/bill', { params: { query: asked } }),
    retry: false,
  })
  return (
    <Widget query={bill} skeleton={<Skeleton rows={2} />}>
      {(data) => (
        <div className="flex flex-col gap-3" aria-live="polite">
          <p className="text-text-2">
            <Trans>
              In the bill: <Plural value={data.payments} one="# payment" other="# payments" /> of{' '}
              {data.paid} {data.currency},{' '}
              <Plural value={data.refunds} one="# refund" other="# refunds" /> of {data.refunded}{' '}
              {data.currency}.
            </Trans>
          </p>
          {data.differences.length === 0 ? (
            <p className="text-success">
              <Trans>The bill and the ledger agree.</Trans>
            </p>
          ) : (
            <ul className="flex flex-col gap-3">
              {data.differences.map((difference) => (
                <Row key={JSON.stringify(difference)} bill={data} difference={difference} />
              ))}
            </ul>
          )}
          {data.moreDifferences > 0 && (
            <p className="text-text-2">
              <Trans>And {data.moreDifferences} more.</Trans>
            </p>
          )}
        </div>
      )}
    </Widget>
  )
}

interface RowProps {
  readonly bill: Bill
  readonly difference: Difference
}

function Row({ bill, difference }: RowProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const { admin } = roleOf(useMe())
  const { kind, orderId, billed, booked, isOrder } = difference
  const names: Readonly<Record<Difference['kind'], string>> = {
    payment_not_booked: t`Paid at the provider, not credited here`,
    payment_not_billed: t`Credited here, not in the bill`,
    refund_not_booked: t`Refunded at the provider, not here`,
    refund_not_billed: t`Refunded here, not in the bill`,
    amount: t`Another amount`,
  }
  const asked = useMutation({
    mutationFn: () =>
      change('post', '/api/orders/{id}/check', { params: { path: { id: orderId } } }),
    onSettled: () =>
      Promise.all([refreshMoney(), client.invalidateQueries({ queryKey: ['/api/payments/bill'] })]),
  })
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 border-t border-border pt-3">
      <span>
        {names[kind]} <Id value={orderId} />
      </span>
      <span className="tabular text-text-2">
        <Trans>
          bill {billed ?? '–'}, booked {booked ?? '–'} {bill.currency}
        </Trans>
      </span>
      {admin && kind === 'payment_not_booked' && isOrder && (
        <Button busy={asked.isPending} onClick={() => asked.mutate()}>
          <Trans>Ask the provider and credit it</Trans>
        </Button>
      )}
      {asked.error !== null && <ProblemLine wide error={asked.error} />}
    </li>
  )
}
