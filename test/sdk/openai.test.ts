// Tests the official openai SDK through the gateway, on the sandbox and on an independent mock.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { ask, openaiClient } from '../support/clients.ts'
import { independent, type Stage, sandbox, startStage, vector } from './upstreams.ts'

let stage: Stage
let client: OpenAI

beforeAll(async () => {
  stage = await startStage()
  client = openaiClient(stage.gateway.url)
})
afterAll(() => stage.close())

const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'Weather of a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    },
  },
}

describe.each([sandbox, independent])('chat on $name', (upstream) => {
  test('whole', async () => {
    const { data, request_id } = await client.chat.completions
      .create({ model: upstream.chat, messages: ask('Hello') })
      .withResponse()
    expect(data.object).toBe('chat.completion')
    expect(data.choices[0]?.message.content).toMatch(upstream.says)
    expect(data.choices[0]?.finish_reason).toBe('stop')
    const { usage } = data
    expect(usage?.total_tokens).toBe(
      (usage?.prompt_tokens ?? Number.NaN) + (usage?.completion_tokens ?? Number.NaN),
    )
    expect(request_id).toMatch(/^req/)
  })

  test('a stream says what the whole reply says, and shows usage only where asked', async () => {
    const whole = await client.chat.completions.create({
      model: upstream.chat,
      messages: ask('Hello'),
    })
    for (const wanted of [true, false]) {
      const stream = await client.chat.completions.create({
        model: upstream.chat,
        messages: ask('Hello'),
        stream: true,
        ...(wanted && { stream_options: { include_usage: true } }),
      })
      let text = ''
      let finish: string | null = null
      const usages: OpenAI.CompletionUsage[] = []
      const roles: string[] = []
      for await (const chunk of stream) {
        const choice = chunk.choices[0]
        if (choice?.delta.role !== undefined) roles.push(choice.delta.role)
        text += choice?.delta.content ?? ''
        finish = choice?.finish_reason ?? finish
        if (chunk.usage) usages.push(chunk.usage)
        if (!wanted) expect(chunk.choices).toHaveLength(1)
      }
      expect(roles[0]).toBe('assistant')
      expect(text).toBe(whole.choices[0]?.message.content ?? 'no content')
      expect(finish).toBe('stop')
      expect(usages).toHaveLength(wanted ? 1 : 0)
      if (wanted) expect(usages[0]?.total_tokens).toBe(whole.usage?.total_tokens ?? Number.NaN)
    }
  })

  test('the stream helper accepts every event and folds them', async () => {
    const runner = client.chat.completions.stream({
      model: upstream.chat,
      messages: ask('Hello'),
      stream_options: { include_usage: true },
    })
    let pieces = ''
    const seen = new Set<string>()
    runner.on('content', (delta) => {
      pieces += delta
      seen.add('content')
    })
    for (const event of ['connect', 'chunk', 'chatCompletion', 'finalContent', 'end'] as const) {
      runner.on(event, () => void seen.add(event))
    }
    const final = await runner.finalChatCompletion()
    await runner.done()
    expect(final.choices[0]?.message.content).toBe(pieces)
    expect(pieces).toMatch(upstream.says)
    expect(final.usage?.completion_tokens).toBeGreaterThan(0)
    expect([...seen].sort()).toEqual(
      ['chatCompletion', 'chunk', 'connect', 'content', 'end', 'finalContent'].sort(),
    )
  })
})

