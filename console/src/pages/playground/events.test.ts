// Tests streams of chats, divided anywhere.

import { expect, test } from 'bun:test'
import { eventReader, hear, nothingHeard } from './events.ts'

const events = [
  '{"choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"hm"}}]}',
  '{"choices":[{"index":0,"delta":{"content":"你好, "}}]}',
  '{"choices":[{"index":0,"delta":{"content":"Ann"}}]}',
  '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"add","arguments":"{\\"a\\":"}}]}}]}',
  '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}},{"index":1,"id":"c2","function":{"name":"now","arguments":"{}"}}]}}]}',
  '{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}',
  '[DONE]',
]

const streamOf = (end: string) =>
  `: a comment${end}${end}${events.map((event) => `event: chunk${end}data: ${event}${end}${end}`).join('')}`

function heardOf(pieces: readonly string[]) {
  const read = eventReader()
  return pieces.flatMap((piece) => read(piece)).reduce(hear, nothingHeard)
}

test.each(['\n', '\r\n'])('a stream cut at any two places is the same (lines end in %j)', (end) => {
  const stream = streamOf(end)
  const whole = heardOf([stream])
  expect(whole).toEqual({
    text: '你好, Ann',
    reasoning: 'hm',
    calls: [
      { id: 'c1', name: 'add', arguments: '{"a":1}' },
      { id: 'c2', name: 'now', arguments: '{}' },
    ],
    isWhole: true,
    failure: null,
  })
  for (let cut = 0; cut <= stream.length; cut += 1) {
    const pieces = [stream.slice(0, cut), stream.slice(cut, cut + 3), stream.slice(cut + 3)]
    expect(heardOf(pieces)).toEqual(whole)
  }
})

test('data over several lines is one event, and what is not ended is none', () => {
  const read = eventReader()
  expect(read('data: {"a":\ndata: 1}\n\ndata: rest')).toEqual(['{"a":\n1}'])
  expect(read('\n\n')).toEqual(['rest'])
})

test('an error in the middle keeps what came and has its code', () => {
  const heard = heardOf([
    'data: {"choices":[{"delta":{"content":"Half"}}]}\n\ndata: {"error":{"code":"vendor_error","message":"It broke."}}\n\n',
  ])
  expect(heard).toMatchObject({
    text: 'Half',
    isWhole: false,
    failure: { code: 'vendor_error', message: 'It broke.' },
  })
})
