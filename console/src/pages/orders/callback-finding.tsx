// The result of testing a notification address: the cause in words, and what to do next.

import { Trans, useLingui } from '@lingui/react/macro'
import type { Shape } from '../../api/client.ts'
import { Status } from '../../ui/values.tsx'

type Test = Shape<'CallbackTest'>

interface FindingProps {
  readonly test: Test
  /** The provider's address. */
  readonly name: string
  readonly isPlay: boolean
}

export function CallbackFinding({ test, name, isPlay }: FindingProps) {
  const { cause, next } = useFinding(test)
  const reach = useReach(test, name)
  const isWell = isPlay || reach.length === 0
  return (
    <div className="flex flex-col gap-1 rounded-control bg-sunken p-3">
      <p className="font-medium">
        {test.outcome !== 'arrived' ? (
          <Status tone="failed">
            <Trans>Messages do not arrive</Trans>
          </Status>
        ) : isWell ? (
          <Status tone="ok">
            <Trans>Messages arrive</Trans>
          </Status>
        ) : (
          <Status tone="warning">
            <Trans>Reached from here alone</Trans>
          </Status>
        )}
      </p>
      <p className="wrap-anywhere">{cause}</p>
      {next !== null && <p className="text-text-2">{next}</p>}
      {!isPlay &&
        reach.map((said) => (
          <p key={said} className="text-text-2">
            {said}
          </p>
        ))}
    </div>
  )
}

/** Actions that no provider takes, but this deployment can. */
function useReach({ isPublic, isSecure, outcome }: Test, name: string): readonly string[] {
  const { t } = useLingui()
  const isKnown = outcome !== 'unknown_host'
  return [
    ...(isKnown && !isPublic
      ? [
          t`The address is on this machine or a private network: ${name} cannot reach it. Set publicUrl to an address on the public internet.`,
        ]
      : []),
    ...(isSecure
      ? []
      : [t`The address is not https. Put TLS before the gateway and set publicUrl.`]),
  ]
}

function useFinding(test: Test): { readonly cause: string; readonly next: string | null } {
  const { t } = useLingui()
  const failed = useUnanswered(test)
  const { outcome, tookMs } = test
  const status = test.status ?? 0
  const detail = test.detail ?? ''
  switch (outcome) {
    case 'arrived':
      return { cause: t`This deployment answered itself within ${tookMs} ms.`, next: null }
    case 'redirect':
      return {
        cause: t`It redirects to ${detail}.`,
        next: t`Providers follow no redirect. Have the proxy pass the address on as it is, without a slash at its end, and set publicUrl to the very scheme and host it is reached by.`,
      }
    case 'not_found':
      return {
        cause: t`It answers ${status}: the path is not there.`,
        next: t`Have the proxy pass /api/payments on to the gateway. Where this provider was configured a moment ago, check whether every process has the new configuration.`,
      }
    case 'other_deployment':
      return {
        cause: t`Another deployment answered, or a process with another ENCRYPTION_KEY.`,
        next: t`Check where the name of publicUrl points, and give all processes of this deployment the same ENCRYPTION_KEY.`,
      }
    case 'page':
      return {
        cause: t`A web page answered, such as one to sign in.`,
        next: t`Let requests to /api/payments past whatever protects pages: providers cannot sign in.`,
      }
    case 'blocked':
      return {
        cause: t`It answers ${status}: something in front of the gateway refuses the request.`,
        next: t`Let POST requests to /api/payments past the firewall or the proxy's sign-in.`,
      }
    case 'unavailable':
      return {
        cause: t`It answers ${status}: the proxy cannot reach the gateway.`,
        next: t`Check the proxy's upstream address, and whether the gateway runs there.`,
      }
    case 'other_program':
      return {
        cause: t`Another program answered.`,
        next: t`Check where the name and the port of publicUrl lead.`,
      }
    default:
      return failed
  }
}

/** If nothing came back. */
function useUnanswered({ outcome, detail }: Test) {
  const { t } = useLingui()
  const why = detail ?? ''
  switch (outcome) {
    case 'unknown_host':
      return {
        cause: t`The name in the address is not known.`,
        next: t`Check publicUrl, and the name's entry in the DNS.`,
      }
    case 'tls':
      return {
        cause: t`The certificate is not valid: ${why}`,
        next: t`Renew it, with all certificates of its chain, for the very name in publicUrl.`,
      }
    case 'slow':
      return {
        cause: t`No answer came within five seconds.`,
        next: t`Providers wait no longer. Check whether a firewall drops the connection, and check the load of the gateway.`,
      }
    default:
      return {
        cause: t`Nothing accepts the connection: ${why}`,
        next: t`Check whether the proxy runs and the firewall lets the port through.`,
      }
  }
}
