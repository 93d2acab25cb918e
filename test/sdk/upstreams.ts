// The two upstreams of every SDK test: the built-in sandbox, and an independent mock of OpenAI's API.

import { LLMock } from '@copilotkit/aimock'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'

/** The answers of an upstream, so that one test can be written for both. */
export interface Upstream {
  readonly name: string
  readonly chat: string
  readonly embedding: string
  /** Model for legacy completions. */
  readonly completion: string
  /** A part of every plain answer. */
  readonly says: RegExp
  readonly dimensions: number
  /** Model with `/`, `:` and `@` in its name. */
  readonly oddModel: string
}

export const sandbox: Upstream = {
  name: 'the sandbox',
  chat: 'sandbox/chat',
  embedding: 'sandbox/embedding',
  completion: 'sandbox/completion',
  says: /sandbox/i,
  dimensions: 256,
  oddModel: 'odd/sandbox:latest@2026',
}

export const independent: Upstream = {
  name: 'aimock',
  chat: 'gpt-4o-mini',
  embedding: 'text-embedding-3-small',
  // It has no completions endpoint: the gateway translates to chat.
  completion: 'gpt-4o-mini',
  says: /Hi from the mock/,
  dimensions: 4,
  oddModel: 'odd/mock:latest@2026',
}

/** Kinds of chaos, each on a separate channel so that one does not affect the health of another. */
export const chaos = {
  ratelimited: { rateLimitRate: 1 },
  broken: { dropRate: 1 },
  malformed: { malformedRate: 1 },
  disconnected: { disconnectRate: 1 },
} as const

export const vector = [0.25, -0.5, 1, 0.125]

function mock(): LLMock {
  const server = new LLMock({ port: 0, host: '127.0.0.1' })
  for (const [kind, rates] of Object.entries(chaos)) {
    server.on({ model: `chaos-${kind}` }, { content: 'never seen' }, { chaos: rates })
  }
  const call = { name: 'get_weather', arguments: '{"city":"Paris"}', id: 'call_weather_1' }
  server.on({ userMessage: 'get_weather', hasToolResult: false }, { toolCalls: [call] })
  server.on({ userMessage: 'get_weather', hasToolResult: true }, { content: 'It is sunny.' })
  server.on(
    { endpoint: 'chat' },
    {
      content: 'Hi from the mock, in a sentence of several words.',
      usage: { prompt_tokens: 11, completion_tokens: 7 },
    },
  )
  server.onEmbedding(/./, { embedding: vector })
  return server
}

function channels(mockUrl: string): object[] {
  const base = { vendor: 'openai', baseUrl: `${mockUrl}/v1`, key: 'sk-upstream-secret-0123456789' }
  return [
    {
      id: 'sandbox',
      vendor: 'sandbox',
      models: {
        'sandbox/chat': 'sandbox/chat',
        'sandbox/*': 'sandbox/*',
        'sandbox/completion': 'sandbox/completion',
        'sandbox/embedding': 'sandbox/embedding',
        [sandbox.oddModel]: 'sandbox/chat',
      },
    },
    {
      ...base,
      id: 'mock',
      models: {
        'gpt-4o-mini': 'gpt-4o-mini',
        'text-embedding-3-small': 'text-embedding-3-small',
        [independent.oddModel]: 'gpt-4o-mini',
      },
    },
    ...Object.keys(chaos).map((kind) => ({ ...base, id: kind, models: [`chaos-${kind}`] })),
  ]
}

export interface Stage {
  readonly gateway: Gateway
  readonly mock: LLMock
  close(): Promise<void>
}

/** A gateway in front of both upstreams. */
export async function startStage(): Promise<Stage> {
  const server = mock()
  await server.start()
  const gateway = await startGateway({
    config: {
      channels: channels(server.url),
      keys: [
        { name: 'sdk', secret: testKey },
        { name: 'spaces', secret: 'My API Key with spaces' },
      ],
    },
  })
  return {
    gateway,
    mock: server,
    async close() {
      await gateway.stop()
      await server.stop()
    },
  }
}
