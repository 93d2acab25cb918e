// A request that somebody shared: how it went, for anyone with the link.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Problem, read, type Shape } from '../../api/client.ts'
import { type Catalog, loadCatalog } from '../../i18n.ts'
import { OperationName } from '../../ui/model-kind.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { Count, Duration, Id, None, Time } from '../../ui/values.tsx'
import { Attempts } from '../requests/attempts.tsx'
import { Blame } from '../requests/blame.tsx'
import { RequestStatus } from '../requests/columns.tsx'
import { totalTokens } from '../requests/counts.ts'
import { Fact } from '../requests/fact.tsx'

/** Parts of the page of requests are used here too, with their texts. */
export const catalog: Catalog = async (language) => {
  const [own] = await Promise.all([
    import(`./locales/${language}.po`),
    loadCatalog((language) => import(`../requests/locales/${language}.po`)),
  ])
  return own
}

const route = getRouteApi('/shell/shared')

export default function SharedPage() {
  const { request: token = '' } = route.useSearch()
  const shared = useQuery({
    ...read('/api/shared/requests/{token}', { params: { path: { token } } }),
    enabled: token !== '',
    retry: false,
  })
  const isGone =
    token === '' || (shared.error instanceof Problem && [400, 404].includes(shared.error.status))
  return (
    <Page title={<Trans>A shared request</Trans>}>
      <Card>
        {isGone ? (
          <Empty title={<Trans>This link has expired, or is not valid.</Trans>}>
            <Trans>Ask whoever sent it for another.</Trans>
          </Empty>
        ) : (
          <Widget query={shared} skeleton={<Skeleton rows={10} />}>
            {(request) => (
              <div className="flex flex-col gap-5">
                <Facts request={request} />
                <Blame request={request} />
                <Attempts request={{ ...request, currency: '' }} />
              </div>
            )}
          </Widget>
        )}
      </Card>
    </Page>
  )
}

function Facts({ request }: { readonly request: Shape<'SharedRequest'> }) {
  const { t } = useLingui()
  const client = request.client === null ? null : `${request.client} ${request.clientVersion ?? ''}`
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 md:grid-cols-3">
      <Fact name={t`Request`}>
        <Id value={request.requestId} />
      </Fact>
      <Fact name={t`Status`}>
        <RequestStatus row={request} />
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
      <Fact name={t`Tokens`}>
        <Count value={totalTokens(request)} />
      </Fact>
      <Fact name={t`Took`}>
        <Duration ms={request.durationMs} />
      </Fact>
      <Fact name={t`First token after`}>
        <Duration ms={request.ttftMs} />
      </Fact>
      <Fact name={t`Client`}>{client ?? <None />}</Fact>
      {request.vendorRequestId !== null && (
        <Fact name={t`Vendor’s request id`}>
          <Id value={request.vendorRequestId} />
        </Fact>
      )}
      <Fact name={t`The link ends`}>
        <Time at={request.expiresAt} />
      </Fact>
    </dl>
  )
}
