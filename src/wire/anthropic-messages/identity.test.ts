// Tests replies that reach Anthropic's clients as the vendor sent them, and refusals in its words.

import { describe, expect, test } from 'bun:test'
import { type ErrorCode, errorTable, GatewayError } from '../../errors.ts'
import { frameKind, type ReplyQuirks } from '../reply.ts'
import { anthropicMessages } from './dialect.ts'
import { estimateOf } from './estimate.ts'
import { refusalStatus } from './refuse.ts'
import { frame } from './writer.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Kinds of the frames, with the text that the client gets of each. */
function watch(texts: readonly string[], quirks: ReplyQuirks = {}) {
  const watcher = anthropicMessages.identity.watcher({ wantsUsage: true, quirks })
  const semantics: boolean[] = []
  const kinds: number[] = []
  const shown = texts.map((text) => {
    const bytes = encoder.encode(text)
    const kind = watcher.frame(bytes, 0, bytes.length)
    kinds.push(kind)
    semantics.push(watcher.semantic)
    const given = kind === frameKind.usage ? watcher.amend(bytes, 0, bytes.length) : bytes
    return given === null ? null : decoder.decode(given)
  })
  return { watcher, kinds, semantics, shown }
}

const start = {
  message: {
    id: 'msg_1',
    model: 'claude',
    content: [],
    usage: { input_tokens: 5, output_tokens: 1 },
  },
}
const blockStart = { index: 0, content_block: { type: 'text', text: '' } }
const textDelta = { index: 0, delta: { type: 'text_delta', text: 'Grüße "\\u00e9" 👋' } }
const finish = { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } }
const { lifecycle, semantic, usage, done, fault } = frameKind

describe('the watcher', () => {
  test('tells what commits a reply from what does not', () => {
    const seen = watch([
      frame('message_start', start),
      frame('ping', {}),
      frame('content_block_start', blockStart),
      frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text: '' } }),
      frame('content_block_delta', textDelta),
      frame('content_block_stop', { index: 0 }),
      frame('content_block_start', {
        index: 1,
        content_block: { type: 'tool_use', id: 'x', name: 'f', input: {} },
      }),
      frame('message_delta', finish),
      frame('message_stop', {}),
    ])
    expect(seen.kinds).toEqual([
      lifecycle,
      lifecycle,
      lifecycle,
      lifecycle,
      semantic,
      lifecycle,
      semantic,
      usage,
      done,
    ])
    expect(seen.semantics[7]).toBe(true)
    expect(seen.watcher).toMatchObject({ finishReason: 'end_turn', model: 'claude', fault: null })
    expect(seen.watcher.usage).toMatchObject({ input: 5, output: 9 })
    expect(seen.watcher.outputBytes).toBe(encoder.encode(textDelta.delta.text).length)
  })

  test('names the events of a vendor that does not, which official clients would pass over', () => {
    const bare = [
      `data: ${JSON.stringify({ type: 'message_start', ...start })}\n\n`,
      `data: ${JSON.stringify({ type: 'content_block_start', ...blockStart })}\n\n`,
      `data: ${JSON.stringify({ type: 'content_block_delta', ...textDelta })}\n\n`,
      ': a comment\n\n',
      'data: {"type":"message_stop"}\n\n',
    ]
    const seen = watch(bare)
    expect(seen.shown).toEqual([
      `event: message_start\n${bare[0]}`,
      `event: content_block_start\n${bare[1]}`,
      `event: content_block_delta\n${bare[2]}`,
      ': a comment\n\n',
      'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    ])
    expect(seen.semantics[2]).toBe(true)
  })

  test('data in several lines, or with fields behind it, is read and passed on as it came', () => {
    const lines = JSON.stringify(textDelta, null, 1).replace(
      '{',
      '{ "type": "content_block_delta",',
    )
    const texts = [
      frame('content_block_start', blockStart),
      `event: content_block_delta\n${lines.replace(/^/gm, 'data: ')}\n\n`,
      `${frame('content_block_delta', textDelta).trimEnd()}\nid: 7\nretry: 10\n\n`,
      'event: content_block_stop\ndata:\t{"type":"content_block_stop","index":0}\n\n',
    ]
    const seen = watch(texts)
    expect(seen.kinds).toEqual([lifecycle, semantic, semantic, lifecycle])
    expect(seen.shown).toEqual(texts)
  })

  test('W14: a start that comes twice is left out, named or not; its counts are read', () => {
    const again = { message: { ...start.message, usage: { input_tokens: 7, output_tokens: 1 } } }
    const seen = watch([
      frame('message_start', start),
      frame('message_start', again),
      `data: ${JSON.stringify({ type: 'message_start', ...again })}\n\n`,
    ])
    expect(seen.kinds).toEqual([lifecycle, frameKind.empty, frameKind.empty])
    expect(seen.watcher.usage?.input).toBe(7)
  })

  test('W48: an error in the stream is a fault, as is what cannot be read', () => {
    const error = { error: { type: 'overloaded_error', message: 'Overloaded' } }
    const seen = watch([frame('error', error)])
    expect([seen.kinds, seen.watcher.fault?.kind]).toEqual([[fault], 'overloaded'])
    for (const text of ['event: ping\ndata: {"type":\n\n', 'event: ping\ndata: {} {}\n\n']) {
      expect(watch([text]).watcher.fault?.kind).toBe('unreadable')
    }
  })

  test("OpenAI's end marker, which some vendors add, is not passed on, and no fault", () => {
    const { watcher, kinds } = watch([
      frame('message_start', start),
      frame('message_delta', finish),
      'data: [DONE]\n\n',
    ])
    expect([kinds.at(-1), watcher.fault]).toEqual([frameKind.empty, null])
  })

  test("the vendor's quirks correct its counts", () => {
    const quirks = { usage: (raw: object) => ({ ...raw, output_tokens: 100 }) }
    expect(
      watch([frame('message_start', start), frame('message_delta', finish)], quirks).watcher.usage
        ?.output,
    ).toBe(100)
  })
})

