// Tests Google's own client through the gateway, with vendors of its format and of another; and other clients with
// Google's.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { ApiError, type Content, FinishReason, Type } from '@google/genai'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { ask, openaiClient } from '../support/clients.ts'
import { testKey } from '../support/gateway.ts'
import { events, type GoogleStage, googleClient, startGoogleStage } from './google-stage.ts'

let stage: GoogleStage
beforeAll(async () => {
  stage = await startGoogleStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

const declared = {
  functionDeclarations: [
    {
      name: 'get_weather',
      description: 'Weather of a city.',
      parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } } },
    },
  ],
}

const models = [
  ['sandbox/chat', /sandbox/],
  ['odd/sandbox:latest@2026', /sandbox/],
  ['mock-chat', /Hi from the mock/],
  ['mock-gemini', /Hi from the mock/],
] as const

describe.each(models)('@google/genai on %s', (model, says) => {
  test.each([undefined, 'v1beta', 'v1alpha', 'v1'])('whole, version %p', async (version) => {
    const ai = googleClient(stage.gateway.url, version)
    const reply = await ai.models.generateContent({ model, contents: 'Hello' })
    expect(reply.text).toMatch(says)
    expect(reply.candidates?.[0]?.finishReason).toBe(FinishReason.STOP)
    expect(reply.responseId).not.toBe('')
    // The mock does not count by itself in this format.
    if (model !== 'mock-gemini') expect(reply.usageMetadata?.totalTokenCount).toBeGreaterThan(0)
  })

  test('a stream says what the whole does, and its last event tells the usage', async () => {
    const ai = googleClient(stage.gateway.url)
    const whole = await ai.models.generateContent({ model, contents: 'Hello' })
    let text = ''
    let finish: string | undefined
    let total: number | undefined
    for await (const chunk of await ai.models.generateContentStream({ model, contents: 'Hello' })) {
      expect(finish).toBeUndefined()
      text += chunk.text ?? ''
      finish = chunk.candidates?.[0]?.finishReason
      total = chunk.usageMetadata?.totalTokenCount
    }
    expect(text).toBe(whole.text ?? 'no text')
    expect(finish).toBe('STOP')
    expect(total).toBe(whole.usageMetadata?.totalTokenCount)
  })

  test('a chat keeps its history, whole and streamed', async () => {
    const chat = googleClient(stage.gateway.url).chats.create({ model })
    expect((await chat.sendMessage({ message: 'Hello' })).text).toMatch(says)
    for await (const _ of await chat.sendMessageStream({ message: 'Hello again' }));
    const roles = chat.getHistory(true).map(({ role }) => role)
    expect(roles[0]).toBe('user')
    expect(new Set(roles.slice(3))).toEqual(new Set(['model']))
    expect((await chat.sendMessage({ message: 'And again' })).text).toMatch(says)
  })

  test('a tool is called, and its answer told', async () => {
    const ai = googleClient(stage.gateway.url)
    const contents: Content[] = [
      { role: 'user', parts: [{ text: 'Please use get_weather for Paris' }] },
    ]
    const config = { tools: [declared] }
    const asked = await ai.models.generateContent({ model, contents, config })
    const [call] = asked.functionCalls ?? []
    expect(call?.name).toBe('get_weather')
    const said = asked.candidates?.[0]?.content
    if (said === undefined) throw new Error('no content')
    const functionResponse = {
      ...(call?.id !== undefined && { id: call.id }),
      name: 'get_weather',
      response: { output: 'sunny' },
    }
    contents.push(said, { role: 'user', parts: [{ functionResponse }] })
    const reply = await ai.models.generateContent({ model, contents, config })
    expect(reply.functionCalls).toBeUndefined()
    expect(reply.text).not.toBe('')
  })

  test('tokens are counted, the model is described', async () => {
    const ai = googleClient(stage.gateway.url)
    const { totalTokens } = await ai.models.countTokens({ model, contents: 'Hello there, world' })
    expect(totalTokens).toBeGreaterThan(2)
    expect((await ai.models.get({ model })).name).toBe(`models/${model}`)
  })
})

describe.each([undefined, 'v1beta'])('lists, version %p', (version) => {
  test('models as Google lists them', async () => {
    const names: (string | undefined)[] = []
    for await (const model of await googleClient(stage.gateway.url, version).models.list())
      names.push(model.name)
    expect(names).toContain('models/gemini-3-pro')
    expect(names).toContain('models/odd/sandbox:latest@2026')
  })
})

