// The facts of a channel, the state of it and each of its keys, and its recent requests.

import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Actor } from '../../ui/actor.tsx'
import { Buttons, buttonClass } from '../../ui/button.tsx'
import { Copy, Count, Duration, Money, None, Percent, Status, Time } from '../../ui/values.tsx'
import { vendorName } from '../../ui/vendor-name.ts'
import { AskBalance } from './ask-balance.tsx'
import { type Channel, isStored } from './channels.ts'
import { Balance, Groups, LastTest, PerMinute, Reason, Running } from './columns.tsx'
import { Fact, FactList, Note, Section } from './parts.tsx'
import { keyStateWords } from './words.ts'

interface FactsProps {
  readonly channel: Channel
  /** The actions that are possible on it. */
  readonly actions: ReactNode
}

export function Facts({ channel, actions }: FactsProps) {
  return (
    <div className="flex flex-col gap-6">
      <Declared channel={channel} />
      {channel.problem !== null && (
        <Note tone="danger">
          <Trans>It has no effect at the moment: {channel.problem}</Trans>
        </Note>
      )}
      <Buttons>
        <Link to="/requests" search={{ channel: channel.id }} className={buttonClass()}>
          <Trans>Its requests</Trans>
        </Link>
        {actions}
      </Buttons>
      <Section title={<Trans>How it performs</Trans>}>
        <Figures channel={channel} />
      </Section>
      <Section title={<Trans>Keys</Trans>}>
        <Keys channel={channel} />
      </Section>
      <Section title={<Trans>What it is</Trans>}>
        <Said channel={channel} />
      </Section>
      <Section title={<Trans>Models</Trans>}>
        <ModelMap channel={channel} />
      </Section>
    </div>
  )
}

/** Values that cannot be changed here, and where they can. */
function Declared({ channel }: { readonly channel: Channel }) {
  const { origin, declaredIn, overridden } = channel
  if (isStored(channel)) return null
  return (
    <Note>
      <p>
        {origin === 'file' && (
          <Trans>
            The configuration file {declaredIn} declares this channel: it is changed there alone.
          </Trans>
        )}
        {origin === 'environment' && (
          <Trans>
            A key in the server’s environment makes this channel. It is removed as soon as a channel
            is made here.
          </Trans>
        )}
        {origin === 'built-in' && (
          <Trans>
            The sandbox answers by itself until there is a channel of a vendor. It is removed as
            soon as a channel is made here.
          </Trans>
        )}
      </p>
      {overridden && (
        <p className="mt-1">
          <Trans>
            A channel of this name was made here too: it has no effect while the file declares one.
          </Trans>
        </p>
      )}
    </Note>
  )
}

function Figures({ channel }: { readonly channel: Channel }) {
  const { lastTest } = channel
  return (
    <>
      <FactList>
        <Fact label={<Trans>Reason</Trans>}>
          <Reason channel={channel} />
        </Fact>
        <Fact label={<Trans>Under way</Trans>}>
          <Running channel={channel} />{' '}
          <span className="text-text-2">
            <Trans>in the serving process that answered</Trans>
          </span>
        </Fact>
        <Fact label={<Trans>A minute</Trans>}>
          <PerMinute channel={channel} />
        </Fact>
        <Fact label={<Trans>Balance</Trans>}>
          <Balance channel={channel} />
          {channel.offersBalance && <AskBalance channel={channel} />}
        </Fact>
        {lastTest !== null && (
          <Fact label={<Trans>Last test</Trans>}>
            <LastTest channel={channel} />{' '}
            <span className="text-text-2">
              {lastTest.ok ? <Trans>it answered</Trans> : <Trans>it failed</Trans>} ·{' '}
              {lastTest.model} · <Duration ms={lastTest.durationMs} />
            </span>
          </Fact>
        )}
      </FactList>
      <Periods channel={channel} />
    </>
  )
}

