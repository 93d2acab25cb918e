// The cost of the same requests today with another model or in another group: the saving for each key, or why it is
// unknown.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { read, readAll, type Shape } from '../../api/client.ts'
import { useAccount } from '../../app/account-scope.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Empty, Widget } from '../../ui/state.tsx'
import { type Column, DataTable } from '../../ui/table.tsx'
import { Count, Delta, Money, Time } from '../../ui/values.tsx'
import { type Asked, useChange } from './asked.ts'

type Answer = Shape<'WhatIf'>
type KeyRow = Answer['keys'][number]

const mostDaysMs = 90 * 86_400_000

/** The span of the page, or the latest part of it that the API prices. */
function spanOf({ range: { since, until } }: Asked) {
  const least = Date.parse(until) - mostDaysMs
  return Date.parse(since) >= least
    ? { since, until }
    : { since: new Date(least).toISOString(), until }
}

export function WhatIf({ asked }: { readonly asked: Asked }) {
  const { t } = useLingui()
  const change = useChange()
  const account = useAccount()
  const { toModel, toGroup } = asked.search
  const isAsked = toModel !== undefined || toGroup !== undefined
  const query = useQuery({
    ...read('/api/what-if', {
      params: {
        query: {
          ...spanOf(asked),
          ...(account !== undefined && { account }),
          ...(toModel !== undefined && { model: toModel }),
          ...(toGroup !== undefined && { group: toGroup }),
        },
      },
    }),
    enabled: isAsked,
    placeholderData: keepPreviousData,
  })
  return (
    <Drawer
      label={t`What if`}
      header={
        <h2 className="text-section">
          <Trans>What would it have cost?</Trans>
        </h2>
      }
      onClose={() => change({ whatif: undefined, toModel: undefined, toGroup: undefined })}
    >
      <div className="flex flex-col gap-5">
        <p className="text-text-2">
          <Trans>
            The same requests, priced again as they would be today: by another model, in another
            group, or both.
          </Trans>
        </p>
        <Targets asked={asked} />
        {isAsked ? (
          <Widget query={query}>{(answer) => <AnswerParts answer={answer} />}</Widget>
        ) : (
          <Empty title={<Trans>Choose a model or a group to compare with.</Trans>} />
        )}
      </div>
    </Drawer>
  )
}

function Targets({ asked }: { readonly asked: Asked }) {
  const { t } = useLingui()
  const change = useChange()
  const { toModel = '', toGroup = '' } = asked.search
  const models = useQuery({
    ...readAll('/api/models'),
    staleTime: 60_000,
  })
  const groups = useQuery({
    ...readAll('/api/groups'),
    staleTime: 60_000,
  })
  const names = (given: readonly { readonly id: string }[] | undefined, chosen: string) =>
    [...new Set([...(given ?? []).map(({ id }) => id), ...(chosen === '' ? [] : [chosen])])].map(
      (id) => (
        <option key={id} value={id}>
          {id}
        </option>
      ),
    )
  return (
    <div className="grid gap-3 md:grid-cols-2">
      <Field label={t`Model`}>
        <Select
          value={toModel}
          onChange={({ target }) => change({ toModel: target.value || undefined })}
        >
          <option value="">{t`The one each request asked for`}</option>
          {names(models.data?.items, toModel)}
        </Select>
      </Field>
      <Field label={t`Group`}>
        <Select
          value={toGroup}
          onChange={({ target }) => change({ toGroup: target.value || undefined })}
        >
          <option value="">{t`The one each request was in`}</option>
          {names(groups.data?.items, toGroup)}
        </Select>
      </Field>
    </div>
  )
}

