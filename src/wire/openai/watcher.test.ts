// Tests how each frame of a stream is classified, and what the client gets in its place.

import { describe, expect, test } from 'bun:test'
import { frameKind } from '../reply.ts'
import { bytesOf, chunk, delta, frame, relay, relayFrames } from '../testing.ts'

const { lifecycle, semantic, usage: usageKind, done, fault } = frameKind
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
const counted = { input: 5, cachedInput: 0, cacheWrite: 0, output: 3, reasoning: 0 }

function kindOf(value: unknown): number | undefined {
  return relay([bytesOf(frame(value))]).kinds[0]
}

describe('kinds', () => {
  test.each([
    [{ content: 'a' }],
    [{ reasoning_content: 'a' }],
    [{ reasoning: 'a' }],
    [{ reasoning_details: [{ type: 'reasoning.text', text: 'a' }] }],
    [{ refusal: 'no' }],
    [{ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { arguments: '' } }] }],
    [{ function_call: { name: 'f', arguments: '' } }],
    [{ audio: { id: 'a' } }],
    [{ role: 'assistant', content: '"' }],
  ])('%j is semantic', (said) => {
    expect(kindOf(delta(said))).toBe(semantic)
  })

  test.each([
    [{ role: 'assistant', content: '', refusal: null }],
    [{ role: 'assistant', content: null }],
    [{}],
    [
      {
        content: '',
        reasoning_content: null,
        reasoning: '',
        reasoning_details: [],
        tool_calls: [],
      },
    ],
    [{ audio: {}, function_call: null }],
  ])('%j is lifecycle', (said) => {
    expect(kindOf(delta(said))).toBe(lifecycle)
  })

  test('a finish reason is semantic, also without anything said', () => {
    const { kinds, watcher } = relayFrames([delta({}, 'stop')])
    expect(kinds).toEqual([semantic, done])
    expect(watcher.finishReason).toBe('stop')
  })

  test('a text completion speaks in `text`', () => {
    const text = (text: string) => ({ object: 'text_completion', choices: [{ index: 0, text }] })
    expect([kindOf(text('a')), kindOf(text(''))]).toEqual([semantic, lifecycle])
  })

  test('metadata without choices is lifecycle', () => {
    const azure = { choices: [], id: '', model: '', prompt_filter_results: [{ prompt_index: 0 }] }
    const { kinds, watcher } = relayFrames([azure, delta({ content: 'a' })])
    expect(kinds).toEqual([lifecycle, semantic, done])
    expect(watcher.model).toBe('m')
  })

  test('comments are lifecycle, and empty data is not passed on', () => {
    const { kinds, text } = relay([bytesOf(': OPENROUTER PROCESSING\n\ndata:\n\ndata: [DONE]\n\n')])
    expect(kinds).toEqual([lifecycle, frameKind.empty, done])
    expect(text).toContain(': OPENROUTER PROCESSING')
  })

  test('other fields beside the data, data over several lines, no space behind the colon', () => {
    const text = JSON.stringify(delta({ content: 'a' }))
    const cut = text.indexOf('"choices"')
    const forms = [
      `event: message\nid: 7\ndata: ${text}\n\n`,
      `: note\ndata: ${text}\n\n`,
      `data: ${text.slice(0, cut)}\ndata: ${text.slice(cut)}\n\n`,
      `data:${text}\n\n`,
      `data: ${text} \n\n`,
    ]
    for (const form of forms) {
      const { kinds, text: out, watcher } = relay([bytesOf(form)])
      expect([kinds, out, watcher.outputBytes]).toEqual([[semantic], form, 1])
    }
    expect(relay([bytesOf('data:[DONE]\n\n')]).kinds).toEqual([done])
  })

  test('text that looks like usage or an error is text', () => {
    for (const content of ['"usage":{"prompt_tokens":1}', '{"error":{"message":"x"}}', '[DONE]']) {
      const { kinds, text, watcher } = relayFrames([delta({ content })])
      expect([kinds, watcher.usage]).toEqual([[semantic, done], null])
      expect(text).toBe(frame(delta({ content })) + frame('[DONE]'))
    }
  })

  test('only usage at the top level counts', () => {
    const nested = delta({ content: 'a' }, null, { extra: { usage }, usage: null })
    expect(relayFrames([nested]).watcher.usage).toBeNull()
  })
})

