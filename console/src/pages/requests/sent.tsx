// The requests that vendors were sent, next to the client's: for operators, if the deployment keeps them.

import { Trans } from '@lingui/react/macro'
import { Difference } from '../../ui/difference.tsx'

interface Sent {
  readonly channel: string
  readonly format: string
  readonly request: unknown
}

/** Empty if nothing of it was kept. */
export function sentOf(kept: unknown): readonly Sent[] {
  return Array.isArray(kept) ? kept.filter(isSent) : []
}

function isSent(value: unknown): value is Sent {
  return typeof value === 'object' && value !== null && 'channel' in value && 'request' in value
}

interface SentViewProps {
  readonly asked: unknown
  readonly sent: readonly Sent[]
}

export function SentView({ asked, sent }: SentViewProps) {
  return (
    <ol className="flex flex-col gap-5">
      {sent.map(({ channel, format, request }, index) => (
        <li key={index} className="flex flex-col gap-2">
          <h3 className="text-section">
            <Trans>
              To {channel}, as {format}
            </Trans>
          </h3>
          <p className="text-text-2">
            <Trans>What the client asked is before, what this vendor was sent is after.</Trans>
          </p>
          <Difference before={documentOf(asked)} after={documentOf(request)} />
        </li>
      ))}
    </ol>
  )
}

function documentOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null
}
