// Tests signatures that Google puts on a text: they return on that text through clients of chats, and through Google's
// clients to vendors of the chat format that have them too.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'

type Json = Readonly<Record<string, unknown>>

const signature = 'c2lnbmF0dXJl'
const signed = { text: 'Hello', thoughtSignature: signature }
const clock = { functionCall: { name: 'clock', args: {} } }
const opaque = { extra_content: { google: { thought_signature: signature } } }

/** The parts that Google's model says, streamed one by one. */
let said: readonly Json[] = []
let asked: Json = {}

function googleSays(streamed: boolean): Response {
  const body = (parts: readonly Json[], last: boolean) => ({
    candidates: [
      { content: { role: 'model', parts }, index: 0, ...(last && { finishReason: 'STOP' }) },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  })
  if (!streamed) return Response.json(body(said, true))
  const frames = said.map((part, at) => body([part], at === said.length - 1))
  const text = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

function chatSays(streamed: boolean): Response {
  const fields = { id: 'chatcmpl-1', created: 1, model: 'm' }
  const whole = { role: 'assistant', content: 'Hello', ...opaque }
  if (!streamed) {
    const choices = [{ index: 0, message: whole, finish_reason: 'stop' }]
    return Response.json({ ...fields, object: 'chat.completion', choices })
  }
  const text = [
    { delta: { role: 'assistant', content: 'Hello' }, finish_reason: null },
    { delta: opaque, finish_reason: 'stop' },
  ].map((choice) => {
    const choices = [{ index: 0, ...choice }]
    return `data: ${JSON.stringify({ ...fields, object: 'chat.completion.chunk', choices })}\n\n`
  })
  return new Response(`${text.join('')}data: [DONE]\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  })
}

let vendor: Bun.Server<undefined>
let gateway: Gateway
let openai: OpenAI
let google: GoogleGenAI

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      asked = (await request.json()) as Json
      if (request.url.includes('/chat/completions')) return chatSays(asked['stream'] === true)
      return googleSays(request.url.includes(':streamGenerateContent'))
    },
  })
  const url = `http://127.0.0.1:${vendor.port}`
  const chat = { id: 'chat', vendor: 'openai-compatible', baseUrl: `${url}/v1`, key: 'k' }
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'google', vendor: 'google', baseUrl: url, key: 'k', models: { g: 'gemini-3-pro' } },
        { ...chat, models: ['c'] },
      ],
      models: { g: { kind: 'chat' }, c: { kind: 'chat' } },
    },
  })
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: testKey, maxRetries: 0 })
  google = new GoogleGenAI({ apiKey: testKey, httpOptions: { baseUrl: gateway.url } })
})
afterAll(async () => {
  await gateway.stop()
  await vendor.stop(true)
})

const user = { role: 'user' as const, content: 'Hi' }
const tools = [{ type: 'function' as const, function: { name: 'clock' } }]

describe.each([
  ['a text alone', [signed]],
  ['an empty text at the end', [{ text: 'Hello' }, { text: '', thoughtSignature: signature }]],
  ['a text before a call', [signed, clock]],
] as const)('W31: the signature of %s returns on the text of a chat', (_, parts) => {
  async function returned(message: OpenAI.ChatCompletionMessage): Promise<unknown> {
    const answers = (message.tool_calls ?? []).map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: 'Noon.',
    }))
    const messages = [user, message, ...answers, user]
    await openai.chat.completions.create({ model: 'g', messages, tools })
    const [, turn] = asked['contents'] as readonly { readonly parts: readonly Json[] }[]
    return turn?.parts.filter((part) => 'text' in part)
  }

  test('whole', async () => {
    said = parts
    const reply = await openai.chat.completions.create({ model: 'g', messages: [user], tools })
    const [choice] = reply.choices
    expect(choice?.message.content).toBe('Hello')
    expect(choice && (await returned(choice.message))).toEqual([signed])
  })

  test('streamed', async () => {
    said = parts
    const stream = openai.chat.completions.stream({ model: 'g', messages: [user], tools })
    const reply = await stream.finalChatCompletion()
    const [choice] = reply.choices
    expect(choice?.message.content).toBe('Hello')
    expect(choice && (await returned(choice.message))).toEqual([signed])
  })
})

test('another vendor gets the text without the signature', async () => {
  said = [signed]
  const reply = await openai.chat.completions.create({ model: 'g', messages: [user] })
  const content = reply.choices[0]?.message
  const opened = content && 'extra_content' in content ? content.extra_content : null
  const { google: marked } = opened as { google: { thought_signature: string } }
  const parts = [{ text: 'Hello', thoughtSignature: marked.thought_signature }]
  const turns = [
    { role: 'user', parts: [{ text: 'Hi' }] },
    { role: 'model', parts },
  ]
  await google.models.generateContent({ model: 'c', contents: [...turns, ...turns.slice(0, 1)] })
  expect(asked['messages']).toEqual([user, { role: 'assistant', content: 'Hello' }, user])
})

test("a signature of a chat's vendor returns through Google's clients", async () => {
  const turn = (text: string) => ({ role: 'user', parts: [{ text }] })
  const whole = await google.models.generateContent({ model: 'c', contents: [turn('Hi')] })
  const [candidate] = whole.candidates ?? []
  const parts = []
  for await (const each of await google.models.generateContentStream({
    model: 'c',
    contents: [turn('Hi')],
  })) {
    parts.push(...(each.candidates?.[0]?.content?.parts ?? []))
  }
  for (const content of [candidate?.content, { role: 'model', parts }]) {
    const contents = [turn('Hi'), ...(content === undefined ? [] : [content]), turn('More')]
    await google.models.generateContent({ model: 'c', contents })
    const [, message] = asked['messages'] as readonly Json[]
    expect(message).toMatchObject({ role: 'assistant', ...opaque })
  }
})
