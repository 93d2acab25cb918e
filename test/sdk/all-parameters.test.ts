// Tests every parameter of the official SDK at once: accepted, and sent to the vendor as given.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { ask, openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
let client: OpenAI

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'main', vendor: 'openai', baseUrl: upstream.url, key: 'sk-up', models: ['m', 'c'] },
      ],
      models: { c: { kind: 'completion' } },
    },
  })
  client = openaiClient(gateway.url)
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

const schema = { type: 'object', properties: { city: { type: 'string' } } }

test('chat', async () => {
  const body = {
    model: 'm',
    messages: [
      { role: 'developer' as const, content: 'Be brief.', name: 'house' },
      ...ask('Hello'),
    ],
    audio: { format: 'wav' as const, voice: 'alloy' as const },
    frequency_penalty: 2,
    function_call: 'none' as const,
    functions: [{ name: 'f', description: 'A function.', parameters: schema }],
    logit_bias: { '50256': -100 },
    logprobs: true,
    max_completion_tokens: 0,
    max_tokens: 0,
    metadata: { purpose: 'test' },
    modalities: ['text' as const],
    n: 1,
    parallel_tool_calls: false,
    prediction: { type: 'content' as const, content: 'Hi' },
    presence_penalty: -2,
    prompt_cache_key: 'cache-1',
    reasoning_effort: 'minimal' as const,
    response_format: { type: 'text' as const },
    safety_identifier: 'somebody',
    seed: -9007199254740991,
    service_tier: 'auto' as const,
    stop: ['a', 'b', 'c', 'd'],
    store: false,
    temperature: 0,
    tool_choice: 'auto' as const,
    tools: [
      { type: 'function' as const, function: { name: 'f', parameters: schema, strict: true } },
    ],
    top_logprobs: 0,
    top_p: 0,
    user: 'somebody',
    verbosity: 'low' as const,
    web_search_options: { search_context_size: 'low' as const },
  }
  await client.chat.completions.create(body)
  expect(JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '')).toEqual(body)
})

test('legacy completions', async () => {
  const body = {
    model: 'c',
    prompt: ['One', 'Two'],
    best_of: 2,
    echo: true,
    frequency_penalty: -2,
    logit_bias: { '50256': 0 },
    logprobs: 0,
    max_tokens: 16,
    n: 1,
    presence_penalty: 2,
    seed: 0,
    stop: '\n',
    suffix: 'The end.',
    temperature: 1,
    top_p: 1,
    user: 'somebody',
  }
  await client.completions.create(body)
  expect(JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '')).toEqual(body)
})
