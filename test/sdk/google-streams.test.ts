// Tests how Google's clients handle a stream with pauses, and the requests of its command line.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { GoogleGenerativeAI } from '@google/generative-ai'
import { streamText } from 'ai'
import { GatewayError } from '../../src/errors.ts'
import { dialects } from '../../src/wire/dialects.ts'
import { openaiClient } from '../support/clients.ts'
import { testKey } from '../support/gateway.ts'
import { events, type GoogleStage, googleClient, startGoogleStage } from './google-stage.ts'

const { heartbeat } = dialects.gemini.client
const frame = (text: string, finishReason?: string): string =>
  `data: ${JSON.stringify({
    candidates: [
      { content: { parts: [{ text }], role: 'model' }, ...(finishReason && { finishReason }) },
    ],
  })}\n\n`
const quiet = [heartbeat, heartbeat, frame('a'), heartbeat, frame('b', 'STOP')]

/** A server that sends each piece as a separate chunk. */
function serving(pieces: readonly string[]) {
  return Bun.serve({
    port: 0,
    fetch: () =>
      new Response(
        (async function* () {
          for (const piece of pieces) yield piece
        })() as unknown as BodyInit,
        { headers: { 'content-type': 'text/event-stream' } },
      ),
  })
}

test('heartbeats are passed over by @google/genai, and its chats keep their history', async () => {
  using server = serving(quiet)
  const chat = googleClient(server.url.href).chats.create({ model: 'm' })
  let text = ''
  for await (const chunk of await chat.sendMessageStream({ message: 'hi' })) text += chunk.text
  expect(text).toBe('ab')
  expect(chat.getHistory(true)).toHaveLength(3)
})

test('and by @ai-sdk/google', async () => {
  using server = serving(quiet)
  const provider = createGoogleGenerativeAI({ apiKey: 'k', baseURL: `${server.url.href}v1beta` })
  const failures: unknown[] = []
  const onError = ({ error }: { error: unknown }) => void failures.push(error)
  expect(await streamText({ model: provider('m'), prompt: 'hi', onError }).text).toBe('ab')
  expect(failures).toEqual([])
})

test('and by clients that read line by line, which know nothing but data and blank lines', () => {
  const lines = quiet.join('').split('\n')
  expect(lines.filter((line) => line !== '' && !line.startsWith('data: '))).toEqual([])
})

const error = new GatewayError('service_unavailable', 'The stream ended early: it was cut.')
const broken = [frame('a'), dialects.gemini.client.errorFrames(error, 'req_1')]

test('a stream that breaks off throws in @google/genai', async () => {
  using server = serving(broken)
  const client = googleClient(server.url.href)
  const stream = await client.models.generateContentStream({ model: 'm', contents: 'hi' })
  await expect(Array.fromAsync(stream)).rejects.toThrow('The stream ended early: it was cut.')
})

test('in @google/generative-ai, which passes over an error in an event', async () => {
  using server = serving(broken)
  const model = new GoogleGenerativeAI('k').getGenerativeModel(
    { model: 'm' },
    { baseUrl: server.url.href },
  )
  const { stream, response } = await model.generateContentStream('hi')
  const ends = await Promise.allSettled([response, Array.fromAsync(stream)])
  for (const end of ends) {
    expect(end.status === 'rejected' && String(end.reason)).toContain('Failed to parse stream')
  }
})

test('and in @ai-sdk/google, which passes over what is no event', async () => {
  using server = serving(broken)
  const provider = createGoogleGenerativeAI({ apiKey: 'k', baseURL: `${server.url.href}v1beta` })
  const failures: unknown[] = []
  const onError = ({ error }: { error: unknown }) => void failures.push(String(error))
  await streamText({ model: provider('m'), prompt: 'hi', onError }).consumeStream()
  expect(failures).toEqual([expect.stringContaining('it was cut')])
})

let stage: GoogleStage
beforeAll(async () => {
  stage = await startGoogleStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

/**
 * A turn as Gemini CLI sends it: reasoning in its history, real JSON Schema in its tools, `role` on the instruction.
 */
const cliTurn = {
  contents: [
    { role: 'user', parts: [{ text: 'This is the Gemini CLI. We are setting up the context.' }] },
    { role: 'model', parts: [{ text: 'Got it. Thanks for the context!' }] },
    { role: 'user', parts: [{ text: 'list the files' }] },
    {
      role: 'model',
      parts: [
        { text: '**Listing**', thought: true },
        { functionCall: { name: 'list_directory', args: { path: '.' } }, thoughtSignature: 'c2ln' },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'list_directory-1',
            name: 'list_directory',
            response: { output: 'a.ts' },
          },
        },
      ],
    },
  ],
  systemInstruction: { role: 'user', parts: [{ text: 'You are an interactive CLI agent.' }] },
  tools: [
    {
      functionDeclarations: [
        {
          name: 'list_directory',
          description: 'Lists the names of files.',
          parametersJsonSchema: {
            type: 'object',
            properties: {
              path: { type: 'string' },
              ignore: { type: 'array', items: { type: 'string' } },
            },
            required: ['path'],
          },
        },
        {
          name: 'get_internal_docs',
          description: 'Docs.',
          parametersJsonSchema: { type: 'object', properties: {} },
        },
      ],
    },
  ],
  generationConfig: {
    temperature: 1,
    topP: 0.95,
    topK: 64,
    thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
  },
}