describe.each([sandbox, independent])('tools on $name', (upstream) => {
  const messages = ask('Please use get_weather for Paris')

  test('a call, whole and streamed, with arguments that parse', async () => {
    const whole = await client.chat.completions.create({
      model: upstream.chat,
      messages,
      tools: [weather],
    })
    const streamed = await client.chat.completions
      .stream({ model: upstream.chat, messages, tools: [weather] })
      .finalChatCompletion()
    for (const reply of [whole, streamed]) {
      const choice = reply.choices[0]
      expect(choice?.finish_reason).toBe('tool_calls')
      const [call] = choice?.message.tool_calls ?? []
      if (call?.type !== 'function') throw new Error('no function call')
      expect(call.id).not.toBe('')
      expect(call.function.name).toBe('get_weather')
      expect(JSON.parse(call.function.arguments)).toHaveProperty('city')
    }
  })

  test('the runner calls the tool, sends its answer back, and gets text', async () => {
    for (const stream of [false, true]) {
      const cities: unknown[] = []
      const tool = {
        type: 'function' as const,
        function: {
          ...weather.function,
          parse: (text: string) => JSON.parse(text) as { city: string },
          function: (input: { city: string }) => {
            cities.push(input.city)
            return 'sunny'
          },
        },
      }
      const body = { model: upstream.chat, messages, tools: [tool] }
      const runner = stream
        ? client.chat.completions.runTools({ ...body, stream: true })
        : client.chat.completions.runTools(body)
      const text = await runner.finalContent()
      expect(cities).toHaveLength(1)
      expect(cities[0]).toBeString()
      expect(text).toBeString()
      expect(text).not.toBe('')
    }
  })
})

describe.each([sandbox, independent])('the other endpoints on $name', (upstream) => {
  test('legacy completions, whole and streamed', async () => {
    const body = { model: upstream.completion, prompt: 'Hello', max_tokens: 64 }
    const whole = await client.completions.create(body)
    expect(whole.object).toBe('text_completion')
    expect(whole.choices[0]?.text).toMatch(upstream.says)
    let text = ''
    let finish: string | null = null
    for await (const chunk of await client.completions.create({ ...body, stream: true })) {
      expect(chunk.object).toBe('text_completion')
      text += chunk.choices[0]?.text ?? ''
      finish = chunk.choices[0]?.finish_reason ?? finish
    }
    expect(text).toBe(whole.choices[0]?.text ?? 'no text')
    expect(finish).toBe('stop')
  })

  test('embeddings: the SDK asks for base64 by itself and decodes it; float agrees', async () => {
    const body = { model: upstream.embedding, input: 'some text' }
    const decoded = await client.embeddings.create(body)
    const floats = await client.embeddings.create({ ...body, encoding_format: 'float' })
    const raw = await client.embeddings.create({ ...body, encoding_format: 'base64' })
    expect(decoded.data[0]?.embedding).toHaveLength(upstream.dimensions)
    expect(floats.data[0]?.embedding).toHaveLength(upstream.dimensions)
    expect(raw.data[0]?.embedding).toBeString()
    const first = decoded.data[0]?.embedding ?? []
    for (const [at, value] of (floats.data[0]?.embedding ?? []).entries()) {
      expect(first[at]).toBeCloseTo(value, 6)
    }
    if (upstream === independent) expect(floats.data[0]?.embedding).toEqual(vector)
  })

  test('models: the list and one by its id, with signs in its name', async () => {
    const ids: string[] = []
    for await (const model of client.models.list()) {
      expect(model.object).toBe('model')
      expect(model.created).toBeGreaterThan(0)
      expect(model.owned_by).toBe(model.owned_by.toLowerCase())
      ids.push(model.id)
    }
    expect(ids).toContain(upstream.chat)
    expect(ids).toContain(upstream.oddModel)
    for (const id of [upstream.chat, upstream.oddModel]) {
      expect((await client.models.retrieve(id)).id).toBe(id)
    }
    const odd = await client.chat.completions.create({
      model: upstream.oddModel,
      messages: ask('Hello'),
    })
    expect(odd.choices[0]?.message.content).toMatch(upstream.says)
  })
})

test('a key with spaces', async () => {
  const spaced = openaiClient(stage.gateway.url, { key: 'My API Key with spaces' })
  const reply = await spaced.chat.completions.create({
    model: sandbox.chat,
    messages: ask('Hello'),
  })
  expect(reply.choices).toHaveLength(1)
})

test('reasoning comes through', async () => {
  const reply = await client.chat.completions.create({
    model: 'sandbox/reasoning',
    messages: ask('Hello'),
  })
  expect(reply.choices[0]?.message).toHaveProperty('reasoning_content')
  expect(reply.usage?.completion_tokens_details?.reasoning_tokens).toBe(11)
})
