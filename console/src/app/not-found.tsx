// An address that is no page.

import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'

export function NotFound() {
  return (
    <main className="mx-auto max-w-lg p-8 text-center">
      <h1 className="text-title">
        <Trans>There is no such page</Trans>
      </h1>
      <p className="mt-2">
        <Link to="/">
          <Trans>To the overview</Trans>
        </Link>
      </p>
    </main>
  )
}
