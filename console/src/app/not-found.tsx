// Shown for an address that belongs to no page.

import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useTitle } from '../ui/page.tsx'

export function NotFound() {
  const heading = useTitle()
  return (
    <main id="content" tabIndex={-1} className="mx-auto max-w-lg p-8 text-center">
      <h1 ref={heading} className="text-title">
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
