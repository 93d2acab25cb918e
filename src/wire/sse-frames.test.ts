// Tests events named `error`, which no reader takes for anything else, in whatever form a vendor's error is.

import { expect, test } from 'bun:test'
import { readAll } from '../../test/replies.ts'
import { vendorHub } from '../../test/support/dialects.ts'
import { SseFrames } from './sse-frames.ts'

const formats = [
  'openai-chat',
  'openai-completions',
  'openai-responses',
  'anthropic-messages',
  'gemini',
  'cohere-v2',
] as const

test.each([
  ['{"type":"error","message":"too busy"}'],
  ['{"error":"too busy"}'],
  ['{"detail":"too busy"}'],
  ['{"error":false,"message":"too busy"}'],
])('W48: an event named error fails the reply with its message: %s', (data) => {
  const frames = new SseFrames().push(Buffer.from(`event: error\ndata: ${data}\n\n`))
  const fault = { kind: 'vendor_error', message: 'too busy' } as const
  for (const id of formats)
    expect([id, readAll(vendorHub(id).reader({}), frames)]).toEqual([
      id,
      [{ type: 'fault', fault }],
    ])
})

test('an event named error keeps the status that stands beside its type', () => {
  const data = '{"type":"error","code":529,"message":"too busy"}'
  const frames = new SseFrames().push(Buffer.from(`event: error\ndata: ${data}\n\n`))
  for (const id of formats)
    expect([id, readAll(vendorHub(id).reader({}), frames)]).toMatchObject([
      id,
      [{ fault: { message: 'too busy', status: 529 } }],
    ])
})
