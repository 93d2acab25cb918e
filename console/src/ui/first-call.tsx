// A first call to copy, for pages that have no request to show yet.

import { useQuery } from '@tanstack/react-query'
import { read } from '../api/client.ts'
import { Copy } from './values.tsx'

const aChatModel = { params: { query: { kind: 'chat', limit: 1 } } } as const

function curlOf(origin: string, model: string): string {
  return `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer YOUR_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": ${JSON.stringify(model)},
       "messages": [{"role": "user", "content": "Hello"}]}'`
}

/** The request goes to a model that is served here; the sandbox's until one is known. */
export function FirstCall() {
  const { data } = useQuery(read('/api/models', aChatModel))
  const curl = curlOf(location.origin, data?.items[0]?.id ?? 'sandbox/chat')
  return (
    <div className="mt-3 flex items-start gap-2 rounded-control bg-sunken p-3 text-left text-text">
      {/* A scrolling region must be reachable by the keyboard. */}
      <pre tabIndex={0} className="min-w-0 flex-1 overflow-x-auto font-mono text-code">
        {curl}
      </pre>
      <Copy text={curl} />
    </div>
  )
}
