// Tests compacting a conversation: by the vendor itself if it can, else by a summary from which any model can continue.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import type { JsonObject } from '../../src/wire/ir.ts'
import { summaryIn } from '../../src/wire/openai-responses/summary.ts'
import { openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { type Responder, startResponder } from '../support/responder.ts'

let gateway: Gateway
let client: OpenAI
let vendor: Responder

beforeAll(async () => {
  vendor = await startResponder()
  const base = { vendor: 'openai', baseUrl: vendor.url, key: 'sk-upstream-secret-0123456789' }
  const channels = [
    { id: 'sandbox', vendor: 'sandbox', models: ['sandbox/chat'] },
    { ...base, id: 'chats', dialect: 'openai-chat', models: { chats: 'gpt-5' } },
    { ...base, id: 'responds', models: { responds: 'gpt-5' } },
  ]
  gateway = await startGateway({ config: { channels } })
  client = openaiClient(gateway.url)
})
afterAll(async () => {
  await gateway.stop()
  await vendor.stop()
})
beforeEach(() => {
  vendor.bodies.length = 0
})

const conversation: OpenAI.Responses.ResponseInputItem[] = [
  { role: 'user', content: 'Build a shed.' },
  { type: 'function_call', call_id: 'call_1', name: 'saw', arguments: '{"board":1}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'sawn' },
  { role: 'assistant', content: 'The boards are sawn.' },
  { role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] },
]

async function compact(body: JsonObject) {
  const response = await gateway.post('/v1/responses/compact', body)
  return { status: response.status, body: (await response.json()) as JsonObject }
}

describe('a vendor that compacts', () => {
  test('is asked as the client asked, and its reply is the client’s', async () => {
    const compacted = await client.responses.compact({ model: 'responds', input: conversation })
    expect(vendor.bodies).toEqual([{ model: 'gpt-5', input: conversation } as never])
    expect(compacted.output).toEqual([
      { id: 'cmp_1', type: 'compaction', encrypted_content: 'gist-1' },
    ])
    expect(compacted.usage.total_tokens).toBe(18)
    const row = await gateway.row(compacted._request_id ?? '')
    expect(row).toMatchObject({ operation: 'chat', status: 200, input: 11, output: 7 })
  })

  test('is given what was kept, and nothing of keeping', async () => {
    const { id } = await client.responses.create({ model: 'responds', input: 'Build a shed.' })
    const compacted = await client.responses.compact({
      model: 'responds',
      previous_response_id: id,
      instructions: 'Be brief.',
    })
    expect(compacted.output).toMatchObject([{ type: 'compaction', encrypted_content: 'gist-2' }])
    expect(vendor.bodies[1]).toMatchObject({
      model: 'gpt-5',
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: 'Build a shed.' },
        { type: 'reasoning', encrypted_content: 'sealed-1' },
        { role: 'assistant', content: 'Response 1.' },
      ],
    })
  })

  test('reads its own compaction again, also where it was kept', async () => {
    const { output } = await client.responses.compact({ model: 'responds', input: 'Build.' })
    const input = [...output, { role: 'user', content: 'Go on.' }] as never
    const { id } = await client.responses.create({ model: 'responds', input })
    await client.responses.create({ model: 'responds', previous_response_id: id, input: 'More.' })
    const [, first, second] = vendor.bodies as { input: JsonObject[] }[]
    expect(first?.input[0]).toMatchObject({ type: 'compaction', encrypted_content: 'gist-1' })
    expect(second?.input[0]).toEqual({ type: 'compaction', encrypted_content: 'gist-1' })
  })
})