function asCli(path: string, body: object): Promise<Response> {
  return fetch(stage.gateway.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent':
        'GeminiCLI/0.30.0/gemini-3-pro (linux; x64) google-genai-sdk/1.30.0 gl-node/v22',
      'x-goog-api-client': 'google-genai-sdk/1.30.0 gl-node/v22',
      'x-goog-api-key': testKey,
    },
    body: JSON.stringify(body),
  })
}

test.each(['sandbox/chat', 'mock-chat'])('Gemini CLI streams a turn on %s', async (model) => {
  const reply = await asCli(`/v1beta/models/${model}:streamGenerateContent?alt=sse`, cliTurn)
  expect(reply.status).toBe(200)
  const frames = (await reply.text()).split('\n\n').filter((text) => text !== '')
  const values = frames.map((text) => JSON.parse(text.replace(/^data: /, '')))
  expect(values.at(-1).candidates[0].finishReason).toBe('STOP')
  expect(values.at(-1).usageMetadata.totalTokenCount).toBeGreaterThan(0)
})

test('Gemini CLI on the vendor of its format has its own bytes passed on', async () => {
  const last = {
    candidates: [{ content: { parts: [{ text: 'a.ts' }], role: 'model' }, finishReason: 'STOP' }],
  }
  stage.stub.answer = () => events([last])
  const reply = await asCli('/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse', cliTurn)
  expect(await reply.text()).toBe(`data: ${JSON.stringify(last)}\n\n`)
  expect(stage.stub.last.body).toEqual(cliTurn)
})

test('Gemini CLI counts the tokens of its history', async () => {
  const { contents } = cliTurn
  const reply = await asCli('/v1beta/models/gemini-3-pro:countTokens', { contents })
  expect((await reply.json()).totalTokens).toBeGreaterThan(20)
  const whole = { generateContentRequest: { model: 'models/gemini-3-pro', ...cliTurn } }
  const more = await asCli('/v1beta/models/gemini-3-pro:countTokens', whole)
  expect((await more.json()).totalTokens).toBeGreaterThan(60)
})

test('a signature another vendor sealed does not reach Google', async () => {
  stage.stub.answer = () => events([{ candidates: [{ content: {}, finishReason: 'STOP' }] }])
  const { wrapOpaque } = await import('../../src/wire/hub/opaque-state.ts')
  const thoughtSignature = wrapOpaque('sig', { dialect: 'anthropic-messages', channel: '01234567' })
  const call = { functionCall: { name: 'a', args: {} }, thoughtSignature }
  const contents = [
    { role: 'model', parts: [{ text: 'x', thought: true, thoughtSignature }, call] },
  ]
  await (
    await asCli('/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse', { contents })
  ).text()
  expect(stage.stub.last.body['contents']).toEqual([
    {
      role: 'model',
      parts: [
        // Reasoning is only useful with its signature.
        { ...call, thoughtSignature: 'skip_thought_signature_validator' },
      ],
    },
  ])
})

test('a picture of 5 MB in one event reaches clients of both formats, with its usage', async () => {
  const data = Buffer.alloc(5 << 20, 7).toString('base64')
  const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 1_290, totalTokenCount: 1_299 }
  const parts = [{ text: 'here' }, { inlineData: { mimeType: 'image/png', data } }]
  const content = { parts, role: 'model' }
  stage.stub.answer = () =>
    events([{ candidates: [{ content, finishReason: 'STOP' }], usageMetadata }])
  const model = 'gemini-3-pro'
  const own = await googleClient(stage.gateway.url).models.generateContentStream({
    model,
    contents: 'draw',
  })
  const shown = (await Array.fromAsync(own)).flatMap(({ candidates }) => candidates ?? [])
  expect(shown.flatMap((each) => each.content?.parts ?? [])).toEqual(parts)
  const chunks = await openaiClient(stage.gateway.url).chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'draw' }],
    stream: true,
    stream_options: { include_usage: true },
  })
  const said = await Array.fromAsync(chunks)
  const deltas = said.flatMap(({ choices }) => choices.map(({ delta }) => delta as object))
  const url = `data:image/png;base64,${data}`
  const images = deltas.flatMap((delta) => ('images' in delta ? delta.images : []))
  expect(images).toEqual([{ type: 'image_url', image_url: { url } }])
  expect(said.at(-1)?.usage?.completion_tokens).toBe(1_290)
})
