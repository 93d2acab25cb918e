// Tests legacy completions on chat models: translated in both directions.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { expectRefusal, postJson } from '../support/requests.ts'
import { chatReply, goodStream, json, startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway

beforeAll(async () => {
  upstream = await startUpstream()
  const channel = { vendor: 'openai', baseUrl: upstream.url, key: 'sk-up-0123456789' }
  gateway = await startGateway({
    config: {
      channels: [
        { ...channel, id: 'by-kind', models: ['chats', 'streams', 'stops-short'] },
        { ...channel, id: 'by-dialect', models: ['speaks-chat'], dialect: 'openai-chat' },
      ],
      models: Object.fromEntries(
        ['chats', 'streams', 'stops-short', 'speaks-chat'].map((name) => [name, { kind: 'chat' }]),
      ),
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

test.each(['chats', 'speaks-chat'])('%s, whole', async (model) => {
  const reply = await postJson(`${gateway.url}/v1/completions`, {
    model,
    prompt: 'Once upon a time',
    max_tokens: 20,
    temperature: 0,
    stop: ['END'],
  })
  expect(reply.status).toBe(200)
  const body = (await reply.json()) as Record<string, unknown>
  expect(body).toMatchObject({
    object: 'text_completion',
    choices: [{ index: 0, text: 'Hello', finish_reason: 'stop', logprobs: null }],
    usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
  })
  expect(body['id']).toStartWith('cmpl')
  const sent = upstream.of(model).at(-1)
  expect(sent?.target).toBe('/v1/chat/completions')
  expect(JSON.parse(sent?.body.toString() ?? '')).toMatchObject({
    model,
    messages: [{ role: 'user', content: 'Once upon a time' }],
    temperature: 0,
    stop: ['END'],
  })
})

test('streamed', async () => {
  upstream.on('streams', goodStream('Once ', 'upon ', 'a time'))
  for (const wanted of [false, true]) {
    const reply = await postJson(`${gateway.url}/v1/completions`, {
      model: 'streams',
      prompt: 'Go on',
      stream: true,
      ...(wanted && { stream_options: { include_usage: true } }),
    })
    expect(reply.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const text = await reply.text()
    expect(text).toEndWith('data: [DONE]\n\n')
    const frames = text
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .map((frame) => JSON.parse(frame.slice(6)))
    expect(frames.map(({ choices }) => choices[0]?.text ?? '').join('')).toBe('Once upon a time')
    expect(frames.every(({ object }) => object === 'text_completion')).toBeTrue()
    expect(new Set(frames.map(({ id }) => id)).size).toBe(1)
    expect(frames.some(({ choices }) => choices[0]?.finish_reason === 'stop')).toBeTrue()
    expect(frames.filter(({ usage }) => usage != null)).toHaveLength(wanted ? 1 : 0)
  }
})

test('a cut-off answer says so', async () => {
  const choices = [
    { index: 0, message: { role: 'assistant', content: 'On' }, finish_reason: 'length' },
  ]
  upstream.on('stops-short', [json(200, chatReply('', { choices }))])
  const reply = await postJson(`${gateway.url}/v1/completions`, {
    model: 'stops-short',
    prompt: 'Go on',
  })
  expect(await reply.json()).toMatchObject({ choices: [{ text: 'On', finish_reason: 'length' }] })
})

test('what chat cannot say is refused and named, and costs no place', async () => {
  const before = upstream.requests.length
  const reply = await postJson(`${gateway.url}/v1/completions`, {
    model: 'chats',
    prompt: [1, 2, 3],
  })
  const error = await expectRefusal(reply, 400, 'invalid_request_error')
  expect(error.param).toBe('prompt')
  expect(upstream.requests).toHaveLength(before)
})
