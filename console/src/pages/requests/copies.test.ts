// Tests that a copied request makes the same request again, and contains nothing private.

import { expect, test } from 'bun:test'
import { curlOf, reportOf } from './copies.ts'
import type { RequestDetail } from './drawer.tsx'

const base = 'https://gateway.example'

test('the command is one for a shell, whatever was said', async () => {
  const body = { model: 'm', messages: [{ role: 'user', content: "it's $HOME `x`\\n" }] }
  const command = curlOf(base, 'openai-chat', body) ?? ''
  const said = command.replace('curl', `printf '%s\\n'`)
  const run = Bun.spawn(['sh', '-c', said], { stdout: 'pipe' })
  const words = await new Response(run.stdout).text()
  expect(words).toContain(`${base}/v1/chat/completions\n`)
  expect(JSON.parse(words.slice(words.indexOf('-d\n') + 3))).toEqual(body)
})

test('formats without one address, and what is no object, have no command', () => {
  expect(curlOf(base, 'gemini', {})).toBeNull()
  expect(curlOf(base, 'openai-chat', 'text')).toBeNull()
})

test('the report has ids and figures, and neither account, key, address nor price', () => {
  const request = {
    ...{ requestId: 'req_1', at: '2026-01-31T00:00:00Z', operation: 'chat', stream: true },
    ...{ model: 'm', modelServed: null, status: 502, errorCode: 'upstream_error', attempts: 2 },
    ...{ vendorRequestId: 'v1', ttftMs: null, durationMs: 12, client: 'sdk', clientVersion: null },
    ...{ account: 'ann', key: 'key_1', keyName: 'laptop', clientAddress: '203.0.113.9' },
    ...{ chargeNano: '777', group: 'inner' },
  } as unknown as RequestDetail
  expect(reportOf(base, request).split('\n')).toEqual([
    `Gateway: ${base}`,
    'Request: req_1',
    'Time: 2026-01-31T00:00:00Z',
    'Endpoint: chat, streamed',
    'Model asked for: m',
    'Status: 502',
    'Error: upstream_error',
    'Attempts: 2',
    'Vendor’s request id: v1',
    'Took, ms: 12',
    'Client: sdk',
  ])
})
