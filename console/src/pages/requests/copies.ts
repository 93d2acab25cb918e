// A request as text to copy: a command that makes it again, and a report without its messages.

import { word } from '../../clients/client.ts'
import type { RequestDetail } from './drawer.tsx'

/** By the format of the client, as the message history names it. */
const paths: Readonly<Record<string, string>> = {
  'openai-chat': '/v1/chat/completions',
  'openai-completions': '/v1/completions',
  'openai-embeddings': '/v1/embeddings',
  'openai-responses': '/v1/responses',
  'openai-moderations': '/v1/moderations',
  'anthropic-messages': '/v1/messages',
}

/** null: a format that is not JSON at one address. `base`: the gateway's address without a slash at its end. */
export function curlOf(base: string, format: string, body: unknown): string | null {
  const path = paths[format]
  if (path === undefined || typeof body !== 'object' || body === null) return null
  return `curl ${word(base + path)} \\
  -H 'Authorization: Bearer YOUR_KEY' \\
  -H 'Content-Type: application/json' \\
  -d ${word(JSON.stringify(body, null, 2))}`
}

/** What is needed to investigate a problem: ids, times, status and models; no account, key, address or message. */
export function reportOf(base: string, request: RequestDetail): string {
  const lines: readonly (readonly [string, string | number | null])[] = [
    ['Gateway', base],
    ['Request', request.requestId],
    ['Time', request.at],
    ['Endpoint', request.stream ? `${request.operation}, streamed` : request.operation],
    ['Model asked for', request.model],
    ['Model that answered', request.modelServed],
    ['Status', request.status],
    ['Error', request.errorCode],
    ['Attempts', request.attempts],
    ['Vendor’s request id', request.vendorRequestId],
    ['First token after, ms', request.ttftMs],
    ['Took, ms', request.durationMs],
    ['Client', request.client === null ? null : `${request.client} ${request.clientVersion ?? ''}`],
  ]
  return lines
    .flatMap(([name, value]) => (value === null ? [] : [`${name}: ${String(value).trim()}`]))
    .join('\n')
}
