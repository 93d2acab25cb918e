// How each provider's messages reach this deployment: recent ones, waiting orders, and a test of the address.

import { Trans } from '@lingui/react/macro'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { change, read, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { useProviderName } from '../../ui/provider-name.tsx'
import { Below, Empty, ProblemLine, Skeleton, Widget } from '../../ui/state.tsx'
import { Copy, None, Status, Time } from '../../ui/values.tsx'
import { CallbackFinding } from './callback-finding.tsx'

type Health = Shape<'PaymentHealth'>['providers'][number]

/** `children`: what stands below it. */
export function CallbacksCard({ children }: { readonly children: ReactNode }) {
  const health = useQuery({ ...read('/api/payments/health'), refetchInterval: 30_000 })
  return (
    <>
      <Card title={<Trans>Messages from providers</Trans>}>
        <Widget query={health} skeleton={<Skeleton rows={3} />}>
          {({ providers, mode }) =>
            providers.length === 0 ? (
              <Empty title={<Trans>No provider of payment is configured.</Trans>} />
            ) : (
              <ul className="divide-y divide-border">
                {providers.map((each) => (
                  <Provider key={each.name} health={each} isPlay={mode === 'play'} />
                ))}
              </ul>
            )
          }
        </Widget>
      </Card>
      <Below isReady={!health.isPending}>{children}</Below>
    </>
  )
}

interface ProviderProps {
  readonly health: Health
  readonly isPlay: boolean
}

function Provider({ health, isPlay }: ProviderProps) {
  const nameOf = useProviderName()
  const { admin } = roleOf(useMe())
  const { name, address } = health
  const test = useMutation({
    mutationFn: () =>
      change('post', '/api/payments/{provider}/self-test', {
        params: { path: { provider: name } },
      }),
  })
  return (
    <li className="flex flex-col gap-3 py-4 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h3 className="text-section">{nameOf(name)}</h3>
        <span className="flex min-w-0 items-center gap-1">
          <code className="min-w-0 font-mono text-code break-all">{address}</code>
          <Copy text={address} />
        </span>
        {admin && (
          <span className="md:ml-auto">
            <Button icon="refresh" busy={test.isPending} onClick={() => test.mutate()}>
              <Trans>Test the address</Trans>
            </Button>
          </span>
        )}
      </div>
      <Facts health={health} />
      <div aria-live="polite">
        {test.data !== undefined && !test.isPending && (
          <CallbackFinding test={test.data} name={nameOf(name)} isPlay={isPlay} />
        )}
        {test.error !== null && <ProblemLine error={test.error} />}
      </div>
    </li>
  )
}

function Facts({ health }: { readonly health: Health }) {
  const { name, receivedAt, refusedAt, problem, creditedAt, open, stuck } = health
  return (
    <dl className="grid grid-cols-1 gap-x-6 gap-y-3 md:grid-cols-2 lg:grid-cols-4">
      <Fact name={<Trans>Last message</Trans>}>
        {receivedAt === null ? <Trans>none yet</Trans> : <Time at={receivedAt} />}
      </Fact>
      <Fact name={<Trans>Last one refused</Trans>}>
        {refusedAt === null ? <None /> : <Time at={refusedAt} />}
        {problem !== null && (
          <span className="block text-label font-normal break-words text-text-2">{problem}</span>
        )}
      </Fact>
      <Fact name={<Trans>Last order credited</Trans>}>
        {creditedAt === null ? <None /> : <Time at={creditedAt} />}
      </Fact>
      <Fact name={<Trans>Orders not ended</Trans>}>
        <span className="tabular">{open}</span>
        {stuck > 0 && (
          <Link
            to="/admin/payments"
            search={{ stuck: true, provider: name as 'alipay' }}
            className="block"
          >
            <Status tone="warning">
              <Trans>{stuck} for more than two minutes</Trans>
            </Status>
          </Link>
        )}
      </Fact>
    </dl>
  )
}

function Fact({ name, children }: { readonly name: ReactNode; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-label text-text-2">{name}</dt>
      <dd className="mt-1">{children}</dd>
    </div>
  )
}
