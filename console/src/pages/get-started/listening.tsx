// The third step: the page waits for requests, turns green at the first successful one, and explains each mistake.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '../../api/client.ts'
import { buttonClass } from '../../ui/button.tsx'
import { ClientName } from '../../ui/client-name.tsx'
import { Failure } from '../../ui/state.tsx'
import { Badge, Duration, Money, Time } from '../../ui/values.tsx'
import { type Arrival, useArrivals } from './arrivals.ts'
import { Diagnosis } from './diagnosis.tsx'

/** `keyId`: the key that was made here, whose requests alone count; null: any key of the account. */
export function Listening({ keyId }: { readonly keyId: string | null }) {
  const { arrivals, isNew, isOpen, query } = useArrivals()
  // A key that was made here has no earlier requests.
  const own = arrivals.filter((each) => (keyId === null ? isNew(each) : each.keyId === keyId))
  const through = own.filter(({ code }) => code === 'ok').at(-1)
  const mistakes = arrivals.filter(({ code }) => code !== 'ok')
  return (
    <div className="flex flex-col gap-3">
      <div aria-live="polite">
        {through === undefined ? <Waiting isOpen={isOpen} /> : <Arrived arrival={through} />}
      </div>
      {query.error !== null && <Failure error={query.error} retry={() => void query.refetch()} />}
      {mistakes.length > 0 && <Mistakes mistakes={mistakes.slice(0, 8)} />}
    </div>
  )
}

function Waiting({ isOpen }: { readonly isOpen: boolean }) {
  return (
    <div className="flex items-center gap-3 rounded-card border border-border bg-sunken p-4">
      <span aria-hidden="true" className="relative flex size-2.5">
        {isOpen && (
          <span className="absolute inline-flex size-full animate-ping rounded-full bg-accent opacity-60" />
        )}
        <span
          className={`relative inline-flex size-2.5 rounded-full ${isOpen ? 'bg-accent' : 'bg-text-3'}`}
        />
      </span>
      <div>
        <p className="font-medium">
          {isOpen ? (
            <Trans>Listening for your first request</Trans>
          ) : (
            <Trans>Connecting to the gateway</Trans>
          )}
        </p>
        <p className="text-text-2">
          <Trans>
            Run what you copied. Each request is shown here within a second; if it is refused, with
            what to change.
          </Trans>
        </p>
      </div>
    </div>
  )
}

function Arrived({ arrival }: { readonly arrival: Arrival }) {
  const { requestId, model, userAgent } = arrival
  const detail = useQuery(read('/api/requests/{id}', { params: { path: { id: requestId } } }))
  const { data } = detail
  return (
    <div className="rounded-card border border-success/50 bg-success-tint p-4" data-arrived>
      <p className="flex flex-wrap items-center gap-x-2 text-section">
        <span aria-hidden="true" className="text-success">
          ●
        </span>
        <Trans>It works: your first request came through</Trans>
      </p>
      <dl className="mt-2 flex flex-wrap gap-x-8 gap-y-1">
        <Fact label={<Trans>Model</Trans>}>{model}</Fact>
        {data !== undefined && (
          <>
            <Fact label={<Trans>Cost</Trans>}>
              <Cost detail={data} />
            </Fact>
            <Fact label={<Trans>Took</Trans>}>
              <Duration ms={data.durationMs} />
            </Fact>
          </>
        )}
        {userAgent !== null && (
          <Fact label={<Trans>Client</Trans>}>
            <ClientName userAgent={userAgent} />
          </Fact>
        )}
      </dl>
      <p className="mt-3 flex flex-wrap gap-2">
        <Link to="/requests" search={{ open: requestId } as never} className={buttonClass()}>
          <Trans>See this request</Trans>
        </Link>
      </p>
    </div>
  )
}

function Cost({ detail }: { readonly detail: { readonly chargeNano: string } }) {
  const balance = useQuery(read('/api/balance'))
  if (balance.data === undefined) return null
  return <Money nano={detail.chargeNano} currency={balance.data.currency} />
}

function Fact({
  label,
  children,
}: {
  readonly label: React.ReactNode
  readonly children: React.ReactNode
}) {
  return (
    <div>
      <dt className="text-label text-text-2">{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Mistakes({ mistakes }: { readonly mistakes: readonly Arrival[] }) {
  const { t } = useLingui()
  return (
    <section aria-label={t`Setup doctor`} className="flex flex-col gap-2">
      <h3 className="text-section">
        <Trans>Setup doctor</Trans>
      </h3>
      <ul aria-live="polite" className="flex flex-col gap-2">
        {mistakes.map((arrival) => (
          <li
            key={arrival.requestId}
            className="rounded-card border border-warning/40 bg-warning-tint p-3"
          >
            <Diagnosis arrival={arrival} />
            <p className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1 text-label font-normal text-text-2">
              <Time at={arrival.at} relative />
              {arrival.method !== null && (
                <code className="font-mono break-all">
                  {arrival.method} {arrival.path}
                </code>
              )}
              <span>{arrival.status}</span>
              {arrival.userAgent !== null && <ClientName userAgent={arrival.userAgent} />}
              {arrival.by === 'address' && (
                <Badge>
                  <Trans>from your address: it may be somebody else's</Trans>
                </Badge>
              )}
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}
