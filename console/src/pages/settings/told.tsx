// The notices of an account, newest first, with whether the webhook accepted each.

import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { change, get, type Shape } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { moreOf, ShowMore } from '../../ui/table.tsx'
import { Money, Status, Time } from '../../ui/values.tsx'

type Notice = Shape<'AlertNotice'>

const path = '/api/me/notices'

export function Told() {
  const client = useQueryClient()
  const notices = useInfiniteQuery({
    queryKey: [path, 'all'],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: 50, ...(pageParam && { cursor: pageParam }) }
      return get(path, { params: { query } }, signal)
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
  const markRead = useMutation({
    mutationFn: () => change('post', '/api/me/notices/read', { body: {} }),
    onSuccess: () => client.invalidateQueries({ queryKey: [path] }),
  })
  const unread = notices.data?.pages[0]?.unread ?? 0
  return (
    <Card
      title={<Trans>What you were told</Trans>}
      actions={
        unread > 0 && (
          <Button busy={markRead.isPending} onClick={() => markRead.mutate()}>
            <Trans>Mark all as read</Trans>
          </Button>
        )
      }
    >
      <Widget query={notices} skeleton={<Skeleton rows={3} />}>
        {({ pages }) => <List items={pages.flatMap(({ items }) => items)} />}
      </Widget>
      <ShowMore more={moreOf(notices)} />
    </Card>
  )
}

function List({ items }: { readonly items: readonly Notice[] }) {
  if (items.length === 0) return <Empty title={<Trans>You have had no warnings yet.</Trans>} />
  return (
    <ul className="flex flex-col divide-y divide-border">
      {items.map((each) => (
        <li key={each.id} className="flex flex-wrap items-baseline gap-x-4 gap-y-1 py-2">
          <span className={`min-w-0 flex-1 ${each.readAt === null ? 'font-medium' : ''}`}>
            <Sentence notice={each} />
            {each.readAt === null && (
              <span className="sr-only">
                {' '}
                <Trans>not read yet</Trans>
              </span>
            )}
          </span>
          {each.mail !== null && <Delivery {...each.mail} by="mail" />}
          {each.delivery !== null && <Delivery {...each.delivery} by="webhook" />}
          <span className="text-text-2">
            <Time relative at={each.at} />
          </span>
        </li>
      ))}
    </ul>
  )
}

/** In the reader's language: the value and the limit that was set. */
function Sentence({ notice }: { readonly notice: Notice }) {
  const { rule, currency, valueNano, limitNano, valuePercent, limitPercent, keyName } = notice
  if (
    (rule === 'low_balance' || rule === 'day_spend') &&
    valueNano !== null &&
    limitNano !== null
  ) {
    const value = <Money down nano={valueNano} currency={currency} />
    const limit = <Money nano={limitNano} currency={currency} />
    return rule === 'low_balance' ? (
      <Trans>
        {value} is left, less than {limit}.
      </Trans>
    ) : (
      <Trans>
        {value} was spent in the day, more than {limit}.
      </Trans>
    )
  }
  if (rule === 'key_limit')
    return (
      <Trans>
        The key {keyName} has spent {valuePercent} % of its limit, {limitPercent} % or more.
      </Trans>
    )
  if (rule === 'error_rate')
    return (
      <Trans>
        {valuePercent} % of {notice.requests} requests of an hour failed, {limitPercent} % or more.
      </Trans>
    )
  return <OrderSentence notice={notice} />
}

function OrderSentence({ notice }: { readonly notice: Notice }) {
  const { rule, currency, valueNano, orderId } = notice
  if (valueNano === null || orderId === null) return notice.text
  const value = <Money nano={valueNano} currency={currency} />
  if (rule === 'order_late')
    return (
      <Trans>
        The payment of order {orderId} came after it had ended: {value} was credited.
      </Trans>
    )
  if (rule === 'order_refunded')
    return (
      <Trans>
        {value} of order {orderId} was refunded.
      </Trans>
    )
  if (rule === 'top_up_stopped')
    return (
      <Trans>The automatic top-up of {value} was refused: it is off until you turn it on.</Trans>
    )
  return notice.text
}

interface DeliveryProps extends NonNullable<Notice['delivery']> {
  readonly by: 'mail' | 'webhook'
}

function Delivery({ by, state, attempts, failure }: DeliveryProps) {
  const { t } = useLingui()
  const isMail = by === 'mail'
  const words = {
    waiting: isMail ? t`to be mailed` : t`to be posted`,
    delivered: isMail ? t`mailed` : t`posted`,
    failed: isMail ? t`not mailed` : t`not taken`,
  }
  const tones = { waiting: 'pending', delivered: 'ok', failed: 'failed' } as const
  return (
    <span title={failure ?? undefined}>
      <Status tone={tones[state]}>
        {words[state]}
        {attempts > 1 && ` × ${attempts}`}
      </Status>
      {failure !== null && state !== 'delivered' && (
        <span className="text-label font-normal text-text-2"> {failure}</span>
      )}
    </span>
  )
}
