// The requests whose records, entries and prices do not agree, each with a link to it.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { shortId } from '../../format.ts'
import { Card } from '../../ui/page.tsx'
import { type Column, DataTable } from '../../ui/table.tsx'
import { Id, Time } from '../../ui/values.tsx'
import type { Finding } from './use-reconcile.ts'

interface FindingsProps {
  readonly findings: readonly Finding[]
  readonly unlisted: number
}

export function Findings({ findings, unlisted }: FindingsProps) {
  const { t } = useLingui()
  return (
    <Card flush title={<Trans>What differs</Trans>}>
      <DataTable
        id="reconcile-findings"
        label={t`What differs`}
        columns={columns}
        rows={findings}
        rowId={({ requestId, kind, message }) => `${requestId} ${kind} ${message}`}
        height="50vh"
        empty={null}
        card={(finding) => ({
          title: <What kind={finding.kind} />,
          facts: [
            finding.account,
            <RequestLink key="request" finding={finding} />,
            <Time key="at" at={finding.at} />,
            <Message key="message" finding={finding} />,
          ],
        })}
      />
      {unlisted > 0 && (
        <p className="border-t border-border px-4 py-2 text-text-2">
          <Plural
            value={unlisted}
            one="One more is not listed: choose a shorter period to see it."
            other="# more are not listed: choose a shorter period to see them."
          />
        </p>
      )}
    </Card>
  )
}

const columns: readonly Column<Finding>[] = [
  { id: 'at', header: <Trans>Time</Trans>, cell: ({ at }) => <Time at={at} /> },
  {
    id: 'account',
    isLong: true,
    from: 1024,
    header: <Trans>Account</Trans>,
    cell: ({ account }) => account,
  },
  {
    id: 'request',
    header: <Trans>Request</Trans>,
    cell: (finding) => <RequestLink finding={finding} />,
  },
  { id: 'kind', header: <Trans>Finding</Trans>, cell: ({ kind }) => <What kind={kind} /> },
  {
    id: 'message',
    isLong: true,
    from: 1280,
    header: <Trans>Detail</Trans>,
    cell: (finding) => <Message finding={finding} />,
  },
]

function What({ kind }: Pick<Finding, 'kind'>) {
  if (kind === 'entry') return <Trans>The ledger has another amount</Trans>
  if (kind === 'price') return <Trans>Its prices give another amount</Trans>
  return <Trans>The ledger charged a request that is not recorded</Trans>
}

/** With the amounts in nano-units, as the server writes them. */
function Message({ finding: { message } }: { readonly finding: Finding }) {
  return (
    <code lang="en" className="font-mono text-code text-text-2">
      {message}
    </code>
  )
}

function RequestLink({ finding: { kind, requestId } }: { readonly finding: Finding }) {
  if (kind === 'row') return <Id value={requestId} />
  return (
    <Link
      to="/requests"
      search={{ open: requestId }}
      title={requestId}
      className="font-mono text-code"
    >
      {shortId(requestId)}
    </Link>
  )
}
