// Shows on every page that an operator views as somebody else, and ends it.

import { Trans } from '@lingui/react/macro'
import { viewedAccount } from '../api/viewing.ts'
import { buttonClass } from '../ui/button.tsx'

export function ViewingBanner() {
  const account = viewedAccount()
  if (account === null) return null
  return (
    <p
      role="status"
      className="flex flex-wrap items-center justify-center gap-x-4 gap-y-1 bg-warning-tint px-4 py-1.5 text-warning"
    >
      <Trans>
        You see what {account} sees. Nothing can be changed, their private data stays hidden, and
        the audit log has it.
      </Trans>
      {/* A full page load, so that no answer for one account is shown to the other. */}
      <a
        href={`/console/admin/users?open=${encodeURIComponent(account)}`}
        className={buttonClass('secondary')}
      >
        <Trans>Stop viewing</Trans>
      </a>
    </p>
  )
}
