// Shown before the first request: what the page will contain, and how to make it appear.

import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../ui/button.tsx'
import { FirstCall } from '../../ui/first-call.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty } from '../../ui/state.tsx'

export function FirstRun() {
  return (
    <Card>
      <Empty
        title={<Trans>Spend, tokens and latency of your requests appear here.</Trans>}
        action={
          <Link to="/get-started" className={buttonClass('primary')}>
            <Trans>Get started</Trans>
          </Link>
        }
      >
        <Trans>Make a key, then send the first request with it:</Trans>
        <FirstCall />
      </Empty>
    </Card>
  )
}
