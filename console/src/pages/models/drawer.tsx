// One model beside the list: what it can, what each kind of token costs, how it does, and how its prices changed.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { read } from '../../api/client.ts'
import { useMe } from '../../api/queries.ts'
import { Buttons, buttonClass } from '../../ui/button.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { Skeleton, Widget } from '../../ui/state.tsx'
import { Badge, Count, Duration, Id, Money, None, Time } from '../../ui/values.tsx'
import { LinePrice, Measured, type Model } from './columns.tsx'

interface ModelDrawerProps {
  readonly id: string
  readonly group: string | undefined
  readonly onClose: () => void
  readonly onPrevious?: (() => void) | undefined
  readonly onNext?: (() => void) | undefined
}

export function ModelDrawer({ id, group, ...rest }: ModelDrawerProps) {
  const { t } = useLingui()
  const query = group === undefined ? {} : { group }
  const model = useQuery(read('/api/models/{id}', { params: { path: { id }, query } }))
  return (
    <Drawer {...rest} label={t`Model ${id}`} header={<Id whole value={id} />}>
      <Widget query={model} skeleton={<Skeleton rows={8} />}>
        {(data) => (
          <div className="flex flex-col gap-6">
            <Facts model={data} />
            <Prices model={data} />
            <History model={data} />
          </div>
        )}
      </Widget>
    </Drawer>
  )
}

function Facts({ model }: { readonly model: Model }) {
  const me = useMe()
  const { live } = model
  return (
    <>
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3 md:grid-cols-3">
        <Fact name={<Trans>Vendor</Trans>}>{model.vendor}</Fact>
        <Fact name={<Trans>Kind</Trans>}>
          <Badge>{model.kind}</Badge>
        </Fact>
        <Fact name={<Trans>Context</Trans>}>
          {model.context === null ? <None /> : <Count value={model.context} />}
        </Fact>
        <Fact name={<Trans>Longest answer</Trans>}>
          {model.maxOutput === null ? <None /> : <Count value={model.maxOutput} />}
        </Fact>
        <Fact name={<Trans>Takes</Trans>}>{model.inputs.join(', ')}</Fact>
        <Fact name={<Trans>Gives</Trans>}>{model.outputs.join(', ')}</Fact>
        <Fact name={<Trans>Tools</Trans>}>
          {model.tools === null ? (
            <Trans>not known</Trans>
          ) : model.tools ? (
            <Trans>yes</Trans>
          ) : (
            <Trans>no</Trans>
          )}
        </Fact>
        <Fact name={<Trans>First token, p50 and p95</Trans>}>
          <Measured sample={live?.ttft?.sample ?? 0}>
            <Duration ms={live?.ttft?.p50Ms ?? null} /> ·{' '}
            <Duration ms={live?.ttft?.p95Ms ?? null} />
          </Measured>
        </Fact>
        <Fact name={<Trans>Success, 24 h</Trans>}>
          <Measured sample={live?.success?.sample ?? 0}>
            {live?.success?.percent.toFixed(1)} %
          </Measured>
        </Fact>
        <Fact name={<Trans>Groups</Trans>}>{model.groups.join(', ')}</Fact>
        <Fact name={<Trans>Endpoints</Trans>}>
          <span className="font-mono text-code whitespace-normal">{model.endpoints.join(' ')}</span>
        </Fact>
      </dl>
      {me && (
        <Buttons>
          {['chat', 'image', 'speech'].includes(model.kind) && (
            <Link to="/playground" search={{ model: [model.id] }} className={buttonClass()}>
              <Trans>Try in the playground</Trans>
            </Link>
          )}
          <Link to="/get-started" className={buttonClass()}>
            <Trans>Set up a client</Trans>
          </Link>
          <Link to="/requests" search={{ model: model.id }} className={buttonClass()}>
            <Trans>Requests to it</Trans>
          </Link>
        </Buttons>
      )}
    </>
  )
}

interface FactProps {
  readonly name: ReactNode
  readonly children: ReactNode
}

function Fact({ name, children }: FactProps) {
  return (
    <div className="min-w-0">
      <dt className="text-label text-text-2">{name}</dt>
      <dd className="truncate">{children}</dd>
    </div>
  )
}

function Prices({ model }: { readonly model: Model }) {
  const { price, currency, group } = model
  return (
    <section>
      <h3 className="text-section">
        <Trans>Prices of the group {group}, for a million</Trans>
      </h3>
      <table className="mt-2 w-full text-cell">
        <tbody>
          {price.lines.map((line) => (
            <tr
              key={`${line.name} ${line.above}`}
              className="border-b border-border last:border-b-0"
            >
              <th scope="row" className="py-1.5 text-left font-normal">
                {line.name}
                {line.above > 0 && (
                  <span className="ml-2 text-text-2">
                    <Trans>
                      of prompts above <Count value={line.above} />
                    </Trans>
                  </span>
                )}
              </th>
              <td className="text-text-2">{line.unit}</td>
              <td className="text-right">
                <LinePrice line={line} currency={currency} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="mt-2 text-label font-normal text-text-2">
        <Trans>
          Version {price.version}, × {price.multiplier}, updated{' '}
          <Time relative at={price.updatedAt} />. A request is charged by the prices of the moment
          it was admitted.
        </Trans>
      </p>
    </section>
  )
}

function History({ model }: { readonly model: Model }) {
  const { t } = useLingui()
  const params = { path: { id: model.id }, query: { group: model.group, limit: 20 } }
  const changes = useQuery(read('/api/models/{id}/prices', { params }))
  const states = { scheduled: t`scheduled`, 'in force': t`in force`, past: t`past` }
  return (
    <section>
      <h3 className="mb-2 text-section">
        <Trans>How the prices changed</Trans>
      </h3>
      <Widget query={changes}>
        {({ items }) => (
          <ol className="flex flex-col gap-3">
            {items.map(({ version, from, state, steps }) => (
              <li key={version} className="text-cell">
                <span className="flex flex-wrap items-center gap-2">
                  <Badge
                    tone={state === 'past' ? 'neutral' : state === 'scheduled' ? 'info' : 'success'}
                  >
                    {states[state]}
                  </Badge>
                  <Time at={from} />
                </span>
                <ul className="mt-1 text-text-2">
                  {steps.map(({ name, beforeNano, afterNano, percent }) => (
                    <li key={name} className="tabular">
                      {name}: <Amount nano={beforeNano} currency={model.currency} /> →{' '}
                      <Amount nano={afterNano} currency={model.currency} />
                      {percent !== null && ` (${percent} %)`}
                    </li>
                  ))}
                </ul>
              </li>
            ))}
          </ol>
        )}
      </Widget>
    </section>
  )
}

function Amount({ nano, currency }: { readonly nano: string | null; readonly currency: string }) {
  return nano === null ? <None /> : <Money nano={nano} currency={currency} />
}
