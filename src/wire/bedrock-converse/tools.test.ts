// Tests tools, the choice of tool, and the reply format, written for Converse.

import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from '../ir.ts'
import { city, encode, encoded, llama, nova, refusal, spec, weather } from './testing.ts'

describe('tools and the choice among them', () => {
  const other = { type: 'function', function: { name: 'now' } }
  const nothing = { type: 'object', properties: {} }
  const otherSpec = { toolSpec: { name: 'now', inputSchema: { json: nothing } } }

  test.each([
    ['auto', { tools: [spec, otherSpec] }],
    ['required', { tools: [spec, otherSpec], toolChoice: { any: {} } }],
    [
      { type: 'function', function: { name: 'now' } },
      { tools: [spec, otherSpec], toolChoice: { tool: { name: 'now' } } },
    ],
    [
      {
        type: 'allowed_tools',
        allowed_tools: {
          mode: 'required',
          tools: [{ type: 'function', function: { name: 'now' } }],
        },
      },
      { tools: [otherSpec], toolChoice: { any: {} } },
    ],
  ])('%j', (choice, toolConfig) => {
    const body = encoded({ tools: [weather, other], tool_choice: choice as JsonValue })
    expect(body.toolConfig).toEqual(toolConfig as JsonValue)
  })

  test('W38: none drops the tools where nothing was called before', () => {
    expect(encoded({ tools: [weather], tool_choice: 'none' }).toolConfig).toBeUndefined()
    expect(encoded({ tools: [] }).toolConfig).toBeUndefined()
  })

  test('one call at a time: in Anthropic words for Claude, named for any other', () => {
    const asked = { tools: [weather], parallel_tool_calls: false, tool_choice: 'required' }
    const body = encoded(asked)
    expect(body.toolConfig).toEqual({ tools: [spec] })
    expect(body.additionalModelRequestFields).toEqual({
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    })
    const elsewhere = encode(asked, nova)
    expect(elsewhere.dropped).toEqual(['parallel_tool_calls'])
    expect(elsewhere.body.toolConfig).toEqual({ tools: [spec], toolChoice: { any: {} } })
  })

  test('strict is carried where the model has it, else named', () => {
    const strict = { type: 'function', function: { ...weather.function, strict: true } }
    const [tool] = (encoded({ tools: [strict] }).toolConfig as { tools: JsonObject[] }).tools
    expect(tool?.['toolSpec']).toMatchObject({
      strict: true,
      inputSchema: { json: { ...city, additionalProperties: false } },
    })
    expect(encode({ tools: [strict] }, llama).dropped).toEqual(['tools[0].function.strict'])
  })

  test.each([
    ['tools[0]', { tools: [{ type: 'custom', custom: { name: 'x' } }] }],
    ['tools[0]', { web_search_options: {} }],
    ['n', { n: 2 }],
    ['modalities', { modalities: ['text', 'audio'] }],
  ])('refused: %s', (param, body) => {
    expect(refusal(body as JsonObject)).toBe(param)
  })
})

describe('the form of the reply', () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }
  const format = { type: 'json_schema', json_schema: { name: 'it', schema, strict: true } }

  test("Bedrock's own form where the model has it", () => {
    expect(encoded({ response_format: format }).outputConfig).toEqual({
      textFormat: {
        type: 'json_schema',
        structure: {
          jsonSchema: {
            name: 'it',
            schema: JSON.stringify({ ...schema, additionalProperties: false }),
          },
        },
      },
    })
  })

  test('a forced tool for any other, and for JSON without a schema', () => {
    const name = 'tollgate_json_reply'
    const forced = encoded({ response_format: format }, nova)
    expect(forced.outputConfig).toBeUndefined()
    expect(forced.toolConfig).toMatchObject({
      tools: [{ toolSpec: { name, inputSchema: { json: schema } } }],
      toolChoice: { tool: { name } },
    })
    const json = encoded({ response_format: { type: 'json_object' } })
    expect(json.toolConfig).toMatchObject({ toolChoice: { tool: { name } } })
    const beside = encoded({ response_format: format, tools: [weather] }, nova)
    expect(beside.toolConfig).toMatchObject({
      tools: [spec, expect.anything()],
      toolChoice: { any: {} },
    })
  })

  const profile = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abc'
  const byName = { type: 'function', function: { name: 'weather' } }

  test.each([llama, 'openai.gpt-oss-120b-1:0', 'deepseek.r1-v1:0'])(
    'left out for %s, which cannot be forced',
    (model) => {
      const left = encode({ response_format: format }, model)
      expect(left.dropped).toEqual(['response_format'])
      expect(left.body.toolConfig).toBeUndefined()
      for (const tool_choice of ['required', byName])
        expect(refusal({ tools: [weather], tool_choice }, model)).toBe('tool_choice')
    },
  )

  test('one tool alone and any call where a model can be forced, but not to one by name', () => {
    const mistral = 'mistral.mistral-large-2407-v1:0'
    const tools = [{ type: 'function', function: { name: 'now' } }, weather]
    const called = encoded({ tools, tool_choice: byName }, mistral)
    expect(called.toolConfig).toEqual({ tools: [spec], toolChoice: { any: {} } })
    const json = encoded({ response_format: format }, mistral)
    expect(json.toolConfig).toMatchObject({ toolChoice: { any: {} } })
  })

  test('a model that an ARN hides is forced as asked', () => {
    const body = encoded({ tools: [weather], tool_choice: byName }, profile)
    expect(body.toolConfig).toMatchObject({ toolChoice: { tool: { name: 'weather' } } })
  })

  test('named where a call must be made anyway', () => {
    const asked = { response_format: format, tools: [weather], tool_choice: 'required' }
    expect(encode(asked, nova).dropped).toEqual(['response_format'])
  })
})
