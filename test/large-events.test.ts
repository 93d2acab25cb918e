// Tests events that hold a whole picture or document: they pass and are translated in every format that has them.

import { describe, expect, test } from 'bun:test'
import { vendors } from '../src/vendors/registry.ts'
import type { Vendor } from '../src/vendors/vendor.ts'
import type { VendorDialectId } from '../src/wire/formats.ts'
import { ListFraming } from '../src/wire/gemini/list-framing.ts'
import type { JsonObject } from '../src/wire/ir.ts'
import { FrameSplitter, maxFileFrameBytes } from '../src/wire/sse.ts'
import { relay } from './recordings/relayed.ts'
import { identityOf } from './support/dialects.ts'

const data = 'iVBORw0KGgo'.repeat(300_000)
const encoder = new TextEncoder()

const image = { type: 'image_generation_call', id: 'ig', status: 'completed', result: data }
const source = { type: 'base64', media_type: 'application/pdf', data }
const fetched = { type: 'web_fetch_tool_result', tool_use_id: 't', content: { source } }

const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }

const streams: readonly (readonly [VendorDialectId, string, JsonObject[]])[] = [
  [
    'openai-chat',
    'openrouter',
    [
      { choices: [{ index: 0, delta: { content: 'done', images: [picture] } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ],
  ],
  [
    'gemini',
    'google',
    [
      { candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data } }] } }] },
      { candidates: [{ content: { parts: [{ text: 'done' }] }, finishReason: 'STOP' }] },
    ],
  ],
  [
    'openai-responses',
    'openai',
    [
      { type: 'response.output_item.done', output_index: 0, item: image },
      { type: 'response.output_text.delta', output_index: 1, delta: 'done' },
      { type: 'response.completed', response: { status: 'completed', output: [image] } },
    ],
  ],
  [
    'anthropic-messages',
    'anthropic',
    [
      { type: 'message_start', message: { id: 'm', content: [], usage: {} } },
      { type: 'content_block_start', index: 0, content_block: fetched },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'done' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ],
  ],
]

function vendorOf(id: string): Vendor {
  const vendor = vendors[id]
  if (vendor === undefined) throw new Error(`no vendor ${id}`)
  return vendor
}

/** The stream in pieces as a connection brings them. */
function piecesOf(list: readonly JsonObject[]): Uint8Array[] {
  const text = list
    .map((frame) => `event: ${String(frame['type'])}\ndata: ${JSON.stringify(frame)}\n\n`)
    .join('')
  const bytes = encoder.encode(text)
  const size = 65_536
  const count = Math.ceil(bytes.length / size)
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
}

describe.each([...streams])('%s', (from, id, list) => {
  test('is translated', () => {
    const asked = { vendor: vendorOf(id), from, to: 'openai-chat', streamed: true, stream: true }
    const seen = relay({ ...asked, to: 'openai-chat' }, piecesOf(list))
    expect(seen.fault).toBeNull()
    expect(seen.clean).toBe(true)
    expect(seen.text).toContain('"content":"done"')
    if (from !== 'anthropic-messages') expect(seen.text).toContain(data)
  })

  test('passes where client and vendor share it', () => {
    const splitter = new FrameSplitter(identityOf(from).maxFrameBytes)
    const counts = piecesOf(list).map((piece) => splitter.push(piece))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(list.length)
  })
})

test('an event without an end is let go at 64 MiB', () => {
  const [, , list] = streams[1] ?? ['gemini', '', []]
  const whole = piecesOf(list)
  const piece = whole[0] ?? new Uint8Array()
  const many = Array.from({ length: maxFileFrameBytes / piece.length + 1 }, () => piece)
  const asked = { vendor: vendorOf('google'), from: 'gemini', to: 'gemini' } as const
  const seen = relay({ ...asked, streamed: true, stream: true }, many)
  expect(seen.fault?.message).toBe('an event of the stream is too long')
})

test('a list for a Google client holds it too', () => {
  const list = new ListFraming()
  const [, , said] = streams[1] ?? ['gemini', '', []]
  const text = piecesOf(said).map((piece) => new TextDecoder().decode(list.push(piece)))
  const shown = JSON.parse(text.join('') + new TextDecoder().decode(list.end()))
  expect(shown).toEqual(said)
})
