// Webhooks of operators: the last message to each, and a test.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery } from '@tanstack/react-query'
import { change, read, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, ProblemText, Widget } from '../../ui/state.tsx'
import { Status, Time } from '../../ui/values.tsx'

type Webhook = Shape<'Webhook'>

export function Webhooks() {
  const webhooks = useQuery(read('/api/webhooks'))
  return (
    <Card title={<Trans>Webhooks</Trans>}>
      <Widget query={webhooks}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={<Trans>Nobody is notified when something needs an operator.</Trans>}>
              <Trans>
                Name an address under webhooks in the configuration file; docs/operators.md shows
                how.
              </Trans>
            </Empty>
          ) : (
            <ul className="flex flex-col divide-y divide-border">
              {items.map((webhook) => (
                <Row key={webhook.id} webhook={webhook} />
              ))}
            </ul>
          )
        }
      </Widget>
    </Card>
  )
}

function Row({ webhook }: { readonly webhook: Webhook }) {
  const { t } = useLingui()
  const { admin } = roleOf(useMe())
  const { id, address, events, waiting, last } = webhook
  const test = useMutation({
    mutationFn: () => change('post', '/api/webhooks/{id}/test', { params: { path: { id } } }),
  })
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 py-3 first:pt-0 last:pb-0">
      <div className="flex min-w-0 flex-1 basis-64 flex-col gap-1">
        <span className="font-medium">{id}</span>
        <span className="break-all font-mono text-code text-text-2">{address}</span>
        <span className="text-text-2">
          {events === null ? <Trans>Notified of everything</Trans> : events.join(', ')}
        </span>
        <Last last={last} waiting={waiting} />
        <div aria-live="polite">
          {test.error !== null && <ProblemText error={test.error} />}
          {test.data?.ok === true && (
            <Status tone="ok">
              <Trans>It was accepted.</Trans>
            </Status>
          )}
          {test.data?.ok === false && (
            <Status tone="failed">
              <span className="whitespace-normal break-words">
                <Trans>Not accepted:</Trans> {test.data.failure}
              </span>
            </Status>
          )}
        </div>
      </div>
      {admin && (
        <Button
          aria-label={t`Send a test to ${id}`}
          busy={test.isPending}
          onClick={() => test.mutate()}
        >
          <Trans>Send a test</Trans>
        </Button>
      )}
    </li>
  )
}

function Last({ last, waiting }: Pick<Webhook, 'last' | 'waiting'>) {
  if (last === null)
    return (
      <span className="text-text-2">
        <Trans>Nothing has been sent yet.</Trans>
      </span>
    )
  const { at, code, state, subject, delivery } = last
  return (
    <span className="flex flex-wrap items-baseline gap-x-2">
      <span>
        {state === 'resolved' ? <Trans>Last, over:</Trans> : <Trans>Last:</Trans>}{' '}
        <span className="font-mono text-code">
          {subject === null ? code : `${code} ${subject}`}
        </span>
      </span>
      <span className="text-text-2">
        <Time relative at={at} />
      </span>
      {delivery?.state === 'delivered' && (
        <Status tone="ok">
          <Trans>Taken</Trans>
        </Status>
      )}
      {delivery?.state === 'waiting' && (
        <Status tone="warning">
          <Trans>Waiting, {waiting} in all</Trans>
        </Status>
      )}
      {delivery?.state === 'failed' && (
        <Status tone="failed">
          <Trans>Given up</Trans>
        </Status>
      )}
      {delivery !== null && delivery.failure !== null && (
        <span className="break-words text-text-2">{delivery.failure}</span>
      )}
    </span>
  )
}