test('the cost stands in the counts of the end, and in those of a whole message', () => {
  const show = (text: string) =>
    decoder.decode(anthropicMessages.client.withCost(encoder.encode(text), '0.5'))
  expect(show(frame('message_delta', finish))).toContain('"usage":{"cost":"0.5","output_tokens":9}')
  expect(show(frame('message_start', start))).toBe(frame('message_start', start))
  expect(show('{"type":"message","usage":{"output_tokens":9}}')).toBe(
    '{"type":"message","usage":{"cost":"0.5","output_tokens":9}}',
  )
})

describe('a whole message', () => {
  const whole = (body: unknown) =>
    anthropicMessages.identity.whole(encoder.encode(JSON.stringify(body)), {} as never, {})

  test('without counts has its words counted', () => {
    const content = [
      { type: 'text', text: 'Grüße' },
      { type: 'thinking', thinking: 'hm' },
      { type: 'tool_use', input: { a: 1 } },
    ]
    const reply = whole({ type: 'message', content, stop_reason: 'end_turn', model: 'm' })
    expect(reply).toMatchObject({ usage: null, finishReason: 'end_turn', model: 'm', fault: null })
    expect(reply.outputBytes).toBe(7 + 2 + 7)
  })

  test('W49: that is an error, or none at all, is a fault', () => {
    expect(whole({ type: 'error', error: { type: 'overloaded_error' } }).fault?.kind).toBe(
      'overloaded',
    )
    expect(whole({ type: 'message' }).fault?.kind).toBe('unreadable')
    expect(whole([]).fault?.kind).toBe('unreadable')
  })
})

describe('refusals', () => {
  const types: Readonly<Partial<Record<ErrorCode, readonly [number, string]>>> = {
    invalid_request_error: [400, 'invalid_request_error'],
    invalid_api_key: [401, 'authentication_error'],
    insufficient_quota: [402, 'billing_error'],
    model_not_found: [404, 'not_found_error'],
    request_in_progress: [409, 'conflict_error'],
    request_too_large: [413, 'request_too_large'],
    rate_limit_exceeded: [429, 'rate_limit_error'],
    server_error: [500, 'api_error'],
    service_unavailable: [529, 'overloaded_error'],
  }
  test.each(Object.entries(types))('%s', (code, expected) => {
    const error = new GatewayError(code as ErrorCode, 'why')
    const body = JSON.parse(anthropicMessages.client.refuse(error, 'req_1'))
    expect([refusalStatus(error), body.error.type]).toEqual([...(expected ?? [])])
    expect(body).toEqual({
      type: 'error',
      error: { type: body.error.type, message: 'why' },
      request_id: 'req_1',
    })
  })

  test('every code has a type, and its own status unless the format has another', () => {
    for (const code of Object.keys(errorTable) as ErrorCode[]) {
      const error = new GatewayError(code, 'why')
      expect(JSON.parse(anthropicMessages.client.refuse(error, 'r')).error.type).toMatch(
        /^[a-z_]+$/,
      )
      if (types[code] === undefined) expect(refusalStatus(error)).toBe(errorTable[code].status)
    }
  })

  test('what no retry mends is no overload, and a finer code is given', () => {
    const gone = new GatewayError('service_unavailable', 'why', { retry: false })
    expect(refusalStatus(gone)).toBe(503)
    expect(JSON.parse(anthropicMessages.client.refuse(gone, 'r')).error.type).toBe('api_error')
    const long = new GatewayError('invalid_request_error', 'why', {
      shownCode: 'context_length_exceeded',
    })
    expect(JSON.parse(anthropicMessages.client.refuse(long, 'r')).error.details).toEqual({
      error_code: 'context_length_exceeded',
    })
  })

  test('a stream that breaks ends in an event of its own', () => {
    const error = new GatewayError('server_error', 'why')
    expect(anthropicMessages.client.errorFrames(error, 'req_1')).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"why"},"request_id":"req_1"}\n\n',
    )
  })
})

test('an estimate counts text by its bytes, pictures by the piece, and no base64 as text', () => {
  const data = 'A'.repeat(40_000)
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
  const said = (...content: object[]) =>
    estimateOf({ messages: [{ role: 'user', content }] } as never)
  expect(said({ type: 'text', text: 'Grüße' })).toEqual({ bytes: 7, tokens: 8 })
  expect(said(image)).toEqual({ bytes: 0, tokens: 1_608 })
  expect(said({ type: 'tool_result', content: [image, { type: 'text', text: 'ab' }] })).toEqual({
    bytes: 2,
    tokens: 1_608,
  })
  const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }
  expect(said(pdf)).toEqual({ bytes: 0, tokens: 1_008 })
  expect(estimateOf({ system: 'abc', tools: [{ name: 'f' }] })).toEqual({
    bytes: 3 + 14,
    tokens: 8,
  })
})
