// Tests what clients of every format may ask of models at Bedrock, and what is sent there.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources'
import { awsFrame, bedrockBlock } from '../conformance/vendor-others.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { json, reply as raw, type Step, startUpstream, type Upstream } from '../support/upstream.ts'

const nova = 'amazon.nova-pro-v1:0'
const claude = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
let upstream: Upstream
let gateway: Gateway

function reply(...content: readonly object[]) {
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: 'end_turn',
    usage: { inputTokens: 7, outputTokens: 5, totalTokens: 12 },
  }
}

function streamed(...content: Parameters<typeof bedrockBlock>[0][]): Step {
  const frames = [
    awsFrame('messageStart', { role: 'assistant' }),
    ...content.flatMap(bedrockBlock),
    awsFrame('messageStop', { stopReason: 'end_turn' }),
    awsFrame('metadata', { usage: reply().usage }),
  ]
  return raw(200, Buffer.concat(frames), 'content-type: application/vnd.amazon.eventstream')
}

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('*', [json(200, reply({ text: 'A cat.' }))])
  const at = { vendor: 'bedrock', baseUrl: upstream.url, key: 'k' }
  const options = { imageBuckets: 'open, second' }
  gateway = await startGateway({
    config: {
      channels: [
        { ...at, id: 'nova', models: { nova } },
        { ...at, id: 'closed', models: { closed: claude } },
        { ...at, id: 'open', models: { open: claude }, options },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

function sent(): Record<string, unknown> {
  return JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '') as Record<string, unknown>
}

test.each([
  ['closed', 's3://open/cat.png', false],
  ['open', 's3://open/cat.png', true],
  ['open', 's3://second/a/cat.jpg', true],
  ['open', 's3://other/open/cat.png', false],
  ['open', 's3://open.other/cat.png', false],
])('channel %s: a picture at %s is read with its rights: %p', async (model, url, taken) => {
  const before = upstream.requests.length
  const fileData = { mimeType: 'image/png', fileUri: url }
  const replies = [
    await gateway.post('/v1/messages', {
      model,
      max_tokens: 9,
      messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }],
    }),
    await gateway.post(`/v1beta/models/${model}:generateContent`, {
      contents: [{ role: 'user', parts: [{ fileData }] }],
    }),
  ]
  expect(replies.map(({ status }) => status)).toEqual(taken ? [200, 200] : [400, 400])
  expect(upstream.requests.length - before).toBe(taken ? 2 : 0)
  if (taken) expect(JSON.stringify(sent())).toContain(`{"s3Location":{"uri":"${url}"}}`)
})

const thought = { text: '<thinking> I will use the tool. </thinking>\n' }
const asJson = { toolUse: { toolUseId: 't1', name: 'tollgate_json_reply', input: { a: 1 } } }
const clock = { toolUse: { toolUseId: 't2', name: 'clock', input: {} } }

describe('JSON from a model that thinks aloud before it calls a tool', () => {
  test.each([
    ['the JSON alone', [thought, asJson], '{"a":1}', []],
    ['all it says where it calls no tool', [thought], thought.text, []],
    ['all it says before another call', [thought, clock], thought.text, ['clock']],
  ] as const)('%s', async (_, content, text, called) => {
    const body = {
      model: 'nova',
      messages: [{ role: 'user', content: 'Hi' }],
      response_format: { type: 'json_object' },
      tools: [{ type: 'function', function: { name: 'clock' } }],
    }
    upstream.on('*', [json(200, reply(...content))])
    const whole = (await (
      await gateway.post('/v1/chat/completions', body)
    ).json()) as ChatCompletion
    const [choice] = whole.choices
    expect(choice?.message.content).toBe(text)
    upstream.on('*', [streamed(...content)])
    const stream = await gateway.post('/v1/chat/completions', { ...body, stream: true })
    const chunks = (await stream.text())
      .split('\n\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)) as ChatCompletionChunk)
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe(text)
    const names = deltas
      .flatMap((each) => each.tool_calls ?? [])
      .flatMap((each) => each.function?.name ?? [])
    expect(names).toEqual([...called])
  })
})
