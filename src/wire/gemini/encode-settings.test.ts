// Tests settings of a request to Google: carried, clamped, named or refused.

import { describe, expect, test } from 'bun:test'
import type { ChatRequest, JsonObject } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { geminiHub } from './hub.ts'
import { refusal } from './testing.ts'

const third = 'gemini-3-pro-preview'
const second = 'gemini-2.5-flash'
const old = 'gemini-2.0-flash'

function chat(body: JsonObject, model = third): JsonObject {
  return chatEncoded(body, model).value
}

function chatEncoded(body: JsonObject, model = third) {
  const asked = chatHub.decodeRequest({
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    ...body,
  })
  return geminiHub.encodeRequest(asked.value, model)
}

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}
describe('settings', () => {
  test('W43: zeros are settings too, one choice is the habit', () => {
    expect(
      chat({ temperature: 0, top_p: 0, seed: 0, presence_penalty: 0, n: 1 })['generationConfig'],
    ).toEqual({
      temperature: 0,
      topP: 0,
      seed: 0,
      presencePenalty: 0,
    })
  })

  test('what Google knows is said in its words', () => {
    const { value, dropped } = chatEncoded({
      max_completion_tokens: 9,
      temperature: 1.5,
      top_p: 0.5,
      top_k: 7,
      n: 2,
      stop: 'END',
      frequency_penalty: 0.5,
      logprobs: true,
      top_logprobs: 3,
    })
    expect(value['generationConfig']).toEqual({
      maxOutputTokens: 9,
      temperature: 1.5,
      topP: 0.5,
      topK: 7,
      candidateCount: 2,
      stopSequences: ['END'],
      frequencyPenalty: 0.5,
      responseLogprobs: true,
      logprobs: 3,
    })
    expect(dropped).toEqual([])
  })

  test('what it does not know is named', () => {
    const { dropped } = chatEncoded({
      user: 'u',
      logit_bias: { 1: 1 },
      verbosity: 'low',
      service_tier: 'flex',
      prompt_cache_key: 'k',
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      tools: [weather],
      store: true,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
            { type: 'image_url', image_url: { url: 'https://a/b.png', detail: 'high' } },
          ],
        },
        { role: 'assistant', content: 'b', reasoning_content: 'c' },
      ],
    })
    expect(dropped.toSorted()).toEqual(
      [
        ...[
          'user',
          'logit_bias',
          'verbosity',
          'service_tier',
          'prompt_cache_key',
          'metadata',
          'store',
        ],
        ...['parallel_tool_calls', 'messages[0].content[0].cache_control'],
        ...['messages[0].content[1].image_url.detail', 'messages[1].reasoning_content'],
      ].toSorted(),
    )
  })

  test('too many stops or choices are refused, sound too', () => {
    const stop = ['a', 'b', 'c', 'd', 'e', 'f']
    const asked: ChatRequest = { model: 'm', stream: false, messages: [], stop }
    expect(refusal(() => geminiHub.encodeRequest(asked, third))).toBe('stop')
    expect(refusal(() => chat({ n: 9 }))).toBe('n')
    expect(refusal(() => chat({ modalities: ['text', 'audio'] }))).toBe('modalities')
  })

  test('a form of the reply', () => {
    const schema = {
      type: 'object',
      properties: { a: { const: 'x' } },
      additionalProperties: false,
    }
    const asked = { response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } }
    expect(chat(asked, second)['generationConfig']).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    })
    expect(chat(asked, old)['generationConfig']).toEqual({
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING', enum: ['x'] } } },
    })
    expect(chat({ response_format: { type: 'json_object' } })['generationConfig']).toEqual({
      responseMimeType: 'application/json',
    })
    expect(chat({ response_format: { type: 'text' } })).not.toHaveProperty('generationConfig')
  })

  test.each([
    [third, 'low', { thinkingLevel: 'LOW', includeThoughts: true }],
    [third, 'none', { thinkingLevel: 'LOW' }],
    ['gemini-3-flash-preview', 'none', { thinkingLevel: 'MINIMAL' }],
    ['gemini-3-flash-preview', 'xhigh', { thinkingLevel: 'HIGH', includeThoughts: true }],
    ['gemini-3.1-pro-preview', 'medium', { thinkingLevel: 'MEDIUM', includeThoughts: true }],
    [second, 'none', { thinkingBudget: 0 }],
    [second, 'low', { thinkingBudget: 1024, includeThoughts: true }],
    [second, 'max', { thinkingBudget: 24_576, includeThoughts: true }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }],
    ['models/gemini-2.5-pro', 'max', { thinkingBudget: 32_768, includeThoughts: true }],
  ])('%s thinks with effort %s', (model, effort, expected) => {
    expect(chat({ reasoning_effort: effort }, model)['generationConfig']).toEqual({
      thinkingConfig: expected,
    })
  })

  test('a model that does not think is not asked to', () => {
    const { value, dropped } = chatEncoded({ reasoning_effort: 'high' }, old)
    expect(value).not.toHaveProperty('generationConfig')
    expect(dropped).toEqual(['reasoning_effort'])
  })

  test('pictures are asked for', () => {
    expect(chat({ modalities: ['text', 'image'] })['generationConfig']).toEqual({
      responseModalities: ['TEXT', 'IMAGE'],
    })
  })
})
