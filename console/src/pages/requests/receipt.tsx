// The cost of the request, line by line, added up again here: count x price x multiplier, to the last digit.

import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { exactMoney } from '../../format.ts'
import { Icon } from '../../ui/icon.tsx'
import { useLineName } from '../../ui/model-prices.tsx'
import { Count, Money, Status } from '../../ui/values.tsx'
import type { RequestDetail } from './drawer.tsx'

export function Receipt({ request }: { readonly request: RequestDetail }) {
  const { receipt, currency } = request
  const { i18n } = useLingui()
  if (receipt === null)
    return (
      <Section title={<Trans>Receipt</Trans>}>
        <p className="text-text-2">
          {request.chargeNano === '0' ? (
            <Trans>
              It was refused before it had a price: nothing was held and nothing charged.
            </Trans>
          ) : (
            <Trans>The prices that it was charged by are not known here, so it has no lines.</Trans>
          )}
        </p>
      </Section>
    )
  const money = (nano: string) => exactMoney(nano, currency, i18n.locale)
  return (
    <Section title={<Trans>Receipt</Trans>}>
      {receipt.lines.length === 0 && receipt.totalNano === '0' ? (
        <p className="text-text-2">
          <Trans>Nothing was used, so nothing was charged: what was held was given back.</Trans>
        </p>
      ) : (
        <>
          <Lines receipt={receipt} money={money} />
          <p className="mt-2">
            <Check receipt={receipt} />
          </p>
        </>
      )}
      <Around request={request} receipt={receipt} money={money} />
    </Section>
  )
}

type Known = NonNullable<RequestDetail['receipt']>

interface PartProps {
  readonly receipt: Known
  readonly money: (nano: string) => string
}

function Lines({ receipt, money }: PartProps) {
  const { i18n } = useLingui()
  return (
    <table className="w-full text-cell">
      <thead>
        <tr className="border-b border-border text-label text-text-2">
          <th scope="col" className="py-1 text-left">
            <Trans>What</Trans>
          </th>
          <th scope="col" className="text-right">
            <Trans>Count</Trans>
          </th>
          <th scope="col" className="text-right">
            <Trans>Per million</Trans>
          </th>
          <th scope="col" className="text-right">
            <Trans>Amount</Trans>
          </th>
        </tr>
      </thead>
      <tbody>
        {receipt.lines.map((line) => (
          <tr key={line.item} className="border-b border-border">
            <td className="py-1.5" title={line.item}>
              <LineName item={line.item} />
            </td>
            <td className="text-right">{BigInt(line.count).toLocaleString(i18n.locale)}</td>
            <td className="text-right">{money(line.priceNano)}</td>
            <td className="text-right">{money(line.amountNano)}</td>
          </tr>
        ))}
        <Sum name={<Trans>Rounding, up once</Trans>} amount={money(receipt.roundingNano)} />
        <Sum strong name={<Trans>Total</Trans>} amount={money(receipt.totalNano)} />
      </tbody>
    </table>
  )
}

/** The name of a kind of token or unit, with the prompt length if the price depends on it: `input>200000`. */
function LineName({ item }: { readonly item: string }) {
  const lineName = useLineName()
  const above = item.split('>')[1]
  return (
    <>
      {lineName(item)}
      {above !== undefined && (
        <span className="ml-2 text-text-2">
          <Trans>
            of prompts above <Count pad={false} value={Number(above)} />
          </Trans>
        </span>
      )}
    </>
  )
}

/** The end of a request and its entry in the ledger are seldom further apart; the page lists the newest of the range. */
const entryWithinMs = 60_000

/** Details of the sum: the price version, the hold, and the ledger entry. */
function Around({ request, receipt, money }: PartProps & { readonly request: RequestDetail }) {
  const { currency, account, vendorCostNano } = request
  const endMs = Date.parse(request.at) + request.durationMs
  return (
    <dl className="mt-3 grid grid-cols-2 gap-x-6 gap-y-1 text-cell">
      <Pair name={<Trans>Group’s multiplier</Trans>}>× {receipt.multiplier}</Pair>
      <Pair name={<Trans>Prices</Trans>}>
        <Trans>
          {receipt.pricedAs}, version {receipt.priceVersion}
        </Trans>
      </Pair>
      <Pair name={<Trans>Held at most</Trans>}>{money(receipt.heldNano)}</Pair>
      <Pair name={<Trans>Given back</Trans>}>{money(receipt.releasedNano)}</Pair>
      <Pair name={<Trans>Charged</Trans>}>{money(receipt.chargeNano)}</Pair>
      {receipt.writeoffNano !== '0' && (
        <Pair name={<Trans>Written off, since the wallet was empty</Trans>}>
          {money(receipt.writeoffNano)}
        </Pair>
      )}
      {vendorCostNano !== undefined && (
        <Pair name={<Trans>The vendor’s cost</Trans>}>
          <Money exact nano={vendorCostNano} currency={currency} />
        </Pair>
      )}
      {receipt.entry !== null && (
        <Pair name={<Trans>In the ledger</Trans>}>
          <Link
            to="/billing"
            search={{
              account,
              entry: receipt.entry,
              since: request.at,
              until: new Date(endMs + entryWithinMs).toISOString(),
            }}
          >
            <Trans>Show the entry</Trans>
          </Link>
        </Pair>
      )}
    </dl>
  )
}

/** Adds up and multiplies the lines in this browser: the shown result must equal the charge. */
function Check({ receipt }: { readonly receipt: Known }) {
  const sum = receipt.lines.reduce((total, { amountNano }) => total + BigInt(amountNano), 0n)
  const total = BigInt(receipt.totalNano)
  const isRight =
    sum + BigInt(receipt.roundingNano) === total &&
    total === BigInt(receipt.chargeNano) + BigInt(receipt.writeoffNano) &&
    receipt.lines.every((line) => amountOf(line, receipt.multiplier) === BigInt(line.amountNano))
  return isRight ? (
    <span className="inline-flex items-center gap-1.5 text-success">
      <Icon name="check" />
      <Trans>Recomputed in this browser: it is the same to the last digit.</Trans>
    </span>
  ) : (
    <Status tone="failed">
      <Trans>Recomputed in this browser, it differs. Tell your operator the request id.</Trans>
    </Status>
  )
}

/** Count x price per million x multiplier, rounded down to the nano-unit. */
function amountOf({ count, priceNano }: Known['lines'][number], multiplier: string): bigint {
  const [whole = '0', decimals = ''] = multiplier.split('.')
  const scale = 10n ** BigInt(decimals.length)
  return (BigInt(count) * BigInt(priceNano) * BigInt(whole + decimals)) / (1_000_000n * scale)
}

function Sum({
  name,
  amount,
  strong = false,
}: {
  name: ReactNode
  amount: string
  strong?: boolean
}) {
  return (
    <tr className={strong ? 'font-semibold' : 'text-text-2'}>
      <td className="py-1.5" colSpan={3}>
        {name}
      </td>
      <td className="text-right">{amount}</td>
    </tr>
  )
}

function Pair({ name, children }: { readonly name: ReactNode; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-text-2">{name}</dt>
      <dd className="text-right">{children}</dd>
    </>
  )
}

export function Section({
  title,
  children,
}: {
  readonly title: ReactNode
  readonly children: ReactNode
}) {
  return (
    <section className="min-w-0">
      <h3 className="mb-2 text-section">{title}</h3>
      {children}
    </section>
  )
}
