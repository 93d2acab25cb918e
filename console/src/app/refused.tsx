// Shown instead of an operators' page to a person whose role does not allow it.

import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { Card, Page } from '../ui/page.tsx'
import { Empty } from '../ui/state.tsx'

export function Refused() {
  return (
    <Page title={<Trans>This page is for operators</Trans>}>
      <Card>
        <Empty
          title={<Trans>Your role does not allow this.</Trans>}
          action={
            <Link to="/">
              <Trans>To the overview</Trans>
            </Link>
          }
        >
          <Trans>
            Administrators and auditors see it. If you need it, ask an administrator for another
            role.
          </Trans>
        </Empty>
      </Card>
    </Page>
  )
}
