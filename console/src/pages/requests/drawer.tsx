// One request beside the list: how it ended, whose fault a failure was, its receipt, its attempts, its messages.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Reply, read } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { rateText } from '../../format.ts'
import { Buttons } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { Segments } from '../../ui/field.tsx'
import { later } from '../../ui/later.tsx'
import { OperationName } from '../../ui/model-kind.tsx'
import { Skeleton, Widget } from '../../ui/state.tsx'
import { Copy, Duration, Id, Money, None, Time } from '../../ui/values.tsx'
import { Attempts } from './attempts.tsx'
import { Blame } from './blame.tsx'
import { RequestStatus } from './columns.tsx'
import { reportOf } from './copies.ts'
import { tokensPerSecond } from './counts.ts'
import { Fact } from './fact.tsx'
import { Receipt } from './receipt.tsx'
import { ShareButton } from './share.tsx'

// The messages of few requests are read, so the code that shows them is loaded when it is first needed.
const Messages = later(() => import('./messages.tsx'), <Skeleton rows={6} />)

export type RequestDetail = Reply<'get', '/api/requests/{id}'>
type Tab = 'overview' | 'messages' | 'raw'

interface RequestDrawerProps {
  readonly id: string
  readonly tab: Tab
  readonly onTab: (tab: Tab) => void
  readonly onClose: () => void
  readonly onPrevious?: (() => void) | undefined
  readonly onNext?: (() => void) | undefined
}

export default function RequestDrawer({ id, tab, onTab, ...rest }: RequestDrawerProps) {
  const { t } = useLingui()
  const query = useQuery({
    ...read('/api/requests/{id}', { params: { path: { id } } }),
    // A request that has ended does not change.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Drawer
      {...rest}
      label={t`Request ${id}`}
      header={
        <div className="flex min-w-0 items-center gap-2">
          <span className="text-section">
            <Trans>Request</Trans>
          </span>
          <Id value={id} />
          <Copy text={location.href} label={t`Copy a link to this request`} icon="link" />
        </div>
      }
    >
      <Widget query={query} skeleton={<Skeleton rows={10} />}>
        {(request) => (
          <div className="flex flex-col gap-5">
            <Facts request={request} />
            <Blame request={request} />
            <Buttons>
              <CopyButton text={reportOf(location.origin, request)}>
                <Trans>Copy a problem report</Trans>
              </CopyButton>
              <ShareButton id={id} />
            </Buttons>
            <Segments
              label={t`What is shown`}
              value={tab}
              onChange={onTab}
              options={[
                { value: 'overview', label: t`Receipt and attempts` },
                { value: 'messages', label: t`Messages` },
                { value: 'raw', label: t`Raw` },
              ]}
            />
            {tab === 'overview' && (
              <>
                <Receipt request={request} />
                <Attempts request={request} />
              </>
            )}
            {tab === 'messages' && <Messages id={id} />}
            {tab === 'raw' && <Raw request={request} />}
          </div>
        )}
      </Widget>
    </Drawer>
  )
}

function Facts({ request }: { readonly request: RequestDetail }) {
  const { t, i18n } = useLingui()
  const { operator } = roleOf(useMe())
  const rate = tokensPerSecond(request)
  const client = request.client === null ? null : `${request.client} ${request.clientVersion ?? ''}`
  return (
    <>
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3 md:grid-cols-3">
        <Fact name={t`Status`}>
          <RequestStatus row={request} />
        </Fact>
        <Fact name={t`Cost`}>
          <Money exact nano={request.chargeNano} currency={request.currency} />
        </Fact>
        <Fact name={t`Time`}>
          <Time at={request.at} />
        </Fact>
        <Fact name={t`Model asked for`}>{request.model}</Fact>
        <Fact name={t`Model that answered`}>{request.modelServed ?? <None />}</Fact>
        <Fact name={t`Endpoint`}>
          <OperationName operation={request.operation} />
          {request.stream && ` · ${t`stream`}`}
        </Fact>
        <Fact name={t`Took`}>
          <Duration ms={request.durationMs} />
        </Fact>
        <Fact name={t`First token after`}>
          <Duration ms={request.ttftMs} />
        </Fact>
        <Fact name={t`Tokens per second`}>
          {rate === null ? <None /> : rateText(rate, i18n.locale)}
        </Fact>
        {operator && request.account !== undefined && (
          <Fact name={t`Account`}>
            <Link to="/admin/users" search={{ open: request.account }}>
              {request.account}
            </Link>
          </Fact>
        )}
        <Fact name={t`Key`}>
          <Link to="/keys" search={(before) => ({ account: before.account, open: request.key })}>
            {request.keyName}
          </Link>
        </Fact>
        <Fact name={t`Group`}>{request.group}</Fact>
        <Fact name={t`Client`}>{client ?? <None />}</Fact>
        {request.tag !== undefined && <Fact name={t`Tag`}>{request.tag}</Fact>}
        {request.channel != null && (
          <Fact name={t`Channel`}>
            <Link to="/admin/channels" search={{ open: request.channel }}>
              {request.channel}
            </Link>
          </Fact>
        )}
        {request.vendorRequestId !== null && (
          <Fact name={t`Vendor’s request id`}>
            <Id value={request.vendorRequestId} />
          </Fact>
        )}
        {request.clientAddress !== undefined && (
          <Fact name={t`Address`}>{request.clientAddress}</Fact>
        )}
      </dl>
    </>
  )
}

function Raw({ request }: { readonly request: RequestDetail }) {
  const text = JSON.stringify(request, null, 2)
  return (
    <div className="relative">
      <span className="absolute top-2 right-2">
        <Copy text={text} />
      </span>
      {/* A scrolling region must be reachable by the keyboard. */}
      <pre tabIndex={0} className="overflow-x-auto rounded-card bg-sunken p-3 font-mono text-code">
        {text}
      </pre>
    </div>
  )
}
