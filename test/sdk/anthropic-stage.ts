// A gateway in front of vendors of two formats, for tests of Anthropic's: the sandbox, an independent mock, and a stub.

import { LLMock } from '@copilotkit/aimock'
import { type Gateway, startGateway } from '../support/gateway.ts'
import {
  chunk,
  json,
  lastChunk,
  type Script,
  send,
  sseHead,
  startUpstream,
  type Upstream,
} from '../support/upstream.ts'

export interface Stage {
  readonly gateway: Gateway
  /** An independent implementation of Anthropic's format; model `claude-mock`. */
  readonly mock: LLMock
  /** Answers what a test sets; models `claude-stub`, `claude-sonnet-4-5` and any `claude-*`. */
  readonly stub: Upstream
  close(): Promise<void>
}

const key = 'sk-ant-upstream-0123456789'

function startMock(): LLMock {
  const server = new LLMock({ port: 0, host: '127.0.0.1' })
  const call = { name: 'get_weather', arguments: '{"city":"Paris"}', id: 'toolu_mock_1' }
  server.on({ userMessage: 'get_weather', hasToolResult: false }, { toolCalls: [call] })
  server.on({ userMessage: 'get_weather', hasToolResult: true }, { content: 'It is sunny.' })
  server.on({ userMessage: 'think' }, { content: 'Done.', reasoning: 'First this, then that.' })
  server.on(
    { endpoint: 'chat' },
    {
      content: 'Hi from the mock, in a sentence of several words.',
      usage: { input_tokens: 11, output_tokens: 7 },
    },
  )
  return server
}

export async function startStage(): Promise<Stage> {
  const mock = startMock()
  await mock.start()
  const stub = await startUpstream()
  const vendor = { vendor: 'anthropic', key }
  const gateway = await startGateway({
    config: {
      server: { commitAfterMs: 300 },
      channels: [
        { id: 'sandbox', vendor: 'sandbox', models: { 'sandbox/*': 'sandbox/*' } },
        {
          ...vendor,
          id: 'mock',
          baseUrl: `${mock.url}/v1`,
          models: { 'claude-mock': 'claude-sonnet-4-5' },
        },
        {
          ...vendor,
          id: 'stub',
          baseUrl: stub.url,
          models: { 'claude-stub': 'claude-opus-5', 'claude-*': 'claude-*' },
        },
      ],
    },
  })
  return {
    gateway,
    mock,
    stub,
    async close() {
      await gateway.stop()
      await mock.stop()
      await stub.close()
    },
  }
}

/** Answers with a stream of these events, each named as Anthropic does. */
export function messageStream(events: readonly { readonly type: string }[]): Script {
  const text = events
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')
  return [send(Buffer.concat([Buffer.from(sseHead), chunk(text), Buffer.from(lastChunk)]))]
}

export function whole(message: unknown): Script {
  return [json(200, message, 'request-id: req_vendor')]
}

/** Reasoning, a text, and two calls, as Anthropic streams them. */
export const thinkingEvents = [
  {
    type: 'message_start',
    message: {
      id: 'msg_stub',
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-5',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: 20,
        cache_creation_input_tokens: 5,
        cache_read_input_tokens: 100,
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 3 },
        output_tokens: 1,
      },
    },
  },
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'thinking', thinking: '', signature: '' },
  },
  {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'thinking_delta', thinking: 'Two cities. ' },
  },
  { type: 'ping' },
  {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'thinking_delta', thinking: 'Ask both.' },
  },
  {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'signature_delta', signature: 'EqQBsignature' },
  },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Grüße, 世界 👋' } },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} },
  },
  {
    type: 'content_block_delta',
    index: 2,
    delta: { type: 'input_json_delta', partial_json: '{"city":' },
  },
  {
    type: 'content_block_delta',
    index: 2,
    delta: { type: 'input_json_delta', partial_json: '"Oslo"}' },
  },
  { type: 'content_block_stop', index: 2 },
  {
    type: 'content_block_start',
    index: 3,
    content_block: { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} },
  },
  { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '' } },
  { type: 'content_block_stop', index: 3 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 60, output_tokens_details: { thinking_tokens: 30 } },
  },
  { type: 'message_stop' },
]