async function thrown(run: Promise<unknown>): Promise<ApiError> {
  const error = await run.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ApiError)) throw new Error(`not an API error: ${String(error)}`)
  return error
}

describe('refusals', () => {
  test('an unknown model, a bad key, a bad request', async () => {
    const ai = googleClient(stage.gateway.url)
    const unknown = await thrown(ai.models.generateContent({ model: 'none', contents: 'a' }))
    expect(unknown.status).toBe(404)
    expect(JSON.parse(unknown.message).error).toMatchObject({ code: 404, status: 'NOT_FOUND' })
    const path = `${stage.gateway.url}/v1beta/models/sandbox/chat:generateContent`
    const bad = await fetch(path, {
      method: 'POST',
      headers: { 'x-goog-api-key': 'x' },
      body: '{}',
    })
    expect(bad.status).toBe(401)
    expect(await bad.json()).toMatchObject({
      error: { status: 'UNAUTHENTICATED', details: [{ reason: 'API_KEY_INVALID' }] },
    })
    const empty = await fetch(path, {
      method: 'POST',
      headers: { 'x-goog-api-key': testKey },
      body: '{"contents":[]}',
    })
    expect(empty.status).toBe(400)
    expect(await empty.json()).toMatchObject({
      error: {
        status: 'INVALID_ARGUMENT',
        details: [{}, { fieldViolations: [{ field: 'contents' }] }],
      },
    })
  })

  test('a method, a path and a verb nobody offers, each in this shape', async () => {
    const at = (path: string, method: string) =>
      fetch(stage.gateway.url + path, { method, headers: { 'x-goog-api-key': testKey } })
    const wrong = [
      ['/v1beta/models/sandbox/chat:predict', 'POST', 404],
      ['/v1beta/nothing', 'GET', 404],
      ['/v1beta/models', 'DELETE', 405],
      ['/v1beta/models/none', 'GET', 404],
    ] as const
    for (const [path, method, status] of wrong) {
      const reply = await at(path, method)
      expect(reply.status).toBe(status)
      expect(await reply.json()).toMatchObject({ error: { code: status } })
      expect(reply.headers.get('x-request-id')).toMatch(/^req_/)
    }
    expect((await at('/v1/models/none', 'POST')).status).toBe(405)
  })

  test('an interface nobody offers below /v1, where newer clients of Google ask', async () => {
    const ai = googleClient(stage.gateway.url, 'v1')
    for (const interfaces of [ai.files, ai.caches, ai.batches]) {
      const error = await thrown(interfaces.list())
      expect(JSON.parse(error.message).error).toMatchObject({ code: 404, status: 'NOT_FOUND' })
    }
    // A key in Google's header alone does not make a client of OpenAI's addresses Google's.
    const other = await fetch(`${stage.gateway.url}/v1/files`, {
      headers: { 'x-goog-api-key': testKey },
    })
    expect(await other.json()).toMatchObject({ error: { code: 'unsupported_endpoint' } })
  })
})

describe('the address', () => {
  const body = JSON.stringify({ contents: [{ parts: [{ text: 'Hello' }] }] })
  const post = (path: string, headers: Record<string, string> = {}) =>
    fetch(stage.gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })

  test('may hold the key', async () => {
    const reply = await post(`/v1beta/models/sandbox/chat:generateContent?key=${testKey}`)
    expect(reply.status).toBe(200)
    // Not for other formats' endpoints.
    expect((await post(`/v1/chat/completions?key=${testKey}`)).status).toBe(401)
  })

  test('asks for a list unless it says alt=sse', async () => {
    const key = { 'x-goog-api-key': testKey }
    const list = await post('/v1beta/models/sandbox/chat:streamGenerateContent', key)
    expect(list.headers.get('content-type')).toStartWith('application/json')
    const frames = (await list.json()) as { candidates: { finishReason?: string }[] }[]
    expect(frames.length).toBeGreaterThan(2)
    expect(frames.at(-1)?.candidates[0]?.finishReason).toBe('STOP')
    const stream = await post('/v1beta/models/sandbox/chat:streamGenerateContent?alt=sse', key)
    expect(stream.headers.get('content-type')).toStartWith('text/event-stream')
    const text = await stream.text()
    expect(text).not.toContain('[DONE]')
    expect(text.endsWith('}\n\n')).toBe(true)
    for (const frame of text.trim().split('\n\n')) expect(frame).toStartWith('data: {')
  })

  test.each([
    '/v1/publishers/google/models',
    '/v1beta1/projects/p/locations/global/publishers/google/models',
    '/v1/v1beta/models',
    '/models',
  ])('may be %s', async (prefix) => {
    const path = `${prefix}/odd%2Fsandbox%3Alatest%402026:generateContent`
    expect((await post(path, { authorization: `Bearer ${testKey}` })).status).toBe(200)
  })

  test('is a part of what an Idempotency-Key stands for', async () => {
    const key = { 'x-goog-api-key': testKey, 'idempotency-key': crypto.randomUUID() }
    const first = await post('/v1beta/models/sandbox/chat:streamGenerateContent', key)
    const list = await first.text()
    const again = await post('/v1beta/models/sandbox/chat:streamGenerateContent', key)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.text()).toBe(list)
    const other = await post('/v1beta/models/sandbox/chat:generateContent', key)
    expect(other.status).toBe(422)
  })
})

