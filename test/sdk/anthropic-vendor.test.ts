// Tests clients of OpenAI's format with a vendor of Anthropic's format.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { generateText, Output, streamText } from 'ai'
import { z } from 'zod'
import { aiProvider, ask, openaiClient } from '../support/clients.ts'
import { messageStream, type Stage, startStage, thinkingEvents, whole } from './anthropic-stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await startStage()
})
afterAll(() => stage.close())

/** The last request of a model that the vendor got. */
function sent(model: string) {
  const request = stage.stub.of(model).at(-1)
  if (request === undefined) throw new Error('nothing was sent')
  return {
    headers: request.headers,
    target: request.target,
    body: JSON.parse(request.body.toString()),
  }
}

test('the official SDK streams text, thoughts and calls, with usage', async () => {
  stage.stub.on('claude-streamed', messageStream(thinkingEvents))
  const stream = openaiClient(stage.gateway.url).chat.completions.stream({
    model: 'claude-streamed',
    messages: ask('Weather in Oslo, and the time'),
    reasoning_effort: 'low',
    stream_options: { include_usage: true },
  })
  const completion = await stream.finalChatCompletion()
  const [choice] = completion.choices
  expect(choice?.message).toMatchObject({
    content: 'Grüße, 世界 👋',
    thinking_blocks: [{ type: 'thinking', thinking: 'Two cities. Ask both.' }],
    tool_calls: [
      { id: 'toolu_1', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
      { id: 'toolu_2', function: { name: 'now', arguments: '{}' } },
    ],
  })
  expect(choice?.finish_reason).toBe('tool_calls')
  expect(completion.usage).toMatchObject({
    prompt_tokens: 125,
    completion_tokens: 60,
    total_tokens: 185,
    prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 5 },
    completion_tokens_details: { reasoning_tokens: 30 },
  })
  const { headers, target, body } = sent('claude-streamed')
  expect(target).toBe('/v1/messages')
  expect(headers.get('anthropic-version')).toBe('2023-06-01')
  expect(headers.get('x-api-key')).toBe('sk-ant-upstream-0123456789')
  expect(body).toMatchObject({
    stream: true,
    max_tokens: 128_000,
    output_config: { effort: 'low' },
  })
})

test('W33: thoughts come back to the channel that signed them, opened', async () => {
  stage.stub.on('claude-signed', messageStream(thinkingEvents))
  const client = openaiClient(stage.gateway.url)
  const first = ask('Weather in Oslo, and the time')[0]
  const completion = await client.chat.completions
    .stream({ model: 'claude-signed', messages: ask('Weather in Oslo, and the time') })
    .finalChatCompletion()
  const message = completion.choices[0]?.message
  const blocks = (message as unknown as { thinking_blocks?: { signature: string }[] })
    .thinking_blocks
  // Only this channel may be sent what it signed.
  expect(blocks?.[0]?.signature).not.toBe('EqQBsignature')
  const results = ['toolu_1', 'toolu_2'].map((id) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: 'fine',
  }))
  await client.chat.completions
    .stream({ model: 'claude-signed', messages: [first, message, ...results] as never })
    .finalChatCompletion()
  expect(sent('claude-signed').body.messages[1].content[0]).toEqual({
    type: 'thinking',
    thinking: 'Two cities. Ask both.',
    signature: 'EqQBsignature',
  })
})

const text = (said: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [{ type: 'text', text: said }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 3 },
})

test('a whole reply, and what the vendor was not told', async () => {
  stage.stub.on('claude-whole', whole(text('Hello')))
  const { data, response } = await openaiClient(stage.gateway.url)
    .chat.completions.create({
      model: 'claude-whole',
      messages: ask('Hi'),
      seed: 1,
      temperature: 0.5,
    })
    .withResponse()
  expect(data.choices[0]?.message.content).toBe('Hello')
  expect(data.choices[0]?.finish_reason).toBe('stop')
  expect(response.headers.get('x-tollgate-dropped')).toBe('seed, temperature')
})

