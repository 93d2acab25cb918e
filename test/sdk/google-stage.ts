// The upstreams for tests of Google's clients: the sandbox, a mock of both formats, and a stub of Google's own.

import { LLMock } from '@copilotkit/aimock'
import { GoogleGenAI } from '@google/genai'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'

export interface Asked {
  readonly path: string
  readonly key: string | null
  readonly body: Record<string, unknown>
}

export type Answer = (asked: Asked) => Response | Promise<Response>

/** A stub of Google's API: answers as the test set last, and records its requests. */
export class GoogleStub implements Disposable {
  readonly asked: Asked[] = []
  answer: Answer = () => new Response(null, { status: 500 })
  private readonly server: Bun.Server<undefined>

  constructor() {
    this.server = Bun.serve({
      port: 0,
      fetch: async (request) => {
        const { pathname, search } = new URL(request.url)
        const body = (await request.json()) as Asked['body']
        const key = request.headers.get('x-goog-api-key')
        const asked = { path: decodeURIComponent(pathname) + search, key, body }
        this.asked.push(asked)
        return this.answer(asked)
      },
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.server.port}/v1beta`
  }

  get last(): Asked {
    const asked = this.asked.at(-1)
    if (asked === undefined) throw new Error('nothing was asked')
    return asked
  }

  [Symbol.dispose](): void {
    void this.server.stop(true)
  }
}

/** Google's stream of these frames. */
export function events(frames: readonly unknown[]): Response {
  const text = frames.map((frame) => `data: ${JSON.stringify(frame)}\r\n\r\n`).join('')
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

function mock(): LLMock {
  const server = new LLMock({ port: 0, host: '127.0.0.1' })
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
  return server
}

export interface GoogleStage extends AsyncDisposable {
  readonly gateway: Gateway
  readonly stub: GoogleStub
}

/** Models: `sandbox/chat`, `mock-chat` and `mock-gemini` of the mock in either format, `gemini-3-pro` and `gemini-failing` of the stub. */
export async function startGoogleStage(server: object = {}): Promise<GoogleStage> {
  const upstream = mock()
  await upstream.start()
  const stub = new GoogleStub()
  const key = 'upstream-key'
  const gateway = await startGateway({
    config: {
      server,
      channels: [
        {
          id: 'sandbox',
          vendor: 'sandbox',
          models: { 'sandbox/chat': 'sandbox/chat', 'odd/sandbox:latest@2026': 'sandbox/chat' },
        },
        {
          id: 'mock-chat',
          vendor: 'openai-compatible',
          baseUrl: `${upstream.url}/v1`,
          key,
          models: { 'mock-chat': 'gpt-4o-mini' },
        },
        {
          id: 'mock-gemini',
          vendor: 'google',
          baseUrl: `${upstream.url}/v1beta`,
          key,
          models: { 'mock-gemini': 'gemini-2.5-flash' },
        },
        {
          id: 'stub',
          vendor: 'google',
          baseUrl: stub.url,
          key,
          models: { 'gemini-3-pro': 'gemini-3-pro-preview' },
        },
        {
          // A separate one, so that its failures do not affect the health of the other.
          id: 'stub-failing',
          vendor: 'google',
          baseUrl: stub.url,
          key,
          models: { 'gemini-failing': 'gemini-3-pro-preview' },
        },
      ],
    },
  })
  return {
    gateway,
    stub,
    async [Symbol.asyncDispose]() {
      await gateway.stop()
      stub[Symbol.dispose]()
      await upstream.stop()
    },
  }
}

/** Google's own client. */
export function googleClient(url: string, apiVersion?: string): GoogleGenAI {
  return new GoogleGenAI({
    apiKey: testKey,
    httpOptions: { baseUrl: url, ...(apiVersion !== undefined && { apiVersion }) },
  })
}