const tail = { modelVersion: 'gemini-3-pro-preview', responseId: 'resp-1' }
const usageMetadata = {
  promptTokenCount: 9,
  candidatesTokenCount: 4,
  thoughtsTokenCount: 7,
  totalTokenCount: 20,
}
const said = (parts: object[], more: object = {}) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
  ...tail,
})
const calling = [
  said([{ text: 'Let me see.', thought: true }]),
  said([
    {
      functionCall: { name: 'get_weather', args: { city: 'Paris' } },
      thoughtSignature: 'c2lnbmVk',
    },
  ]),
  said([{ functionCall: { name: 'get_weather', args: { city: 'Rome' } } }]),
  { ...said([{ text: '' }], { finishReason: 'STOP' }), usageMetadata },
]
const answering = [
  said([{ text: 'Sun' }]),
  { ...said([{ text: 'ny.' }], { finishReason: 'STOP' }), usageMetadata },
]

/** Calls at first, and an answer once there are results. */
function byTurn(asked: { readonly path: string; readonly body: object }): Response {
  const frames = JSON.stringify(asked.body).includes('functionResponse') ? answering : calling
  if (asked.path.includes('stream')) return events(frames)
  const parts = frames.flatMap((frame) => frame.candidates[0]?.content.parts ?? [])
  return Response.json({ ...said(parts, { finishReason: 'STOP' }), usageMetadata })
}

