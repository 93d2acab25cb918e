// Tests the requests of Claude Code as a contract: those that its documentation for gateways names, sent by hand.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { testKey } from '../support/gateway.ts'
import { json } from '../support/upstream.ts'
import { messageStream, type Stage, startStage, thinkingEvents } from './anthropic-stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await startStage()
})
afterAll(() => stage.close())

const headers = {
  authorization: `Bearer ${testKey}`,
  'anthropic-version': '2023-06-01',
  'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14',
  'content-type': 'application/json',
  'user-agent': 'claude-cli/2.1.129 (external, cli)',
  'x-claude-code-session-id': '0198c1a2-session',
  'x-stainless-retry-count': '0',
}

const body = {
  model: 'claude-stub',
  max_tokens: 32_000,
  stream: true,
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.129;' },
    { type: 'text', text: 'You are a coding agent.', cache_control: { type: 'ephemeral' } },
  ],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: '<system-reminder>context</system-reminder>' },
        { type: 'text', text: 'Fix the bug', cache_control: { type: 'ephemeral' } },
      ],
    },
  ],
  tools: [
    {
      name: 'Bash',
      description: 'Runs a command.',
      input_schema: { $schema: 'x', type: 'object', properties: {} },
    },
  ],
  metadata: { user_id: 'user_abc' },
  thinking: { type: 'adaptive' },
  output_config: { effort: 'medium' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  a_field_of_tomorrow: { keep: ['me', 1.0] },
}

/** Its address has no /v1 at its end, since it adds that itself. */
const post = (path: string, sent: unknown) =>
  fetch(stage.gateway.url + path, { method: 'POST', headers, body: JSON.stringify(sent) })

test('its probe of the root is answered', async () => {
  expect((await fetch(stage.gateway.url, { method: 'HEAD', headers })).status).toBe(200)
})

test("its request goes on byte for byte but for the model's name, with its version and betas", async () => {
  stage.stub.on('claude-opus-5', messageStream(thinkingEvents))
  const reply = await post('/v1/messages?beta=true', body)
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toStartWith('text/event-stream')
  const text = await reply.text()
  expect(text).toBe(
    thinkingEvents
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  )
  const [received] = stage.stub.of('claude-opus-5').slice(-1)
  expect(received?.body.toString()).toBe(
    JSON.stringify(body).replace('"claude-stub"', '"claude-opus-5"'),
  )
  expect(received?.headers.get('anthropic-version')).toBe(headers['anthropic-version'])
  expect(received?.headers.get('anthropic-beta')).toBe(headers['anthropic-beta'])
})

describe('on a vendor of another format', () => {
  test('the same request is understood, and what it cannot say is named', async () => {
    const reply = await post('/v1/messages?beta=true', { ...body, model: 'sandbox/chat' })
    expect(reply.status).toBe(200)
    const dropped = reply.headers.get('x-tollgate-dropped')?.split(', ') ?? []
    expect(dropped).toContain('context_management')
    expect(dropped).toContain('a_field_of_tomorrow')
    const text = await reply.text()
    expect(text).toStartWith('event: message_start\n')
    expect(text).toEndWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')
    const [start = ''] = text.split('\n\n')
    // It fails without the counts of the cache (W20).
    expect(JSON.parse(start.split('data: ')[1] ?? '').message.usage).toMatchObject({
      input_tokens: expect.any(Number),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    })
  })

  test('a quiet vendor is bridged by pings', async () => {
    const slow = { ...body, model: 'sandbox/chat+first=5000' }
    const reply = await post('/v1/messages', slow)
    const reader = reply.body?.getReader()
    const { value } = (await reader?.read()) ?? {}
    expect(new TextDecoder().decode(value)).toStartWith('event: ping\ndata: {"type":"ping"}\n\n')
    await reader?.cancel()
  })

  test('W48: a vendor that breaks off ends the stream in an error event', async () => {
    const reply = await post('/v1/messages', { ...body, model: 'sandbox/chat+fault=cut+after=2' })
    const text = await reply.text()
    expect(text).not.toContain('message_stop')
    const last = text.trimEnd().split('\n\n').at(-1) ?? ''
    expect(last).toStartWith('event: error\n')
    expect(JSON.parse(last.split('data: ')[1] ?? '')).toMatchObject({
      type: 'error',
      error: { type: 'overloaded_error' },
      request_id: reply.headers.get('request-id'),
    })
  })
})

test('its count of tokens is answered, whoever serves the model', async () => {
  const { stream: _, max_tokens: __, ...counted } = body
  stage.stub.on('claude-opus-5', [json(200, { input_tokens: 321 })])
  const exact = await post('/v1/messages/count_tokens?beta=true', counted)
  expect([exact.status, await exact.json()]).toEqual([200, { input_tokens: 321 }])
  const other = await post('/v1/messages/count_tokens', { ...counted, model: 'sandbox/chat' })
  expect(other.status).toBe(200)
  expect((await other.json()).input_tokens).toBeGreaterThan(20)
  const rows = await stage.gateway.usage()
  expect(rows.filter(({ chargeNano }) => chargeNano > 0n && chargeNano < 10n)).toEqual([])
})

test('its discovery of models is answered in its shape', async () => {
  const reply = await fetch(`${stage.gateway.url}/v1/models?limit=1000`, { headers })
  const list = await reply.json()
  expect(Object.keys(list).toSorted()).toEqual(['data', 'first_id', 'has_more', 'last_id'])
  expect(list.data[0]).toMatchObject({
    type: 'model',
    id: expect.any(String),
    display_name: expect.any(String),
    created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:]+Z$/),
  })
})

test.each([
  [{ ...headers, authorization: 'Bearer wrong' }, body, 401, 'authentication_error'],
  [headers, { ...body, model: 'nothing' }, 404, 'not_found_error'],
  [headers, { ...body, max_tokens: undefined }, 400, 'invalid_request_error'],
])('a refusal is in its words', async (sent, asked, status, type) => {
  const reply = await fetch(`${stage.gateway.url}/v1/messages`, {
    method: 'POST',
    headers: sent,
    body: JSON.stringify(asked),
  })
  expect(reply.status).toBe(status)
  const id = reply.headers.get('request-id')
  expect(id).toBe(reply.headers.get('x-request-id') ?? '')
  expect(await reply.json()).toMatchObject({ type: 'error', error: { type }, request_id: id })
})

test.each([
  ['GET', '/v1/messages', 405, 'invalid_request_error'],
  ['POST', '/v1/messages/batches', 404, 'not_found_error'],
  ['GET', '/v1/nothing', 404, 'not_found_error'],
])('%s %s is refused in its words', async (method, path, status, type) => {
  const reply = await fetch(stage.gateway.url + path, { method, headers })
  expect(reply.status).toBe(status)
  expect(await reply.json()).toMatchObject({ type: 'error', error: { type } })
})

test('the cost is shown in the counts, where it is asked for', async () => {
  stage.stub.on('claude-opus-5', messageStream(thinkingEvents))
  const reply = await fetch(`${stage.gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { ...headers, 'x-tollgate-cost': 'true' },
    body: JSON.stringify(body),
  })
  const frames = (await reply.text()).trimEnd().split('\n\n')
  const costs = frames.map((frame) => JSON.parse(frame.split('data: ')[1] ?? '')?.usage?.cost)
  expect(costs.filter((cost) => cost !== undefined)).toHaveLength(1)
  expect(costs.at(-2)).toMatch(/^0\.\d+$/)
})
