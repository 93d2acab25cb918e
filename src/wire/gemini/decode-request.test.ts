// Tests requests of Google's clients: unchanged back to Google, and translated for vendors of another format.

import { describe, expect, test } from 'bun:test'
import type { JsonObject, Message } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { geminiHub } from './hub.ts'
import { refusal } from './testing.ts'

const third = 'gemini-3-pro-preview'

/** A request in this format with every field that Google documents for it. */
const asked: JsonObject = {
  systemInstruction: { parts: [{ text: 'be brief' }] },
  contents: [
    {
      role: 'user',
      parts: [
        { text: 'look' },
        { inlineData: { mimeType: 'image/png', data: 'aWNvbg==' } },
        { inlineData: { mimeType: 'audio/wav', data: 'c291bmQ=' } },
        { inlineData: { mimeType: 'application/pdf', data: 'cGRm' } },
        { fileData: { mimeType: 'image/webp', fileUri: 'https://x.example/a' } },
        {
          fileData: { mimeType: 'video/mp4', fileUri: 'gs://bucket/a.mp4' },
          videoMetadata: { fps: 1 },
        },
      ],
    },
    {
      role: 'model',
      parts: [
        { text: 'Hm', thought: true, thoughtSignature: 'dGhpbms=' },
        { functionCall: { id: 'f1', name: 'one', args: { x: 1 } }, thoughtSignature: 'c2ln' },
        { functionCall: { id: 'f2', name: 'two', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'f1', name: 'one', response: { output: 'ok' } } },
        { functionResponse: { id: 'f2', name: 'two', response: { a: [1] } } },
      ],
    },
    { role: 'model', parts: [{ text: 'so', thoughtSignature: 'dGV4dA==' }] },
    { role: 'user', parts: [{ text: 'go on' }] },
  ],
  tools: [
    {
      functionDeclarations: [
        {
          name: 'one',
          description: 'd',
          parametersJsonSchema: { type: 'object', properties: { x: { type: 'integer' } } },
        },
        { name: 'two' },
      ],
    },
    { googleSearch: {} },
  ],
  toolConfig: {
    functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['one', 'two'] },
    retrievalConfig: { languageCode: 'de' },
  },
  generationConfig: {
    temperature: 0,
    topP: 0.5,
    topK: 3,
    candidateCount: 2,
    maxOutputTokens: 10,
    stopSequences: ['a', 'b'],
    seed: 4,
    responseMimeType: 'application/json',
    responseJsonSchema: { type: 'object', properties: {} },
    responseLogprobs: true,
    logprobs: 2,
    responseModalities: ['TEXT', 'IMAGE'],
    thinkingConfig: { thinkingBudget: 200, includeThoughts: true },
    mediaResolution: 'MEDIA_RESOLUTION_LOW',
    imageConfig: { aspectRatio: '1:1' },
  },
  safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
}

