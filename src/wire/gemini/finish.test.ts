// Tests where a reply of Google ends, and how finish reasons become those of other formats.

import { expect, test } from 'bun:test'
import { comesTo, readBody, readFrames, reply } from './testing.ts'

test('what follows a finish reason belongs to the reply: some models state one in every frame', () => {
  const frames = [
    reply([{ text: 'Good ' }], 'STOP', { safetyRatings: [{ category: 'A' }] }),
    reply([{ text: 'day' }], 'STOP', { avgLogprobs: -1 }),
    reply([{ functionCall: { name: 'look', args: { at: 'x' } } }], 'MAX_TOKENS'),
    reply([{ text: '' }], 'STOP'),
  ]
  for (const events of [readFrames(frames), readBody(frames)]) {
    const { choices, fault } = comesTo(events)
    expect(fault).toBe('')
    expect(choices.map(({ reason }) => reason)).toEqual(['tool_calls'])
    expect(choices[0]?.parts.map(({ text }) => text)).toEqual(['Good day', '{"at":"x"}'])
    expect(events.findLast(({ type }) => type === 'choice-end')).toMatchObject({
      extra: { gemini: { safetyRatings: [{ category: 'A' }], avgLogprobs: -1 } },
    })
  }
})

test('a failure after a finish reason is a failure', () => {
  const frames = [reply([{ text: 'Good ' }], 'STOP'), reply([], 'MALFORMED_FUNCTION_CALL')]
  expect(comesTo(readFrames(frames)).fault).toBe('vendor_error')
})

test('arguments that come as JSON text are read as the object they contain', () => {
  const read = (args: string) => {
    const parts = [{ functionCall: { name: 'look', args } }]
    return comesTo(readFrames([reply(parts, 'STOP')])).choices[0]?.parts[0]?.text
  }
  expect(read('{"at":"x"}')).toBe('{"at":"x"}')
  expect([read('[1]'), read('{"at":')]).toEqual(['{}', '{}'])
})