test('calls that share an id, or have none, are told apart, each with its own answer', async () => {
  stage.stub.on('claude-twins', whole(text('Done')))
  const call = (id: string, name: string) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: '{}' },
  })
  const answer = (id: string, content: string) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content,
  })
  await openaiClient(stage.gateway.url).chat.completions.create({
    model: 'claude-twins',
    messages: [
      ...ask('Go'),
      { role: 'assistant', tool_calls: [call('call_0', 'first'), call('', 'second')] },
      answer('call_0', '1'),
      answer('', '2'),
      { role: 'assistant', tool_calls: [call('call_0', 'third')] },
      answer('call_0', '3'),
    ],
  })
  const blocks = sent('claude-twins').body.messages.flatMap(
    ({ content }: { content: object[] }) => content,
  )
  expect(blocks.slice(1)).toMatchObject([
    { name: 'first', id: 'call_0' },
    { name: 'second', id: 'call_2' },
    { tool_use_id: 'call_0', content: '1' },
    { tool_use_id: 'call_2', content: '2' },
    { name: 'third', id: 'call_0_2' },
    { tool_use_id: 'call_0_2', content: '3' },
  ])
})

test('an answer behind a word of the user and of the model goes to its call', async () => {
  stage.stub.on('claude-late', whole(text('Done')))
  await openaiClient(stage.gateway.url).responses.create({
    model: 'claude-late',
    input: [
      ...ask('Go'),
      { type: 'function_call', call_id: 'c1', name: 'slow', arguments: '{}' },
      { role: 'user', content: 'Wait' },
      { role: 'assistant', content: 'I wait' },
      { type: 'function_call_output', call_id: 'c1', output: 'late' },
    ],
  })
  expect(sent('claude-late').body.messages.slice(1)).toMatchObject([
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1' }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1' }, { text: 'Wait' }] },
    { role: 'assistant', content: [{ text: 'I wait' }] },
  ])
})

test('several replies are refused before the vendor is asked', async () => {
  const error = await openaiClient(stage.gateway.url)
    .chat.completions.create({ model: 'claude-never', messages: ask('Hi'), n: 2 })
    .catch((thrown) => thrown)
  expect(error).toMatchObject({ status: 400, param: 'n' })
  expect(stage.stub.of('claude-never')).toHaveLength(0)
})

test('the AI SDK generates, streams, calls tools and gets its objects', async () => {
  const provider = aiProvider(stage.gateway.url)
  const plain = await generateText({
    model: provider('claude-mock'),
    prompt: 'Hello',
    maxRetries: 0,
  })
  expect(plain.text).toMatch(/Hi from the mock/)
  const streamed = streamText({ model: provider('claude-mock'), prompt: 'Hello', maxRetries: 0 })
  expect(await streamed.text).toBe(plain.text)
  stage.stub.on(
    'claude-3-haiku-json',
    whole({
      ...text(''),
      content: [
        { type: 'tool_use', id: 'toolu_1', name: 'tollgate_json_reply', input: { city: 'Oslo' } },
      ],
      stop_reason: 'tool_use',
    }),
  )
  const { output } = await generateText({
    model: provider('claude-3-haiku-json'),
    prompt: 'Which city?',
    output: Output.object({ schema: z.object({ city: z.string() }) }),
    maxRetries: 0,
  })
  expect(output).toEqual({ city: 'Oslo' })
  expect(sent('claude-3-haiku-json').body.tool_choice).toMatchObject({ type: 'tool' })
})

test('legacy completions reach it too', async () => {
  stage.stub.on('claude-completed', whole(text(' there was a gate')))
  const reply = await openaiClient(stage.gateway.url).completions.create({
    model: 'claude-completed',
    prompt: 'Once upon a time',
    max_tokens: 10,
  })
  expect(reply.choices[0]?.text).toBe(' there was a gate')
  expect(sent('claude-completed').body).toMatchObject({
    max_tokens: 10,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Once upon a time' }] }],
  })
})