describe("a request of Google's client", () => {
  test('comes back to this format as it was', () => {
    const { value, dropped } = geminiHub.decodeRequest(asked, { model: third, stream: true })
    expect(value.stream).toBe(true)
    expect(value.model).toBe(third)
    expect(dropped).toEqual([])
    const back = geminiHub.encodeRequest(value, third)
    expect(back.value).toEqual(asked)
    expect(back.dropped).toEqual([])
  })

  test('is the same in the other spelling of its members', () => {
    const snake = (value: unknown, inside: string): unknown => {
      if (Array.isArray(value)) return value.map((each) => snake(each, inside))
      if (typeof value !== 'object' || value === null) return value
      const plain = /^(args|response|parametersJsonSchema|responseJsonSchema)$/.test(inside)
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => [
          plain ? name : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
          plain ? each : snake(each, name),
        ]),
      )
    }
    const { tools: _, ...rest } = asked
    const read = (body: JsonObject) => geminiHub.decodeRequest(body, { model: third }).value
    const other = read(snake(rest, '') as JsonObject)
    expect(other.messages).toHaveLength(read(rest).messages.length)
    expect({ ...other, messages: [], extra: {} }).toEqual({
      ...read(rest),
      messages: [],
      extra: {},
    })
    expect(other.messages[0]).toEqual(read(rest).messages[0] as Message)
    expect(other.messages[2]?.parts).toEqual(read(rest).messages[2]?.parts as Message['parts'])
  })

  test('reaches a chat vendor, with what is left out by name', () => {
    const { tools: _, ...rest } = asked
    const [user, ...others] = rest['contents'] as JsonObject[]
    const parts = (user?.['parts'] as JsonObject[]).slice(0, 4)
    const body = { ...rest, contents: [{ ...user, parts }, ...others] }
    const { value } = geminiHub.decodeRequest(body, { model: 'm' })
    const encoded = chatHub.encodeRequest(value, 'gpt')
    const messages = encoded.value['messages'] as JsonObject[]
    expect(messages.map(({ role }) => role)).toEqual([
      ...['system', 'user', 'assistant', 'tool', 'tool', 'assistant', 'user'],
    ])
    expect(messages.slice(3, 5)).toMatchObject([
      { tool_call_id: 'f1', content: 'ok' },
      { tool_call_id: 'f2', content: '{"a":[1]}' },
    ])
    expect(encoded.value).toMatchObject({ temperature: 0, n: 2, stop: ['a', 'b'], seed: 4 })
    expect(encoded.dropped).toContain('generationConfig.mediaResolution')
    expect(encoded.dropped).toContain('safetySettings')
    expect(encoded.dropped).toContain('toolConfig.retrievalConfig')
  })

  test('calls without ids get some, by which their answers are known', () => {
    const { value } = geminiHub.decodeRequest(
      {
        contents: [
          {
            role: 'model',
            parts: [
              { functionCall: { name: 'a' } },
              { functionCall: { name: 'b' } },
              { functionCall: { name: 'a' } },
            ],
          },
          {
            role: 'function',
            parts: [
              { functionResponse: { name: 'b', response: {} } },
              { functionResponse: { name: 'a', response: { n: 1 } } },
              { functionResponse: { name: 'a', response: { n: 2 } } },
            ],
          },
        ],
      },
      { model: 'm' },
    )
    const ids = value.messages[0]?.parts.map((part) => (part.type === 'tool-call' ? part.id : ''))
    const answers = value.messages.slice(1).map(({ callId }) => callId ?? '')
    expect(new Set(ids).size).toBe(3)
    expect(answers).toEqual([ids?.[1] ?? '', ids?.[0] ?? '', ids?.[2] ?? ''])
    // None of them is sent to Google.
    expect(JSON.stringify(geminiHub.encodeRequest(value, third).value)).not.toContain('"id"')
  })

  test("Google's own schema reaches others as JSON Schema", () => {
    const parameters = {
      type: 'OBJECT',
      properties: {
        city: { type: 'STRING', nullable: true, enum: ['a', 'b'], format: 'enum' },
        n: { type: 'ARRAY', items: { type: 'INTEGER' }, minItems: '1' },
        any: { any_of: [{ type: 'STRING' }, { type: 'NUMBER' }] },
      },
      required: ['city'],
      propertyOrdering: ['n', 'city'],
    }
    const tools = [{ function_declarations: [{ name: 'f', parameters }] }]
    const { value } = geminiHub.decodeRequest({ contents: [], tools }, { model: 'm' })
    expect(value.tools).toEqual([
      {
        type: 'function',
        name: 'f',
        parameters: {
          type: 'object',
          properties: {
            city: { type: ['string', 'null'], enum: ['a', 'b', null] },
            n: { type: 'array', items: { type: 'integer' }, minItems: 1 },
            any: { anyOf: [{ type: 'string' }, { type: 'number' }] },
          },
          required: ['city'],
        },
      },
    ])
  })

  test("tools that Google runs are refused by others' formats", () => {
    const tools = [{ googleSearch: {} }]
    const { value } = geminiHub.decodeRequest({ contents: [], tools }, { model: 'm' })
    expect(value.tools).toEqual([{ type: 'other', extra: { gemini: { googleSearch: {} } } }])
    expect(refusal(() => chatHub.encodeRequest(value, 'gpt'))).toContain('tools[0]')
  })

  test.each([
    [{ contents: 'x' }, 'contents[0]'],
    [{ contents: ['x'] }, 'contents[0]'],
    [{ contents: [{ parts: 'x' }] }, 'contents[0].parts[0]'],
    [{ contents: [{ parts: [{ functionCall: {} }] }] }, 'contents[0].parts[0].functionCall.name'],
    [{ contents: [{ parts: [{ inlineData: {} }] }] }, 'contents[0].parts[0].inlineData.mimeType'],
    [{ contents: [{ parts: [{ fileData: {} }] }] }, 'contents[0].parts[0].fileData.fileUri'],
    [{ contents: [], cachedContent: 'cachedContents/1' }, 'cachedContent'],
    [{ contents: [], tools: 'x' }, 'tools[0]'],
  ])('%j is refused by name', (body, param) => {
    expect(refusal(() => geminiHub.decodeRequest(body, { model: 'm' }))).toBe(param)
  })
})

test('a single value in place of a list is read as a list of it', () => {
  const declared = { name: 'f', parametersJsonSchema: { type: 'object' } }
  const single = {
    systemInstruction: { parts: { text: 'be brief' } },
    contents: { parts: { text: 'hi' } },
    tools: { functionDeclarations: declared },
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: 'f' } },
    generationConfig: { stopSequences: 'x' },
  }
  const listed = {
    systemInstruction: { parts: [{ text: 'be brief' }] },
    contents: [{ parts: [{ text: 'hi' }] }],
    tools: [{ functionDeclarations: [declared] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
    generationConfig: { stopSequences: ['x'] },
  }
  const read = (body: JsonObject) => geminiHub.decodeRequest(body, { model: 'm' })
  expect(read(single)).toEqual(read(listed))
  expect(read(single).value).toMatchObject({
    messages: [{ role: 'system' }, { role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
    tools: [{ name: 'f' }],
    toolChoice: { mode: 'tool', name: 'f' },
    stop: ['x'],
  })
})