function AnswerParts({ answer }: { readonly answer: Answer }) {
  const { t } = useLingui()
  const { total, currency, keys, unpriced } = answer
  const money = (nano: string) => <Money nano={nano} currency={currency} />
  const columns: readonly Column<KeyRow>[] = [
    { id: 'key', isLong: true, header: t`Key`, cell: ({ keyName }) => keyName },
    {
      id: 'requests',
      header: t`Requests`,
      align: 'right',
      cell: ({ requests }) => <Count value={requests} />,
    },
    { id: 'then', header: t`Then`, align: 'right', cell: ({ thenNano }) => money(thenNano) },
    { id: 'now', header: t`Instead`, align: 'right', cell: ({ nowNano }) => money(nowNano) },
    {
      id: 'difference',
      header: t`Difference`,
      align: 'right',
      cell: ({ differenceNano }) => money(differenceNano),
    },
  ]
  return (
    <div className="flex flex-col gap-5">
      <Verdict answer={answer} />
      <Covered answer={answer} />
      <div className="-mx-4 border-y border-border">
        <DataTable
          id="what-if"
          label={t`By key`}
          columns={columns}
          rows={keys}
          rowId={({ key }) => key}
          totals={{
            key: t`Total`,
            requests: <Count value={total.requests} />,
            then: money(total.thenNano),
            now: money(total.nowNano),
            difference: money(total.differenceNano),
          }}
          empty={<Empty title={<Trans>No request could be priced again.</Trans>} />}
          card={(row) => ({
            title: (
              <>
                {row.keyName}
                {money(row.differenceNano)}
              </>
            ),
            facts: [
              <Plural key="requests" value={row.requests} one="# request" other="# requests" />,
              money(row.thenNano),
              money(row.nowNano),
            ],
          })}
        />
      </div>
      {unpriced.length > 0 && <Unpriced answer={answer} />}
    </div>
  )
}

/** Which requests were priced again, and how reliable that is. */
function Covered({ answer }: { readonly answer: Answer }) {
  const { since, until, coveredSince, exact } = answer
  return (
    <p className="text-label font-normal text-text-2">
      <Time at={coveredSince ?? since} /> – <Time at={until} />
      {coveredSince !== null && (
        <>
          {' '}
          <Trans>Older requests were not included: there are too many.</Trans>
        </>
      )}
      {!exact && (
        <>
          {' '}
          <Trans>An estimate: another model would have counted tokens differently.</Trans>
        </>
      )}
    </p>
  )
}

function Verdict({ answer }: { readonly answer: Answer }) {
  const { total, currency } = answer
  const difference = BigInt(total.differenceNano)
  const size = <Money nano={difference < 0n ? -difference : difference} currency={currency} />
  if (total.requests === 0) return null
  return (
    <p className="text-section">
      {difference < 0n ? (
        <span className="text-success">
          <Trans>You would have saved {size}</Trans>
        </span>
      ) : difference > 0n ? (
        <span className="text-danger">
          <Trans>You would have paid {size} more</Trans>
        </span>
      ) : (
        <Trans>It would have cost the same</Trans>
      )}{' '}
      <span className="text-body font-normal">
        <Delta now={Number(total.nowNano)} before={Number(total.thenNano)} good="down" />
      </span>
    </p>
  )
}

/** What is not included in any sum, and why. */
function Unpriced({ answer: { unpriced, currency } }: { readonly answer: Answer }) {
  return (
    <section className="rounded-card bg-warning-tint p-3 text-cell">
      <h3 className="font-medium">
        <Trans>Not in these sums</Trans>
      </h3>
      <ul className="mt-1 flex list-disc flex-col gap-1 pl-5">
        {unpriced.map(({ reason, requests, thenNano }) => (
          <li key={reason}>
            {reason === 'model' ? (
              <Trans>Their group does not have the model:</Trans>
            ) : reason === 'group' ? (
              <Trans>Their group does not exist any more:</Trans>
            ) : reason === 'kind' ? (
              <Trans>The model does not answer such requests:</Trans>
            ) : (
              <Trans>The model has no price for something they used:</Trans>
            )}{' '}
            <Plural value={requests} one="# request" other="# requests" />
            {' · '}
            <Money nano={thenNano} currency={currency} />
          </li>
        ))}
      </ul>
    </section>
  )
}
