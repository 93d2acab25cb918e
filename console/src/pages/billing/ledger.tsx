// Every movement of a wallet, newest first, with the balance after it and its reason.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { get, type Shape } from '../../api/client.ts'
import { useListBounds } from '../../app/list-bounds.ts'
import type { RangeSearch } from '../../app/range.ts'
import { Actor } from '../../ui/actor.tsx'
import { ColumnChooser } from '../../ui/columns.tsx'
import { Card } from '../../ui/page.tsx'
import { ReceiptLink } from '../../ui/receipt-link.tsx'
import { Below, Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { type Column, DataTable, moreOf } from '../../ui/table.tsx'
import { Copy, Id, Money, ShortId, Time } from '../../ui/values.tsx'

type Entry = Shape<'LedgerEntry'>

const kinds: Readonly<Record<string, MessageDescriptor>> = {
  opening: msg`Opening balance`,
  topup: msg`Top-up`,
  bonus: msg`Bonus`,
  adjust: msg`Adjustment`,
  usage: msg`Request`,
  writeoff: msg`Written off`,
  refund: msg`Refund`,
  refund_undone: msg`Refund taken back`,
  clawback: msg`Bonus taken back`,
  clawback_undone: msg`Bonus given again`,
  expiry: msg`Bonus expired`,
  redeem: msg`Redeemed code`,
}

interface LedgerProps {
  readonly account: string
  readonly search: RangeSearch
  readonly entry: string | undefined
  /** What stands below it. */
  readonly children: ReactNode
}

export function Ledger({ account, search, entry, children }: LedgerProps) {
  const { t } = useLingui()
  const bounds = useListBounds(search, '30d')
  const entries = useInfiniteQuery({
    queryKey: ['/api/ledger', { account, ...bounds }],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        account,
        ...bounds,
        limit: 100,
        ...(pageParam !== '' && { cursor: pageParam }),
      }
      return get('/api/ledger', { params: { query } }, signal)
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
  })
  const columns = useColumns()
  const rows = useMemo(
    () => entries.data?.pages.flatMap(({ items }) => items) ?? [],
    [entries.data],
  )
  const more = moreOf(entries)
  return (
    <>
      <Card
        flush
        title={<Trans>Ledger</Trans>}
        actions={<ColumnChooser id="ledger" columns={columns} />}
      >
        <Widget query={entries} skeleton={<Skeleton rows={8} />}>
          {() => (
            <DataTable
              id="ledger"
              label={t`Ledger`}
              columns={columns}
              rows={rows}
              rowId={({ id }) => id}
              openId={entry}
              more={more}
              height="70vh"
              firstCards={10}
              empty={
                <Empty title={<Trans>No movement of money in this time.</Trans>}>
                  <Trans>Charges of requests, credits and adjustments appear here.</Trans>
                </Empty>
              }
              card={cardOf}
            />
          )}
        </Widget>
      </Card>
      <Below isReady={!entries.isPending}>{children}</Below>
    </>
  )
}

function cardOf(row: Entry) {
  return {
    title: (
      <>
        <Kind code={row.code} />
        <Effect entry={row} />
      </>
    ),
    facts: [
      <Time key="at" at={row.at} />,
      <Reason key="reason" entry={row} />,
      <Trans key="after">
        Balance after <Money exact nano={row.balanceNano} currency={row.currency} />
      </Trans>,
    ],
  }
}

function useColumns(): readonly Column<Entry>[] {
  const { t } = useLingui()
  return useMemo(
    () => [
      { id: 'at', header: t`Time`, cell: ({ at }) => <Time at={at} brief />, width: 144 },
      { id: 'code', header: t`Kind`, cell: ({ code }) => <Kind code={code} /> },
      { id: 'reason', isLong: true, header: t`For`, cell: (entry) => <Reason entry={entry} /> },
      {
        id: 'effect',
        header: t`Amount`,
        align: 'right',
        cell: (entry) => <Effect entry={entry} />,
      },
      {
        id: 'balance',
        header: t`Balance after`,
        align: 'right',
        cell: ({ balanceNano, currency }) => <Money exact nano={balanceNano} currency={currency} />,
      },
      {
        id: 'actor',
        isLong: true,
        header: t`By`,
        optional: true,
        cell: ({ actor }) => <Actor actor={actor} />,
      },
      { id: 'id', header: t`Entry`, optional: true, cell: ({ id }) => <Id value={id} /> },
    ],
    [t],
  )
}

function Kind({ code }: { readonly code: string }) {
  const { t } = useLingui()
  const kind = kinds[code]
  return kind === undefined ? code : t(kind)
}

function Effect({ entry }: { readonly entry: Entry }) {
  const isGain = !entry.effectNano.startsWith('-')
  return (
    <span className={isGain ? 'text-success' : ''}>
      {isGain && '+'}
      <Money exact nano={entry.effectNano} currency={entry.currency} />
    </span>
  )
}

/** Of a charge the request, of a payment the order, as links; of others the reason. */
function Reason({ entry }: { readonly entry: Entry }) {
  if (entry.requestId !== null)
    return (
      <span className="inline-flex items-center gap-1">
        <Link to="/requests" search={{ open: entry.requestId }}>
          <ShortId value={entry.requestId} />
        </Link>
        <Copy text={entry.requestId} />
      </span>
    )
  const order = /^order (\w+)$/.exec(entry.reason ?? '')?.[1]
  if (order !== undefined)
    return (
      <span className="inline-flex items-center gap-1">
        <Link to="/billing/orders" search={{ open: order }}>
          <ShortId value={order} />
        </Link>
        <Copy text={order} />
        {entry.code === 'topup' && <ReceiptLink order={order} />}
      </span>
    )
  return <span title={entry.reason ?? undefined}>{entry.reason ?? ''}</span>
}
