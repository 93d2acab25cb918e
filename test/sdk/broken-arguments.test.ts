// Tests arguments of calls that are not the JSON of an object, in the formats whose clients get an object: every official
// client reads the reply, whole and streamed alike, and no arguments become `{}`.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import AnthropicZero from 'anthropic-sdk-0'
import OpenAI from 'openai'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'

/** The pieces in which the vendor's model says its arguments. */
const broken: readonly (readonly string[])[] = [
  ['{"city":', '"Par'],
  ['hel', 'lo'],
  ['[1,', '2]'],
  ['5'],
  ['null'],
  ['"{\\"a\\":', '1}"'],
  ['{"a":1}', '}'],
  ["{'a':", '1}'],
  [' ', '\n', 'x'],
]
let pieces: readonly string[] = []

function chunk(delta: object, finish: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  const fields = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' }
  return `data: ${JSON.stringify({ ...fields, choices })}\n\n`
}

function streamed(): string {
  const called = { index: 0, id: 'call_1', type: 'function' }
  return [
    chunk({ role: 'assistant', content: null }, null),
    chunk({ tool_calls: [{ ...called, function: { name: 'f', arguments: '' } }] }, null),
    ...pieces.map((text) =>
      chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] }, null),
    ),
    chunk({}, 'tool_calls'),
    'data: [DONE]\n\n',
  ].join('')
}

function whole(): object {
  const called = {
    id: 'call_1',
    type: 'function',
    function: { name: 'f', arguments: pieces.join('') },
  }
  const message = { role: 'assistant', content: null, tool_calls: [called] }
  const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
  return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices }
}

let vendor: Bun.Server<undefined>
let gateway: Gateway
let anthropic: Anthropic

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { stream } = (await request.json()) as { stream?: boolean }
      if (stream !== true) return Response.json(whole())
      return new Response(streamed(), { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  const baseUrl = `http://127.0.0.1:${vendor.port}/v1`
  gateway = await startGateway({
    config: {
      channels: [{ id: 'main', vendor: 'openai-compatible', baseUrl, key: 'k', models: ['m'] }],
      models: { m: { kind: 'chat' } },
    },
  })
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: testKey, maxRetries: 0 })
})
afterAll(async () => {
  await gateway.stop()
  await vendor.stop(true)
})

const tool = { name: 'f', input_schema: { type: 'object' as const } }
const asked = {
  model: 'm',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'Hi' }],
}

const body = { ...asked, tools: [tool] }
const options = () => ({ baseURL: gateway.url, apiKey: testKey, maxRetries: 0 })
/** Both replies that each of Anthropic's SDKs reads, whole and streamed. */
const clients = [
  [
    'its SDK',
    async () => {
      const { messages } = new Anthropic(options())
      return [await messages.create(body), await messages.stream(body).finalMessage()]
    },
  ],
  [
    'the SDK before',
    async () => {
      const { messages } = new AnthropicZero(options())
      return [await messages.create(body), await messages.stream(body).finalMessage()]
    },
  ],
] as const

describe.each(clients)("W35: in Anthropic's format, read by %s", (_, ask) => {
  test.each(broken.map((each) => [each.join('|'), each] as const))(
    'they are a text under `input`: %s',
    async (_name, said) => {
      pieces = said
      const content = [{ type: 'tool_use', name: 'f', input: { input: said.join('') } }]
      const expected = { stop_reason: 'tool_use', content }
      expect(await ask()).toMatchObject([expected, expected])
    },
  )
})

test("in Google's format the candidate ends with MALFORMED_FUNCTION_CALL", async () => {
  const google = new GoogleGenAI({ apiKey: testKey, httpOptions: { baseUrl: gateway.url } })
  for (const said of broken) {
    pieces = said
    const reply = await google.models.generateContent({ model: 'm', contents: 'Hi' })
    expect([reply.functionCalls, `${reply.candidates?.[0]?.finishReason}`]).toEqual([
      undefined,
      'MALFORMED_FUNCTION_CALL',
    ])
    const ends: (string | undefined)[] = []
    for await (const part of await google.models.generateContentStream({
      model: 'm',
      contents: 'Hi',
    })) {
      expect(part.functionCalls).toBeUndefined()
      ends.push(part.candidates?.[0]?.finishReason)
    }
    expect(ends.at(-1)).toBe('MALFORMED_FUNCTION_CALL')
  }
})

test("in OpenAI's formats they are the text that they are", async () => {
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: testKey, maxRetries: 0 })
  for (const said of broken) {
    pieces = said
    const response = await openai.responses.create({ model: 'm', input: 'Hi' })
    expect(response.output).toMatchObject([{ type: 'function_call', arguments: said.join('') }])
    const streaming = await openai.responses.stream({ model: 'm', input: 'Hi' }).finalResponse()
    expect(streaming.output).toMatchObject([{ type: 'function_call', arguments: said.join('') }])
  }
})

describe('the input of a tool', () => {
  async function deltas(eager: boolean | undefined, beta?: string): Promise<string[]> {
    pieces = ['{"city":', '"Bern"', '}']
    const flag = eager === undefined ? {} : { eager_input_streaming: eager }
    const headers = beta === undefined ? {} : { 'anthropic-beta': beta }
    const stream = anthropic.messages.stream(
      { ...asked, tools: [{ ...tool, ...flag }] },
      { headers },
    )
    const found: string[] = []
    stream.on('streamEvent', (event) => {
      if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta')
        found.push(event.delta.partial_json)
    })
    const message = await stream.finalMessage()
    expect(message.content).toMatchObject([{ type: 'tool_use', input: { city: 'Bern' } }])
    return found
  }
  const beta = 'fine-grained-tool-streaming-2025-05-14'

  test('comes in pieces with eager_input_streaming, or the beta for all tools', async () => {
    expect(await deltas(true)).toEqual([...pieces])
    expect(await deltas(undefined, `other,${beta}`)).toEqual([...pieces])
  })

  test('comes complete without it', async () => {
    expect(await deltas(undefined)).toEqual([pieces.join('')])
    expect(await deltas(false, beta)).toEqual([pieces.join('')])
  })

  test('that is not the beginning of an object is a text under `input` even so', async () => {
    pieces = ['hel', 'lo']
    const tools = [{ ...tool, eager_input_streaming: true }]
    const message = await anthropic.messages.stream({ ...asked, tools }).finalMessage()
    expect(message.content).toMatchObject([{ type: 'tool_use', input: { input: 'hello' } }])
  })
})