describe("Google's own vendor", () => {
  test("its client's bytes go on as they are, and so do the vendor's", async () => {
    stage.stub.answer = byTurn
    const reply = await stage.gateway.post(
      '/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse',
      {
        contents: [{ role: 'user', parts: [{ text: 'hi', made_up: 1 }] }],
        safety_settings: [],
      },
    )
    expect(await reply.text()).toBe(
      calling.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(''),
    )
    expect(stage.stub.last).toEqual({
      path: '/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse',
      key: 'upstream-key',
      body: {
        contents: [{ role: 'user', parts: [{ text: 'hi', made_up: 1 }] }],
        safety_settings: [],
      },
    })
    const row = await stage.gateway.row(reply.headers.get('x-request-id') ?? '')
    expect(row).toMatchObject({ input: 9, output: 4, reasoning: 7, usageSource: 'reported' })
  })

  test.each([true, false])(
    'the official SDK of another format calls tools, streamed: %p',
    async (stream) => {
      stage.stub.answer = byTurn
      const client = openaiClient(stage.gateway.url)
      const tools = [
        {
          type: 'function' as const,
          function: {
            name: 'get_weather',
            parameters: { type: 'object', properties: { city: { type: 'string' } } },
          },
        },
      ]
      const messages: Parameters<typeof client.chat.completions.create>[0]['messages'] =
        ask('Weather?')
      const asked = { model: 'gemini-3-pro', messages, tools }
      const first = stream
        ? await client.chat.completions
            .stream({ ...asked, stream_options: { include_usage: true } })
            .finalChatCompletion()
        : await client.chat.completions.create(asked)
      const [choice] = first.choices
      expect(choice?.finish_reason).toBe('tool_calls')
      expect(first.usage).toMatchObject({
        prompt_tokens: 9,
        completion_tokens: 11,
        total_tokens: 20,
      })
      const calls = choice?.message.tool_calls ?? []
      expect(
        calls.map((call) => (call.type === 'function' ? call.function.arguments : '')),
      ).toEqual(['{"city":"Paris"}', '{"city":"Rome"}'])
      if (choice === undefined) throw new Error('no choice')
      messages.push(choice.message)
      for (const { id } of calls)
        messages.push({ role: 'tool', tool_call_id: id, content: 'sunny' })
      const second = await client.chat.completions.create(asked)
      expect(second.choices[0]?.message.content).toBe('Sunny.')
      expect(stage.stub.last.body['contents']).toEqual([
        { role: 'user', parts: [{ text: 'Weather?' }] },
        {
          role: 'model',
          parts: [
            // The seal is the vendor's own again, on the call with which it came.
            {
              functionCall: { name: 'get_weather', args: { city: 'Paris' } },
              thoughtSignature: 'c2lnbmVk',
            },
            { functionCall: { name: 'get_weather', args: { city: 'Rome' } } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'get_weather', response: { result: 'sunny' } } },
            { functionResponse: { name: 'get_weather', response: { result: 'sunny' } } },
          ],
        },
      ])
    },
  )

  test('an error after the first words ends the stream in an error', async () => {
    const error = { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }
    stage.stub.answer = () => events([said([{ text: 'Hel' }]), error])
    const ai = googleClient(stage.gateway.url)
    const stream = await ai.models.generateContentStream({ model: 'gemini-failing', contents: 'a' })
    let text = ''
    const failed = await thrown(
      (async () => {
        for await (const chunk of stream) text += chunk.text ?? ''
      })(),
    )
    expect(text).toBe('Hel')
    expect(failed.status).toBe(503)
  })

  test('a stream that stops before its finish is an error to every client', async () => {
    stage.stub.answer = () => events([said([{ text: 'Hel' }])])
    const ai = googleClient(stage.gateway.url)
    const read = async () => {
      for await (const _ of await ai.models.generateContentStream({
        model: 'gemini-failing',
        contents: 'a',
      }));
    }
    expect((await thrown(read())).status).toBe(503)
    const stream = openaiClient(stage.gateway.url).chat.completions.stream({
      model: 'gemini-failing',
      messages: ask('a'),
    })
    expect(stream.finalChatCompletion()).rejects.toThrow()
  })

  test('what Google refuses is the client’s own error, what it asks to wait is told', async () => {
    const type = 'type.googleapis.com/google.rpc.RetryInfo'
    const refusal = (code: number, status: string) => () =>
      Response.json(
        {
          error: {
            code,
            message: 'no such thing',
            status,
            details: [{ '@type': type, retryDelay: '2s' }],
          },
        },
        { status: code },
      )
    const ai = googleClient(stage.gateway.url)
    const asked = { model: 'gemini-failing', contents: 'a' }
    stage.stub.answer = refusal(400, 'INVALID_ARGUMENT')
    const bad = await thrown(ai.models.generateContent(asked))
    expect([bad.status, JSON.parse(bad.message).error.message]).toEqual([400, 'no such thing'])
    stage.stub.answer = refusal(429, 'RESOURCE_EXHAUSTED')
    const slow = await thrown(ai.models.generateContent(asked))
    expect(slow.status).toBe(429)
    expect(slow.message).toContain('retryDelay')
  })
})

// The mock of Google's format ends calls with a word that Google does not know.
describe.each(['sandbox/chat', 'mock-chat', 'gemini-3-pro'])('@ai-sdk/google on %s', (model) => {
  const options = {
    prompt: 'Please use get_weather for Paris',
    stopWhen: stepCountIs(3),
    maxRetries: 0,
    tools: {
      get_weather: tool({
        description: 'Weather of a city.',
        inputSchema: z.object({ city: z.string() }),
        execute: () => 'sunny',
      }),
    },
  }
  const provider = () =>
    createGoogleGenerativeAI({ apiKey: testKey, baseURL: `${stage.gateway.url}/v1beta` })

  test('a tool is called and its answer told, whole and streamed', async () => {
    stage.stub.answer = byTurn
    const whole = await generateText({ model: provider()(model), ...options })
    expect(whole.steps).toHaveLength(2)
    expect(whole.text).not.toBe('')
    const failures: unknown[] = []
    const streamed = streamText({
      model: provider()(model),
      ...options,
      onError: ({ error }) => void failures.push(error),
    })
    await streamed.consumeStream()
    expect(failures).toEqual([])
    expect(await streamed.text).toBe(whole.text)
    expect(await streamed.finishReason).toBe('stop')
  })
})
