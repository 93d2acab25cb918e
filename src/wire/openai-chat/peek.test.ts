// Tests reading a chat request from its bytes: which fields are refused, which are found, and at which position.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isLong } from '../../../test/support/long.ts'
import { GatewayError } from '../../errors.ts'
import { bytesOf, linearMs, shortestMs, textOf } from '../testing.ts'
import { peekChat } from './peek.ts'

const hello = [{ role: 'user', content: 'hi' }]

function peek(value: unknown) {
  return peekChat(bytesOf(typeof value === 'string' ? value : JSON.stringify(value)))
}

/** The parameter and the message of the refusal. */
function refusal(value: unknown): { param: string | null | undefined; message: string } {
  try {
    peek(value)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error.code).toBe('invalid_request_error')
    return { param: error.detail.param, message: error.message }
  }
  throw new Error('it was accepted')
}

function withMessage(...messages: unknown[]): object {
  return { model: 'm', messages }
}

function withParts(...parts: unknown[]): object {
  return withMessage({ role: 'system', content: 's' }, { role: 'user', content: parts })
}

describe('the body', () => {
  test.each([
    [''],
    ['{'],
    ['{"model":"m",}'],
    ['{} x'],
    ['nope'],
    ['"text"'],
    ['[]'],
    ['null'],
    ['['.repeat(100_000)],
    [`{"a":1,"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ])('%.30s is refused without a param', (text) => {
    expect(refusal(text).param).toBeNull()
  })

  test('deep messages leave the stack alone', () => {
    expect(refusal(`{"model":"m","messages":${'['.repeat(100_000)}`).param).toBe('messages[0]')
  })

  test('names where it stopped being JSON', () => {
    expect(refusal('{"model":"m",}').message).toContain('at byte 13')
  })
})

describe('model and messages', () => {
  test.each<[unknown, string]>([
    [{ messages: hello }, 'model'],
    [{ model: null, messages: hello }, 'model'],
    [{ model: '', messages: hello }, 'model'],
    [{ model: 1, messages: hello }, 'model'],
    [{ model: 'm' }, 'messages'],
    [{ model: 'm', messages: [] }, 'messages'],
    [{ model: 'm', messages: 'hi' }, 'messages'],
    [withMessage('hi'), 'messages[0]'],
    [withMessage(...hello, {}), 'messages[1].role'],
    [withMessage({ role: 'robot', content: 'x' }), 'messages[0].role'],
    [withMessage({ role: 'users', content: 'x' }), 'messages[0].role'],
    [withMessage({ role: 1, content: 'x' }), 'messages[0].role'],
    [withMessage({ role: 'user' }), 'messages[0].content'],
    [withMessage({ role: 'user', content: null }), 'messages[0].content'],
    [withMessage({ role: 'user', content: 1 }), 'messages[0].content'],
    [withMessage({ role: 'tool', content: 'x' }), 'messages[0].tool_call_id'],
    [withMessage({ role: 'tool', content: 'x', tool_call_id: 1 }), 'messages[0].tool_call_id'],
    [withMessage({ role: 'tool', tool_call_id: 'c' }), 'messages[0].content'],
  ])('%j', (value, param) => {
    expect(refusal(value).param).toBe(param)
  })

  test.each([
    [withMessage({ role: 'assistant', content: null })],
    [withMessage({ role: 'assistant', content: null, refusal: 'no' })],
    [withMessage({ role: 'assistant', audio: { id: 'a' } })],
    [withMessage({ role: 'assistant', reasoning_content: 'x' })],
    [withMessage({ role: 'assistant' })],
    [withMessage({ role: 'function', name: 'f', content: null })],
    [withMessage({ role: 'developer', content: [{ type: 'text', text: 'x' }] })],
    [withMessage({ role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: '' }] })],
    [withMessage({ role: 'user', content: '', name: 'n', unknown: {} })],
  ])('%j is accepted', (value) => {
    expect(peek(value).model).toBe('m')
  })
})

describe('parts', () => {
  test.each<[unknown, string]>([
    ['x', ''],
    [{}, '.type'],
    [{ type: 'sound' }, '.type'],
    [{ type: 'refusal', refusal: 'x' }, '.type'],
    [{ type: 'text' }, '.text'],
    [{ type: 'text', text: 1 }, '.text'],
    [{ type: 'image_url' }, '.image_url'],
    [{ type: 'image_url', image_url: 'http://x' }, '.image_url'],
    [{ type: 'image_url', image_url: {} }, '.image_url.url'],
    [{ type: 'image_url', image_url: { url: '' } }, '.image_url.url'],
    [{ type: 'image_url', image_url: { url: 'ftp://x' } }, '.image_url.url'],
    [{ type: 'image_url', image_url: { url: 1 } }, '.image_url.url'],
  ])('%j', (part, rest) => {
    const value = withParts({ type: 'text', text: 'a' }, part)
    expect(refusal(value).param).toBe(`messages[1].content[1]${rest}`)
  })

  test('the first image is found, and none where there is none', () => {
    for (const url of ['https://x/y.png', 'HTTP://x', 'data:image/png;base64,AA==']) {
      const image = { type: 'image_url', image_url: { url, detail: 'low' } }
      expect(peek(withParts({ type: 'text', text: 'a' }, image, image)).imageParam).toBe(
        'messages[1].content[1]',
      )
    }
    expect(peek(withParts({ type: 'input_audio', input_audio: {} })).imageParam).toBeNull()
    expect(
      peek(
        '{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"http:\\/\\/x"}}]}]}',
      ).imageParam,
    ).toBe('messages[0].content[0]')
  })

  test('images of one request are not those of the next', () => {
    peek(withParts({ type: 'image_url', image_url: { url: 'http://x' } }))
    expect(peek(withMessage(...hello)).imageParam).toBeNull()
  })
})

describe('tool calls', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }

  test.each<[unknown, string]>([
    ['x', ''],
    [['x'], '[0]'],
    [[call, { ...call, id: 1 }], '[1].id'],
    [[{ ...call, type: undefined }], '[0].type'],
    [[{ ...call, function: 'f' }], '[0].function'],
    [[{ ...call, function: { name: 'f' } }], '[0].function.arguments'],
    [[{ ...call, function: { name: 'f', arguments: {} } }], '[0].function.arguments'],
    [[{ ...call, function: { arguments: '' } }], '[0].function.name'],
  ])('%j', (tool_calls, rest) => {
    const value = withMessage({ role: 'assistant', content: null, tool_calls })
    expect(refusal(value).param).toBe(`messages[0].tool_calls${rest}`)
  })

  test('functions and custom tools are accepted', () => {
    const custom = { id: 'c', type: 'custom', custom: { name: 'n', input: 'i' } }
    expect(peek(withMessage({ role: 'assistant', tool_calls: [call, custom] })).model).toBe('m')
  })
})

describe('fields', () => {
  test.each<[string, unknown[], unknown[]]>([
    ['temperature', [0, 2, 0.7, 1], [-0.1, 2.01, '1', true, {}]],
    ['top_p', [0, 1], [-1, 1.5]],
    ['n', [1, 128], [0, 129, 1.5, '2']],
    ['presence_penalty', [-2, 2], [-2.5, 3]],
    ['frequency_penalty', [-2, 2], [-2.5, 3]],
    ['max_tokens', [0, 5], [-1, 1.5, '5']],
    ['max_completion_tokens', [0, 5], [-1]],
    ['logprobs', [true, false], [1, 'true']],
    ['top_logprobs', [0, 20], [-1, 21]],
    ['stop', ['a', [], ['a', 'b', 'c', 'd']], [['a', 'b', 'c', 'd', 'e'], [1], 1, {}]],
    ['seed', [1, -5, 9007199254740993], [1.5, 'x']],
    ['logit_bias', [{}, { '5': -100 }], [[], 1]],
    ['tools', [[], [{ type: 'function', function: { name: 'f' } }]], ['x', {}]],
    ['tool_choice', ['auto', { type: 'function' }], [1, []]],
    ['response_format', [{ type: 'text' }], ['json', {}, { type: 1 }]],
    ['parallel_tool_calls', [true], ['x']],
    ['user', ['u'], [1]],
    ['metadata', [{}], ['x']],
    ['reasoning_effort', ['low'], [1]],
    ['stream', [true, false], ['true', 1]],
  ])('%s', (name, good, bad) => {
    for (const value of [...good, null]) peek({ model: 'm', messages: hello, [name]: value })
    for (const value of bad) {
      const { param, message } = refusal({ model: 'm', messages: hello, [name]: value })
      expect([value, param]).toEqual([value, name])
      expect(message).toStartWith(name)
    }
  })

  test('single tools are named', () => {
    const tools = [{ type: 'function', function: {} }, {}]
    expect(refusal({ model: 'm', messages: hello, tools }).param).toBe('tools[1].type')
    expect(refusal({ model: 'm', messages: hello, tools: [1] }).param).toBe('tools[0]')
  })

  test('stream_options only on a stream', () => {
    const options = { include_usage: true }
    const value = { model: 'm', messages: hello, stream_options: options }
    expect(refusal(value).param).toBe('stream_options')
    // OpenAI's own client sends both.
    expect(peek({ ...value, stream: false }).stream).toBe(false)
    expect(refusal({ ...value, stream: true, stream_options: 1 }).param).toBe('stream_options')
    expect(refusal({ ...value, stream: true, stream_options: { include_usage: 1 } }).param).toBe(
      'stream_options.include_usage',
    )
    expect(peek({ ...value, stream_options: null }).streamOptionsSpan).toBeNull()
    expect(peek({ ...value, stream: true }).wantsUsage).toBe(true)
  })
})

describe('what is found', () => {
  test('values and where they stand', () => {
    const value = {
      max_tokens: 9,
      model: 'ü/"m"',
      n: 3,
      stream: true,
      stream_options: { include_usage: false },
      messages: hello,
      max_completion_tokens: 9,
      unknown: [1],
    }
    const text = `  ${JSON.stringify(value, null, 1)}\n`
    const found = peek(text)
    const { body, modelSpan, streamOptionsSpan, bodyEnd } = found
    const at = (span: { start: number; end: number } | null): string =>
      span === null ? '' : textOf(body.subarray(span.start, span.end))
    expect(textOf(body)).toBe(text)
    expect(JSON.parse(at(modelSpan))).toBe(value.model)
    expect(JSON.parse(at(streamOptionsSpan))).toEqual(value.stream_options)
    expect(textOf(body.subarray(bodyEnd))).toBe('}\n')
    expect(found).toMatchObject({
      model: value.model,
      stream: true,
      wantsUsage: false,
      maxOutputTokens: 9,
      choices: 3,
      keys: Object.keys(value),
      imageParam: null,
    })
  })

  test('defaults', () => {
    const found = peek(withMessage(...hello))
    expect(found).toMatchObject({ stream: false, maxOutputTokens: null, choices: 1 })
  })

  test.each([
    ['{"mode\\u006c":"b","messages":M}'],
    ['{"model":"b","mess\\u0061ges":M}'],
    ['{"model":"b","messages":[{"rol\\u0065":"user","\\u0063ontent":"hi"}]}'],
    ['{"model":"b","stream":false,"stream_options":{"include_us\\u0061ge":false},"messages":M}'],
  ])('%s: names are spelled plainly', (text) => {
    const filled = text.replaceAll('M', JSON.stringify(hello))
    const found = peek(filled)
    expect(found.model).toBe('b')
    expect(found.wantsUsage).toBe(false)
    expect(textOf(found.body)).toBe(JSON.stringify(JSON.parse(filled)))
    expect(textOf(found.body.subarray(found.modelSpan?.start, found.modelSpan?.end))).toBe('"b"')
  })

  test.each([
    ['{"model":"a","messages":M,"model":"b"}', 'model'],
    ['{"model":"a","messages":M,"\\u006dodel":"b"}', 'model'],
    ['{"model":"b","messages":[{"role":"user","role":"user","content":"hi"}]}', 'messages[0].role'],
    [
      '{"model":"b","stream":true,"stream_options":{"include_usage":true,"include_us\\u0061ge":false},"messages":M}',
      'stream_options.include_usage',
    ],
    ['{"model":"b","messages":M,"x":[0,{"y":[[{"a b":1,"z":2,"a b":3}]]}]}', 'x[1].y[0][0]."a b"'],
    ['{"model":"b","messages":M,"\\"":{"é":1,"\\u00e9":3}}', '"\\"".é'],
  ])('%s is refused by name', (text, param) => {
    expect(refusal(text.replaceAll('M', JSON.stringify(hello))).param).toBe(param)
  })

  test('a member named __proto__ is a member', () => {
    const text = `{"__proto__":{"model":"x"},"model":"m","messages":${JSON.stringify(hello)}}`
    expect(peek(text).keys).toEqual(['__proto__', 'model', 'messages'])
    expect(({} as { model?: string }).model).toBeUndefined()
    expect(refusal(text.replace('"model":"m",', '')).param).toBe('model')
    expect(refusal(text.replace('"model":"m"', '"__proto__":1,"model":"m"')).param).toBe(
      '__proto__',
    )
  })

  test('any unknown members, in any order and spacing, change nothing', () => {
    const own = /^(model|models|messages|n|stop|user|seed|stream|tools)$/i
    const awkward = fc
      .array(fc.constantFrom('"', '\\', '/', '\n', '\u0000', '\ud800', 'é', 'a', '\u2028'))
      .map((units) => units.join(''))
    const extra = fc.dictionary(
      fc.oneof(fc.string({ unit: 'binary' }), awkward).filter((key) => !own.test(key)),
      fc.jsonValue({ maxDepth: 3 }),
    )
    fc.assert(
      fc.property(extra, fc.boolean(), fc.constantFrom(0, 2), (members, before, indent) => {
        const own = { model: 'm', messages: hello }
        const text = JSON.stringify(
          before ? { ...members, ...own } : { ...own, ...members },
          null,
          indent,
        )
        const { body, modelSpan } = peek(text)
        expect(textOf(body)).toBe(text)
        expect(textOf(body.subarray(modelSpan?.start, modelSpan?.end))).toBe('"m"')
      }),
    )
  })
})

test('a million empty messages, keys or repeated keys are judged quickly', () => {
  const hostile = [
    `{"model":"m","messages":[${'{},'.repeat(1_000_000)}{}]}`,
    `{"model":"","messages":[{"role":"user","content":""}],"a":[${'0,'.repeat(1_000_000)}0]}`,
    `{${Array.from({ length: 100_000 }, (_, at) => `"k${at}":0`).join(',')}}`,
    `{${'"a":0,'.repeat(100_000)}"a":1}`,
  ].map(bytesOf)
  for (const body of hostile) {
    const refused = () => expect(() => peekChat(body)).toThrow(GatewayError)
    refused()
    if (isLong) expect(shortestMs(refused)).toBeLessThan(linearMs())
  }
})
