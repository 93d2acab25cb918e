// Tests the `ai` package with @ai-sdk/openai-compatible through the gateway, on the sandbox and on an independent mock.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { APICallError, embed, embedMany, generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { aiProvider } from '../support/clients.ts'
import { independent, type Stage, sandbox, startStage, vector } from './upstreams.ts'

let stage: Stage
let provider: ReturnType<typeof aiProvider>

beforeAll(async () => {
  stage = await startStage()
  provider = aiProvider(stage.gateway.url)
})
afterAll(() => stage.close())

describe.each([sandbox, independent])('ai on $name', (upstream) => {
  test('generateText', async () => {
    const { text, finishReason, usage } = await generateText({
      model: provider(upstream.chat),
      prompt: 'Hello',
      maxRetries: 0,
    })
    expect(text).toMatch(upstream.says)
    expect(finishReason).toBe('stop')
    expect(usage.inputTokens).toBeGreaterThan(0)
    expect(usage.outputTokens).toBeGreaterThan(0)
  })

  test('streamText tells the same text, with usage at its end', async () => {
    const whole = await generateText({ model: provider(upstream.chat), prompt: 'Hello' })
    const errors: unknown[] = []
    const result = streamText({
      model: provider(upstream.chat),
      prompt: 'Hello',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    })
    let text = ''
    for await (const piece of result.textStream) text += piece
    expect(errors).toEqual([])
    expect(text).toBe(whole.text)
    expect(await result.finishReason).toBe('stop')
    expect((await result.usage).totalTokens).toBe(whole.usage.totalTokens)
  })

  test('a tool is called and its answer told, whole and streamed', async () => {
    const cities: string[] = []
    const options = {
      model: provider(upstream.chat),
      prompt: 'Please use get_weather for Paris',
      stopWhen: stepCountIs(3),
      maxRetries: 0,
      tools: {
        get_weather: tool({
          description: 'Weather of a city.',
          inputSchema: z.object({ city: z.string() }),
          execute: ({ city }) => {
            cities.push(city)
            return 'sunny'
          },
        }),
      },
    }
    const whole = await generateText(options)
    const streamed = streamText(options)
    await streamed.consumeStream()
    expect(whole.steps).toHaveLength(2)
    expect(await streamed.steps).toHaveLength(2)
    expect(cities).toHaveLength(2)
    expect(whole.text).not.toBe('')
    expect(await streamed.text).toBe(whole.text)
  })

  test('embed and embedMany', async () => {
    const model = provider.embeddingModel(upstream.embedding)
    const { embedding } = await embed({ model, value: 'some text', maxRetries: 0 })
    expect(embedding).toHaveLength(upstream.dimensions)
    if (upstream === independent) expect(embedding).toEqual(vector)
    const { embeddings } = await embedMany({ model, values: ['a text'], maxRetries: 0 })
    expect(embeddings).toHaveLength(1)
  })
})

test('a refusal arrives with its message and status', async () => {
  const error = await generateText({
    model: provider('no-such-model'),
    prompt: 'Hello',
    maxRetries: 0,
  }).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!APICallError.isInstance(error)) throw new Error(`not an API error: ${String(error)}`)
  expect(error.statusCode).toBe(404)
  expect(error.message).toContain('no-such-model')
  expect(error.isRetryable).toBe(false)
})

test('a vendor that breaks in a stream is an error, not an end', async () => {
  const errors: unknown[] = []
  const result = streamText({
    model: provider('sandbox/chat+tokens=10+fault=cut+after=3'),
    prompt: 'Hello',
    maxRetries: 0,
    onError: ({ error }) => void errors.push(error),
  })
  let text = ''
  for await (const piece of result.textStream) text += piece
  expect(text).not.toBe('')
  expect(errors).toHaveLength(1)
})