describe('counts', () => {
  test('generated text in UTF-8, escapes undone', () => {
    const values = [
      delta({ content: 'é你😀' }),
      delta({ reasoning_content: 'abc', reasoning: 'abc' }),
      delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{"a":1}' } }] }),
      delta({ tool_calls: [{ index: 0, custom: { input: 'xy' } }] }),
      delta({ function_call: { name: 'f', arguments: '{}' } }),
      delta({ refusal: 'no' }),
      delta({ reasoning_details: [{ text: 'ab' }, { summary: 'c' }] }),
      delta({ audio: { data: 'AAAA', transcript: 'hi' } }),
    ]
    expect(relayFrames(values).watcher.outputBytes).toBe(9 + 3 + 7 + 2 + 2 + 2 + 3 + 2)
    const raw = String.raw`{"choices":[{"delta":{"content":"\u00e9\u4f60\ud83d\ude00\n\"A"}}]}`
    expect(relayFrames([raw]).watcher.outputBytes).toBe(2 + 3 + 4 + 1 + 1 + 1)
  })
})

describe('faults', () => {
  test.each([
    [{ error: { message: 'over', code: 'server_error' } }, 'vendor_error'],
    [{ error: { message: 'slow down', code: 429 } }, 'rate_limited'],
    [{ error: { message: 'no credit', code: 402 } }, 'quota'],
    [{ error: 'broken' }, 'vendor_error'],
    [delta({ content: '' }, 'error'), 'vendor_error'],
    [delta({}, 'network_error'), 'vendor_error'],
    [delta({}, null, { x_groq: { error: 'over_capacity' } }), 'vendor_error'],
    [
      chunk({ choices: [{ index: 0, delta: {}, error: { code: 502, message: 'x' } }] }),
      'vendor_error',
    ],
    ['{"choices":[', 'unreadable'],
    ['oops', 'unreadable'],
    ['[1]', 'unreadable'],
    ['{"choices":[]} {}', 'unreadable'],
  ])('%j', (value, kind) => {
    const { kinds, watcher } = relay([bytesOf(frame(value))])
    expect(kinds).toEqual([fault])
    expect(watcher.fault?.kind).toBe(kind as 'quota')
    expect(watcher.fault?.message).not.toBe('')
  })

  test('an event named error is one, whatever its data', () => {
    for (const data of ['{"message":"over"}', 'over']) {
      const { kinds, watcher } = relay([bytesOf(`event: error\ndata: ${data}\n\n`)])
      expect(kinds).toEqual([fault])
      expect(watcher.fault).toMatchObject({ kind: 'vendor_error', message: 'over' })
    }
  })

  test('error null is none', () => {
    expect(kindOf(delta({ content: 'a' }, null, { error: null }))).toBe(semantic)
  })

  test('a frame cut short does not swallow the next', () => {
    const text = `data: {"choices":[{"delta":{"content":"a\n\n${frame(delta({ content: 'b' }))}`
    expect(relay([bytesOf(text)]).kinds).toEqual([fault, semantic])
  })

  test('usage that cannot be parsed is unreadable', () => {
    const { watcher } = relay([bytesOf('data: {"choices":[],"usage":{"a":"\\x"}}\n\n')])
    expect(watcher.fault?.kind).toBe('unreadable')
  })
})

describe('usage for a client that did not ask', () => {
  test('a chunk of its own is withheld', () => {
    const values = [delta({ content: 'a' }), delta({}, 'stop'), chunk({ choices: [], usage })]
    const { text, kinds, watcher } = relayFrames(values)
    expect(kinds).toEqual([semantic, semantic, usageKind, done])
    expect(text).toBe([...values.slice(0, 2), '[DONE]'].map(frame).join(''))
    expect(watcher.usage).toEqual(counted)
  })

  test('other members keep the chunk, measurements beside the count do not', () => {
    const moderation = { flagged: false }
    const { text } = relayFrames([
      chunk({ choices: [], usage, timings: { ms: 1 }, system_fingerprint: null }),
      chunk({ choices: [], usage, moderation }),
    ])
    expect(text).toBe(frame(chunk({ choices: [], moderation })) + frame('[DONE]'))
  })

  test('usage beside choices is taken out, first, last or between', () => {
    const delta = { role: 'assistant', content: 'a' }
    const choices = [{ index: 0, delta, finish_reason: 'stop' }]
    for (const value of [
      { usage, choices },
      { choices, usage },
      { id: 'x', usage, choices },
    ]) {
      const { usage: _, ...rest } = value
      const { text, kinds, semantics } = relayFrames([value])
      expect(text).toBe(frame(rest) + frame('[DONE]'))
      expect([kinds[0], semantics[0]]).toEqual([usageKind, true])
    }
  })

  test('white space and unknown members around it stay as they were', () => {
    const spaced =
      '{ "choices" : [ {"delta":{"role":"assistant"}} ] , "usage" : {"total_tokens": 1} }'
    expect(relayFrames([spaced]).text).toBe(
      frame('{ "choices" : [ {"delta":{"role":"assistant"}} ]  }') + frame('[DONE]'),
    )
  })

  test('usage elsewhere is found, counted and taken out', () => {
    const groq = delta({}, 'stop', { x_groq: { id: 'r', usage }, usage })
    const seen = relayFrames([groq], false, { usagePath: ['x_groq', 'usage'] })
    expect(seen.text).toBe(frame(delta({}, 'stop', { x_groq: { id: 'r' } })) + frame('[DONE]'))
    expect(seen.watcher.usage).toEqual(counted)
    const delivered = { index: 0, delta: { role: 'assistant' }, finish_reason: 'stop' }
    const moonshot = chunk({ choices: [{ ...delivered, usage }] })
    const inside = relayFrames([moonshot], false, { usagePath: ['choices', '0', 'usage'] })
    expect(inside.text).toBe(frame(delta({}, 'stop')) + frame('[DONE]'))
    expect(inside.watcher.usage).toEqual(counted)
  })
})