function Periods({ channel: { hour, day, currency } }: { readonly channel: Channel }) {
  const { t } = useLingui()
  const heads = [
    <Trans key="requests">Requests</Trans>,
    <Trans key="success">Success</Trans>,
    'p95',
    <Trans key="charged">Charged</Trans>,
    <Trans key="cost">Vendor’s cost</Trans>,
  ]
  return (
    // It scrolls sideways on a phone, so the keyboard must reach it.
    <div role="region" aria-label={t`How it performs`} tabIndex={0} className="overflow-x-auto">
      <table
        aria-label={t`How it performs`}
        className="w-full text-cell [&_td:last-child]:pr-0 [&_th:last-child]:pr-0"
      >
        <thead>
          <tr className="border-b border-border text-label text-text-2">
            <th scope="col" className="py-1 pr-3 text-left">
              <Trans>Period</Trans>
            </th>
            {heads.map((head, index) => (
              <th key={index} scope="col" className="px-3 text-right whitespace-nowrap">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Period name={<Trans>Last hour</Trans>} figures={hour} currency={currency} />
          <Period name={<Trans>Last 24 hours</Trans>} figures={day} currency={currency} />
        </tbody>
      </table>
    </div>
  )
}

interface PeriodProps {
  readonly name: ReactNode
  readonly figures: Channel['hour']
  readonly currency: string
}

function Period({ name, figures, currency }: PeriodProps) {
  const { requests, successPercent, p95Ms, chargeNano, vendorCostNano } = figures
  return (
    <tr className="border-b border-border last:border-b-0">
      <td className="py-1.5 pr-3 whitespace-nowrap">{name}</td>
      <td className="px-3 text-right">
        <Count value={requests} />
      </td>
      <td className="px-3 text-right">
        <Percent ratio={successPercent === null ? null : successPercent / 100} />
      </td>
      <td className="px-3 text-right">
        <Duration ms={p95Ms} />
      </td>
      <td className="px-3 text-right">
        <Money nano={chargeNano} currency={currency} />
      </td>
      <td className="px-3 text-right">
        <Money nano={vendorCostNano} currency={currency} />
      </td>
    </tr>
  )
}

function Keys({ channel: { keys } }: { readonly channel: Channel }) {
  const { t } = useLingui()
  if (keys.length === 0)
    return (
      <p className="text-text-2">
        <Trans>It has no key.</Trans>
      </p>
    )
  return (
    <ul className="divide-y divide-border">
      {keys.map(({ name, hint, state, since }) => (
        <li key={name} className="flex flex-wrap items-center justify-between gap-x-4 py-1.5">
          <span>
            <span className="font-medium">{name}</span>{' '}
            {hint !== '' && <code className="font-mono text-code text-text-2">…{hint}</code>}
          </span>
          <span className="text-cell">
            <Status tone={keyStateWords[state].tone}>{t(keyStateWords[state].word)}</Status>
            {since !== null && (
              <span className="ml-2 text-text-2">
                <Time relative at={since} />
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}

function Said({ channel }: { readonly channel: Channel }) {
  const { vendor, baseUrl, dialect, groups, priority, weight, tags, document } = channel
  const {
    costMultiplier,
    note,
    concurrency,
    timeouts,
    headers,
    parameters,
    retryStatuses,
    proxy,
    options,
  } = document
  return (
    <FactList>
      <Fact label={<Trans>Vendor</Trans>}>{vendorName(vendor)}</Fact>
      <Fact label={<Trans>Address</Trans>}>
        {baseUrl === null ? (
          <Trans>the vendor’s usual one</Trans>
        ) : (
          <>
            <code className="font-mono text-code break-all">{baseUrl}</code>
            <Copy text={baseUrl} />
          </>
        )}
      </Fact>
      <Fact label={<Trans>Format</Trans>}>
        {dialect ?? <Trans>any format of the vendor</Trans>}
      </Fact>
      <Fact label={<Trans>Groups</Trans>}>
        <Groups groups={groups} />
      </Fact>
      <Fact label={<Trans>Priority</Trans>}>{priority}</Fact>
      <Fact label={<Trans>Weight</Trans>}>{weight}</Fact>
      <Fact label={<Trans>At once, each key</Trans>}>
        {typeof concurrency === 'number' ? concurrency : <Trans>no limit</Trans>}
      </Fact>
      <Fact label={<Trans>Cost multiplier</Trans>}>{String(costMultiplier)}</Fact>
      <Fact label={<Trans>Tags</Trans>}>{tags.length === 0 ? <None /> : tags.join(', ')}</Fact>
      {typeof proxy === 'string' && (
        <Fact label={<Trans>Proxy</Trans>}>
          <code className="font-mono text-code break-all">{proxy}</code>
        </Fact>
      )}
      <Settings label={<Trans>Timers</Trans>} settings={timeouts} />
      <Settings label={<Trans>Headers</Trans>} settings={headers} />
      <Settings label={<Trans>Parameters</Trans>} settings={parameters} />
      <Settings label={<Trans>Further attempts</Trans>} settings={retryStatuses} />
      <Settings label={<Trans>Options</Trans>} settings={options} />
      {typeof note === 'string' && <Fact label={<Trans>Note</Trans>}>{note}</Fact>}
      {channel.changedAt !== null && (
        <Fact label={<Trans>Changed</Trans>}>
          <Time relative at={channel.changedAt} /> · <Actor actor={channel.actor} />
        </Fact>
      )}
    </FactList>
  )
}

/** Names and values, if there are any. */
function Settings({ label, settings }: { readonly label: ReactNode; readonly settings: unknown }) {
  const entries = Object.entries(Object(settings))
  if (entries.length === 0) return null
  return (
    <Fact label={label}>
      {entries.map(([name, value]) => (
        <code key={name} className="mr-3 font-mono text-code">
          {name}: {typeof value === 'object' ? JSON.stringify(value) : String(value)}
        </code>
      ))}
    </Fact>
  )
}

function ModelMap({ channel: { models } }: { readonly channel: Channel }) {
  if (models === null)
    return (
      <p className="text-text-2">
        <Trans>Those that are shipped of the vendor, under their own names.</Trans>
      </p>
    )
  return (
    <ul className="max-h-72 overflow-y-auto rounded-card border border-border" tabIndex={0}>
      {Object.entries(models).map(([name, own]) => (
        <li key={name} className="flex gap-2 border-b border-border px-3 py-1.5 last:border-b-0">
          <code className="font-mono text-code break-all">{name}</code>
          {own !== name && (
            <code className="font-mono text-code break-all text-text-2">→ {own}</code>
          )}
        </li>
      ))}
    </ul>
  )
}
