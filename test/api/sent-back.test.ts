// Tests conversations that go on at another model: what earlier replies had is fitted to vendors that refuse it.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/wire/ir.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { chatReply, json, startUpstream, type Upstream } from '../support/upstream.ts'

const vendors = ['openai', 'groq', 'cerebras', 'fireworks', 'perplexity', 'mistral', 'deepseek']
const responseReply = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt-5',
  output: [],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
}

let upstream: Upstream
let gateway: Gateway

beforeAll(async () => {
  upstream = await startUpstream()
  for (const vendor of [...vendors, 'azure'])
    upstream.on(`${vendor}-model`, [json(200, chatReply('Hello'))])
  upstream.on('answers-model', [json(200, responseReply)])
  const channel = (vendor: string, id = vendor) => ({
    id,
    vendor,
    baseUrl: upstream.url,
    key: 'k',
    models: [`${id}-model`],
  })
  gateway = await startGateway({
    config: {
      channels: [
        ...vendors.map((vendor) => channel(vendor)),
        channel('azure-openai', 'azure'),
        { ...channel('openai', 'answers'), dialect: 'openai-responses' },
      ],
    },
  })
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

/** The body that the vendor got, as text. */
async function sent(path: string, body: JsonObject): Promise<string> {
  const before = upstream.requests.length
  const response = await gateway.post(path, body)
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
  return upstream.requests[before]?.body.toString() ?? ''
}

async function messagesTo(vendor: string, messages: JsonObject[]): Promise<JsonObject[]> {
  const text = await sent('/v1/chat/completions', { model: `${vendor}-model`, messages })
  return (JSON.parse(text) as { messages: JsonObject[] }).messages
}

const say = { role: 'user', content: 'Say hello.' }
const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
const target = { name: 'weather', arguments: '{}' }
const plainCall = { id: 'aaaaaaaa1', type: 'function', function: target }
const result = { role: 'tool', tool_call_id: 'aaaaaaaa1', content: 'rain' }
/** What SDKs keep of the gateway's replies of models that think, draw and sign their calls. */
const replies = [
  say,
  {
    role: 'assistant',
    content: 'Hi.',
    refusal: null,
    annotations: [],
    audio: null,
    function_call: null,
    reasoning_content: 'Hm.',
    reasoning: 'Hm.',
    reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }],
    thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }],
    extra_content: { google: { thought_signature: 's' } },
    images: [picture],
  },
  say,
  {
    role: 'assistant',
    content: null,
    refusal: null,
    tool_calls: [{ ...plainCall, index: 0, extra_content: { google: { thought_signature: 's' } } }],
  },
  result,
]
const shown = { role: 'user', content: [{ type: 'text', text: 'Say hello.' }, picture] }
const plain = [
  say,
  { role: 'assistant', content: 'Hi.' },
  shown,
  { role: 'assistant', content: null, tool_calls: [plainCall] },
  result,
]

test.each(['groq', 'cerebras', 'perplexity', 'mistral'])(
  'W58: %s gets of earlier replies only what its requests have',
  async (vendor) => {
    expect(await messagesTo(vendor, structuredClone(replies))).toEqual(plain)
  },
)

test('Fireworks gets the reasoning too, which it reads', async () => {
  const [first, answer, ...rest] = plain
  const read = { ...answer, reasoning_content: 'Hm.' }
  expect(await messagesTo('fireworks', structuredClone(replies))).toEqual([
    first as JsonObject,
    read,
    ...(rest as JsonObject[]),
  ])
})

test.each(['openai', 'azure'])('what imitates %s gets the client’s bytes', async (vendor) => {
  const body = { model: `${vendor}-model`, messages: replies }
  expect(await sent('/v1/chat/completions', body)).toBe(JSON.stringify(body))
})

test('OpenAI gets back its own reply byte for byte', async () => {
  const reply = { role: 'assistant', content: 'Hi.', refusal: null, annotations: [] }
  const body = { model: 'openai-model', messages: [say, reply, say] }
  expect(await sent('/v1/chat/completions', body)).toBe(JSON.stringify(body))
})

test('a vendor that reads all of it gets the client’s bytes', async () => {
  const body = { model: 'deepseek-model', messages: [say, replies[1] as JsonObject, say] }
  expect(await sent('/v1/chat/completions', body)).toBe(JSON.stringify(body))
})

test('what a model refused with stays its answer where no refusal may be sent', async () => {
  const refused = [say, { role: 'assistant', content: null, refusal: 'No.' }, say]
  const [, answer] = await messagesTo('groq', refused)
  expect(answer).toEqual({ role: 'assistant', content: 'No.' })
})

test('Groq is not sent what it refuses of an agent’s request', async () => {
  const response = await gateway.post('/v1/responses', {
    model: 'groq-model',
    input: 'Say hello.',
    prompt_cache_key: 'k',
    safety_identifier: 's',
    text: { verbosity: 'low' },
  })
  expect(response.status).toBe(200)
  const body = upstream.requests.at(-1)?.body.toString() ?? ''
  for (const name of ['prompt_cache_key', 'safety_identifier', 'verbosity'])
    expect([name, body.includes(`"${name}"`)]).toEqual([name, false])
  expect(response.headers.get('x-tollgate-dropped')).toContain('prompt_cache_key')
})

/** vLLM's, and what Codex makes for tools of MCP servers. */
const longIds = [`chatcmpl-tool-${'a1b2c3d4'.repeat(4)}`, `call_${'x'.repeat(85)}`]

test.each([
  ['openai', '/v1/messages', 40],
  ['answers', '/v1/chat/completions', 64],
] as const)(
  'W37: %s gets no id from %s that is longer than it takes',
  async (id, path, longest) => {
    const model = `${id}-model`
    const calls = longIds.map((callId) => ({ ...plainCall, id: callId }))
    const results = longIds.map((callId) => ({ ...result, tool_call_id: callId }))
    const uses = longIds.map((each) => ({ type: 'tool_use', id: each, name: 'weather', input: {} }))
    const used = longIds.map((each) => ({
      type: 'tool_result',
      tool_use_id: each,
      content: 'rain',
    }))
    const bodies: Record<typeof path, JsonObject> = {
      '/v1/chat/completions': {
        model,
        messages: [say, { role: 'assistant', content: null, tool_calls: calls }, ...results],
      },
      '/v1/messages': {
        model,
        max_tokens: 99,
        messages: [say, { role: 'assistant', content: uses }, { role: 'user', content: used }],
      },
    }
    const text = await sent(path, bodies[path])
    const found = [...text.matchAll(/"(?:id|tool_call_id|call_id)":"([^"]+)"/g)].map(([, it]) => it)
    expect(found).toHaveLength(4)
    const distinct = [...new Set(found)]
    expect(distinct).toHaveLength(2)
    for (const each of distinct) expect(each?.length).toBeLessThanOrEqual(longest)
    // One that fits stays.
    expect(distinct.includes(longIds[0])).toBe(longest === 64)
  },
)
