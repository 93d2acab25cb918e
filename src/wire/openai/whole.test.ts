// Tests whole replies: what is refused, what is read, and what is corrected in place.

import { describe, expect, test } from 'bun:test'
import { bytesOf, textOf } from '../testing.ts'
import { readTail, readWhole } from './whole.ts'

const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
const counted = { input: 5, cachedInput: 0, cacheWrite: 0, output: 3, reasoning: 0 }
const message = { role: 'assistant', content: 'hi', reasoning_content: 'hm', refusal: null }
const reply = {
  id: 'c',
  model: 'm',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage,
}

function whole(value: unknown, quirks = {}) {
  return readWhole(bytesOf(typeof value === 'string' ? value : JSON.stringify(value)), quirks)
}

test('a good reply passes byte for byte, and says what it says', () => {
  for (const text of [JSON.stringify(reply), `\n  ${JSON.stringify(reply, null, 2)}\r\n`]) {
    const seen = whole(text)
    expect(seen).toMatchObject({ fault: null, finishReason: 'stop', model: 'm' })
    expect(seen.usage).toEqual(counted)
    expect(textOf(seen.bytes)).toBe(text)
  }
})

test('small and large replies are judged alike', () => {
  const padded = { ...reply, padding: 'x'.repeat(9_000) }
  const { bytes: _small, outputBytes: _none, ...small } = whole(JSON.stringify(reply))
  const { bytes: _large, outputBytes, ...large } = whole(JSON.stringify(padded))
  expect(small).toEqual(large)
  expect(outputBytes).toBe(4)
})

test.each<[unknown, string]>([
  ['', 'unreadable'],
  ['   ', 'unreadable'],
  ['<html>', 'unreadable'],
  ['"text"', 'unreadable'],
  ['[]', 'unreadable'],
  ['{"choices":[', 'unreadable'],
  ['{"choices":[]} x', 'unreadable'],
  [{}, 'unreadable'],
  [{ choices: [], usage }, 'unreadable'],
  [{ choices: null, base_resp: { status_code: 1008, status_msg: 'balance' } }, 'unreadable'],
  [{ error: { code: 502, message: 'm' } }, 'vendor_error'],
  [{ error: { code: 429, message: 'm' }, choices: [] }, 'rate_limited'],
  [{ code: 'x', error: 'text' }, 'vendor_error'],
  [{ choices: [{ error: { code: 402, message: 'm' } }] }, 'quota'],
  [{ choices: [{ message: {}, finish_reason: 'error' }] }, 'vendor_error'],
])('%j is a fault', (value, kind) => {
  const { fault } = whole(value)
  expect(fault?.kind).toBe(kind as 'quota')
  expect(fault?.message).not.toBe('')
})

test('what a vendor says in place of choices goes into the message', () => {
  expect(whole({ code: 30001, message: 'balance used up' }).fault?.message).toContain(
    'balance used up',
  )
})

test('error null is none, and neither are texts that look like one', () => {
  const content = '"error":{"message":"x"},"usage":{"prompt_tokens":99}'
  const choices = [{ index: 0, message: { content }, finish_reason: 'stop' }]
  const seen = whole({ error: null, choices, usage })
  expect([seen.fault, seen.usage]).toEqual([null, counted])
})

describe('usage', () => {
  test('a correction is put into the body, and nothing else is touched', () => {
    const text = `{ "usage" : {"prompt_tokens":5,"completion_tokens":1,"total_tokens":8} , "choices": [{}] }`
    const quirks = { usage: (given: object) => ({ ...given, completion_tokens: 3 }) }
    const seen = whole(text, quirks)
    expect(textOf(seen.bytes)).toBe(text.replace('"completion_tokens":1', '"completion_tokens":3'))
    expect(seen.usage).toEqual(counted)
  })

  test('usage elsewhere is put where clients look', () => {
    const quirks = { usagePath: ['x_groq', 'usage'] }
    for (const extra of [{}, { usage: null }]) {
      const seen = whole({ choices: [{}], ...extra, x_groq: { usage } }, quirks)
      expect(JSON.parse(textOf(seen.bytes))).toEqual({ choices: [{}], x_groq: { usage }, usage })
      expect(seen.usage).toEqual(counted)
    }
  })

  test('a spelling of its own is shown in that of OpenAI', () => {
    const seen = whole({ choices: [{}], usage: { input_tokens: 5, output_tokens: 3 } })
    expect(JSON.parse(textOf(seen.bytes)).usage).toMatchObject(usage)
  })

  test('none, or one nobody can read', () => {
    expect(whole({ choices: [{}] }).usage).toBeNull()
    const seen = whole({ choices: [{}], usage: { x: 1 } })
    expect([seen.usage, textOf(seen.bytes)]).toEqual([null, '{"choices":[{}],"usage":{"x":1}}'])
  })
})

describe('tail', () => {
  const bytes = bytesOf(JSON.stringify(reply))

  test('read wherever the cut is, as long as usage is behind it', () => {
    const last = textOf(bytes).lastIndexOf('"usage"')
    for (let at = 0; at <= bytes.length; at++) {
      const seen = readTail(bytes.subarray(at), {})
      expect(seen.usage).toEqual(at <= last ? counted : null)
    }
    expect(readTail(bytes.subarray(40), {})).toMatchObject({ finishReason: 'stop', model: null })
  })

  test('the last one that can be read counts; texts do not', () => {
    const quoted = JSON.stringify({ a: '"usage":{"prompt_tokens":1,"completion_tokens":1}' })
    const text = `x","usage":{"prompt_tokens":5,"completion_tokens":3},"b":"usage","usage":null,"y":${quoted}}`
    expect(readTail(bytesOf(text), {}).usage).toEqual(counted)
    expect(readTail(bytesOf('"usage":{"prompt_tokens":1'), {}).usage).toBeNull()
    expect(readTail(bytesOf(''), {}).usage).toBeNull()
  })

  test('corrected as everywhere', () => {
    const quirks = { usage: (given: object) => ({ ...given, completion_tokens: 4 }) }
    expect(readTail(bytes, quirks).usage?.output).toBe(4)
  })
})