describe.each(['chats', 'sandbox/chat'])('a model that only chats: %s', (model) => {
  test('is asked for a summary, which is the compaction', async () => {
    const compacted = await client.responses.compact({ model, input: conversation })
    expect(compacted).toMatchObject({
      object: 'response.compaction',
      id: expect.stringMatching(/^resp_/),
    })
    expect(compacted.usage.output_tokens).toBeGreaterThan(0)
    const row = await gateway.row(compacted._request_id ?? '')
    const { input_tokens: read, output_tokens: made } = compacted.usage
    expect(row).toMatchObject({ operation: 'chat', status: 200, input: read, output: made })
    const [first, second, last, ...more] = compacted.output as unknown as JsonObject[]
    expect(first).toMatchObject({
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'Build a shed.' }],
    })
    expect(second).toMatchObject({ role: 'user', content: [{ text: 'Go on.' }] })
    expect(last).toMatchObject({ type: 'compaction', id: expect.stringMatching(/^cmp_/) })
    expect(more).toEqual([])
    expect(String(last?.['encrypted_content'])).not.toContain('Chat')
    expect(summaryIn(String(last?.['encrypted_content']))).not.toBe('')
  })
})

test('the least that a client may ask is answered', async () => {
  const { output } = await client.responses.compact({ model: 'sandbox/chat' })
  expect(output.map(({ type }) => type)).toEqual(['compaction'])
})

describe('a summary', () => {
  async function compacted(): Promise<OpenAI.Responses.ResponseInputItem[]> {
    const { output } = await client.responses.compact({
      model: 'chats',
      input: conversation,
      instructions: 'Be brief.',
    })
    return [...output, { role: 'user', content: 'Now the roof.' }] as never
  }

  test('is asked for behind the whole conversation', async () => {
    await compacted()
    const { messages, tools, stream } = vendor.bodies[0] as unknown as {
      messages: JsonObject[]
      tools?: unknown
      stream?: unknown
    }
    expect(messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'user',
    ])
    expect(String(messages.at(-1)?.['content'])).toStartWith('Write a summary')
    expect([tools, stream]).toEqual([undefined, undefined])
  })

  test.each(['chats', 'responds'])('is told to %s as a text', async (model) => {
    await client.responses.create({ model, input: await compacted() })
    const { messages, input } = vendor.bodies[1] as {
      messages?: JsonObject[]
      input?: JsonObject[]
    }
    expect((messages ?? input ?? []).map(({ content }) => content)).toEqual([
      'Build a shed.',
      'Go on.',
      'Summary of the conversation so far, which is not repeated here:\n\nChat 1.',
      'Now the roof.',
    ])
  })

  test('is part of the next compaction, and stands in what is kept', async () => {
    const { id } = await client.responses.create({ model: 'chats', input: await compacted() })
    const again = await client.responses.compact({ model: 'chats', previous_response_id: id })
    expect(JSON.stringify(vendor.bodies[2])).toContain('not repeated here:\\n\\nChat 1.')
    expect(again.output.map(({ type }) => type)).toEqual([
      'message',
      'message',
      'message',
      'compaction',
    ])
  })

  test('that is none is an error, for the conversation would be lost', async () => {
    const reply = await compact({ model: 'chats', input: 'Please say nothing.' })
    expect(reply).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } })
  })
})

describe('what is no request to compact', () => {
  test.each([
    ['a stream', { input: 'Hello', stream: true }, 'stream'],
    ['an unknown response', { previous_response_id: 'resp_none' }, 'previous_response_id'],
    ['a conversation kept by OpenAI', { conversation: 'conv_1' }, 'conversation'],
    ['a number', { input: 7 }, 'input'],
  ] as [string, JsonObject, string][])('%s', async (_, body, param) => {
    const reply = await compact({ model: 'chats', ...body })
    expect(reply).toMatchObject({ status: 400, body: { error: { param } } })
    expect(vendor.bodies).toEqual([])
  })

  test('a wish to compact within a response, where the vendor cannot', async () => {
    const input = [...conversation, { type: 'compaction_trigger' }]
    const response = await gateway.post('/v1/responses', { model: 'chats', input } as never)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param: 'input[5]' } })
  })
})
