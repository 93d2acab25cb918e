// The balance, and how long it lasts at this week's pace, in words.

import { Plural, Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Shape } from '../../api/client.ts'
import { Card } from '../../ui/page.tsx'
import { Blank, Blanks } from '../../ui/state.tsx'
import { Money } from '../../ui/values.tsx'

type Overview = Shape<'Overview'>

export function BalanceCard({ overview }: { readonly overview: Overview }) {
  const { balance } = overview
  if (balance === null) return null
  const { availableNano, heldNano, currency } = balance
  return (
    <Frame
      balance={<Money down nano={availableNano} currency={currency} />}
      lasts={<Runway overview={overview} />}
      held={
        BigInt(heldNano) > 0n && (
          <Trans>
            <Money nano={heldNano} currency={currency} /> held for running requests
          </Trans>
        )
      }
    />
  )
}

export function BalanceBlank() {
  return (
    <Blanks>
      <Frame balance={<Blank width={120} />} lasts={<Blank width={240} />} held={false} />
    </Blanks>
  )
}

interface FrameProps {
  readonly balance: ReactNode
  readonly lasts: ReactNode
  readonly held: ReactNode
}

function Frame({ balance, lasts, held }: FrameProps) {
  return (
    <Card>
      <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1">
        <div>
          <h2 className="text-label text-text-2">
            <Trans>Balance</Trans>
          </h2>
          <p className="text-metric">{balance}</p>
        </div>
        <div className="text-right max-md:text-left">
          <p>{lasts}</p>
          <p className="mt-0.5 text-label font-normal text-text-2">
            {held !== false && <>{held} · </>}
            <Link to="/billing">
              <Trans>Billing</Trans>
            </Link>
          </p>
        </div>
      </div>
    </Card>
  )
}

function Runway({ overview: { balance, runwayDays } }: { readonly overview: Overview }) {
  if (balance !== null && BigInt(balance.availableNano) <= 0n)
    return (
      <span className="text-danger">
        <Trans>Nothing is left: requests are refused until it is topped up.</Trans>
      </span>
    )
  if (runwayDays === null) return <Trans>Nothing was spent in the last 7 days.</Trans>
  const hours = Math.max(1, Math.round(runwayDays * 24))
  if (runwayDays < 1)
    return (
      <span className="text-danger">
        <Plural
          value={hours}
          one="At this week’s pace it lasts about # hour."
          other="At this week’s pace it lasts about # hours."
        />
      </span>
    )
  if (runwayDays > 365) return <Trans>At this week’s pace it lasts more than a year.</Trans>
  return (
    <span className={runwayDays < 7 ? 'text-warning' : ''}>
      <Plural
        value={Math.floor(runwayDays)}
        one="At this week’s pace it lasts about # day."
        other="At this week’s pace it lasts about # days."
      />
    </span>
  )
}