describe('usage for a client that asked', () => {
  test('a stream in the form of OpenAI is relayed byte for byte', () => {
    const values = [
      delta({ role: 'assistant', content: '' }, null, { usage: null }),
      delta({ content: 'a' }, null, { usage: null }),
      delta({}, 'stop', { usage: null }),
      `{"id":"c" , "choices":[],"usage": ${JSON.stringify(usage)}}`,
    ]
    expect(relayFrames(values, true).text).toBe([...values, '[DONE]'].map(frame).join(''))
  })

  test.each([[{}], [{ choices: null }]])('a chunk of usage with %j gets its list', (more) => {
    const { text } = relayFrames([delta({}, 'stop'), chunk({ ...more, usage })], true)
    expect(text).toBe(
      [delta({}, 'stop'), chunk({ choices: [], usage }), '[DONE]'].map(frame).join(''),
    )
  })

  test('usage beside choices is shown in a chunk of its own, right before the end', () => {
    const { text } = relayFrames([delta({}, 'stop', { usage }), delta({ content: '' })], true)
    expect(text).toBe(
      [delta({}, 'stop'), delta({ content: '' }), chunk({ choices: [], usage }), '[DONE]']
        .map(frame)
        .join(''),
    )
  })

  test('of several the last is shown and counted', () => {
    const running = { ...usage, completion_tokens: 1, total_tokens: 6 }
    const { text, watcher } = relayFrames(
      [
        delta({ content: 'a' }, null, { usage: running }),
        delta({}, 'stop', { usage: running }),
        chunk({ choices: [], usage }),
        chunk({ choices: [], moderation: {} }),
      ],
      true,
    )
    expect(text).toBe(
      [
        delta({ content: 'a' }),
        delta({}, 'stop'),
        chunk({ choices: [], moderation: {} }),
        chunk({ choices: [], usage }),
        '[DONE]',
      ]
        .map(frame)
        .join(''),
    )
    expect(watcher.usage).toEqual(counted)
  })

  test('usage known only elsewhere is shown where clients look', () => {
    const value = delta({}, 'stop', { x_groq: { id: 'r', usage } })
    const { text } = relayFrames([value], true, { usagePath: ['x_groq', 'usage'] })
    expect(text).toBe(
      [delta({}, 'stop', { x_groq: { id: 'r' } }), chunk({ choices: [], usage }), '[DONE]']
        .map(frame)
        .join(''),
    )
  })

  test("a vendor's correction is shown and counted", () => {
    const quirks = {
      usage: (given: object) => ({ ...given, completion_tokens: 4, total_tokens: 9 }),
    }
    const corrected = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 }
    const bare = relayFrames([chunk({ choices: [], usage, tail: null })], true, quirks)
    expect(bare.text).toBe(
      frame(chunk({ choices: [], usage: corrected, tail: null })) + frame('[DONE]'),
    )
    expect(bare.watcher.usage?.output).toBe(4)
  })

  test('usage in another spelling is shown in that of OpenAI', () => {
    const { text } = relayFrames(
      [chunk({ choices: [], usage: { input_tokens: 5, output_tokens: 3 } })],
      true,
    )
    expect(text).toContain('"prompt_tokens":5,"completion_tokens":3,"total_tokens":8')
  })

  test('nothing to show, nothing shown', () => {
    expect(relayFrames([delta({}, 'stop')], true).text).toBe(
      frame(delta({}, 'stop')) + frame('[DONE]'),
    )
  })

  test('zeros do not overwrite what was counted', () => {
    const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
    const { watcher } = relayFrames([
      delta({ content: 'a' }, null, { usage }),
      delta({}, 'stop', { usage: zeros }),
    ])
    expect(watcher.usage).toEqual(counted)
  })
})

test('a choice that failed is a fault, beside another that has ended', () => {
  const choices = ['stop', 'error'].map((finish_reason, index) => ({
    index,
    delta: {},
    finish_reason,
  }))
  expect(kindOf(chunk({ choices }))).toBe(fault)
  expect(kindOf(chunk({ choices: choices.toReversed() }))).toBe(fault)
})
