// The application behind a request or a session, in words; all that it said of itself on hover.

import { Trans } from '@lingui/react/macro'
import { applicationOf } from './user-agent.ts'

export function ClientName({ userAgent }: { readonly userAgent: string }) {
  return (
    <span title={userAgent}>
      <Words userAgent={userAgent} />
    </span>
  )
}

function Words({ userAgent }: { readonly userAgent: string }) {
  const found = applicationOf(userAgent)
  if (found === null) return userAgent
  const { name, version, system } = found
  if (name === null)
    return system === null ? <Trans>A browser</Trans> : <Trans>A browser on {system}</Trans>
  const application = version === null ? name : `${name} ${version}`
  return system === null ? (
    application
  ) : (
    <Trans>
      {application} on {system}
    </Trans>
  )
}
