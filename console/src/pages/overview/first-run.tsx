// Before the first request: what will stand here, and how to make it appear.

import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty } from '../../ui/state.tsx'
import { Copy } from '../../ui/values.tsx'

function curlOf(origin: string): string {
  return `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "sandbox/chat", "messages": [{"role": "user", "content": "Hello"}]}'`
}

export function FirstRun() {
  const curl = curlOf(location.origin)
  return (
    <Card>
      <Empty
        title={<Trans>Spend, tokens and latency of your requests will stand here.</Trans>}
        action={
          <Link to="/get-started" className={buttonClass('primary')}>
            <Trans>Get started</Trans>
          </Link>
        }
      >
        <Trans>Make a key and send the first one:</Trans>
        <div className="mt-3 flex items-start gap-2 rounded-control bg-sunken p-3 text-left text-text">
          <pre tabIndex={0} className="min-w-0 flex-1 overflow-x-auto font-mono text-code">
            {curl}
          </pre>
          <Copy text={curl} />
        </div>
      </Empty>
    </Card>
  )
}
