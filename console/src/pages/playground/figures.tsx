// The time and cost of one message, as the gateway recorded them: nothing here is estimated.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { read } from '../../api/client.ts'
import { useBalance } from '../../api/queries.ts'
import { rateText } from '../../format.ts'
import { Count, Duration, Money } from '../../ui/values.tsx'
import { replyTokens, tokensPerSecond, totalTokens } from '../requests/counts.ts'
import { useCurrency } from '../requests/currency.ts'

/** A record exists within a second of its request's end; a later one is queried at growing intervals. */
const everyMs = 300
const lateMs = 12_000

export function Figures({ requestId }: { readonly requestId: string }) {
  const currency = useCurrency()
  const balance = useBalance()
  const [beganMs] = useState(Date.now)
  const isLate = useIsLate()
  const query = useQuery({
    ...read('/api/requests', { params: { query: { id: requestId, limit: 1 } } }),
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) =>
      (state.data?.items.length ?? 0) > 0 ? false : Math.max(everyMs, (Date.now() - beganMs) / 10),
    select: ({ items }) => items[0],
  })
  const record = query.data
  if (record === undefined || balance.data === undefined)
    return (
      <p role="status" className="flex flex-wrap gap-x-3 text-label font-normal text-text-3">
        {query.error !== null ? (
          <Trans>The cost cannot be read at the moment.</Trans>
        ) : isLate ? (
          <Trans>The gateway has no record of this request yet.</Trans>
        ) : (
          <Trans>The cost is shown as soon as the request is recorded.</Trans>
        )}
        {(isLate || query.error !== null) && (
          <Link to="/requests" search={{ open: requestId }}>
            <Trans>Open the request</Trans>
          </Link>
        )}
      </p>
    )
  const rate = tokensPerSecond(record)
  const [all, reply] = [totalTokens(record), replyTokens(record)]
  const { ttftMs, durationMs, chargeNano } = record
  return (
    <p className="flex flex-wrap gap-x-3 gap-y-0.5 text-label font-normal text-text-2">
      <Link
        to="/requests"
        search={{ open: requestId }}
        className="font-medium"
        data-cost-nano={chargeNano}
      >
        <Money exact nano={chargeNano} currency={currency} />
      </Link>
      {all > 0 && (
        <span>
          <Trans>
            <Count value={all - reply} /> in, <Count value={reply} /> out
          </Trans>
        </span>
      )}
      {ttftMs !== null && (
        <span>
          <Trans>
            first token <Duration ms={ttftMs} />
          </Trans>
        </span>
      )}
      <span>
        <Trans>
          total <Duration ms={durationMs} />
        </Trans>
      </span>
      {rate !== null && <Rate rate={rate} />}
    </p>
  )
}

function Rate({ rate }: { readonly rate: number }) {
  const { i18n } = useLingui()
  return (
    <span className="tabular">
      <Trans>{rateText(rate, i18n.locale)} tokens/s</Trans>
    </span>
  )
}

function useIsLate(): boolean {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), lateMs)
    return () => clearTimeout(timer)
  }, [])
  return isLate
}
