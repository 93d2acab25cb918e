// Tests Responses that are relayed unchanged: what is read from them, whole and streamed, and what is kept of them.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../errors.ts'
import { dialects } from '../dialects.ts'
import type { JsonObject } from '../ir.ts'
import { frameKind, type ReplyQuirks } from '../reply.ts'
import type { Peek } from '../request.ts'
import { bytesOf, textOf } from '../testing.ts'
import { inputItems, keepingOf, outputItems, withHistory } from './kept.ts'

const dialect = dialects['openai-responses']
const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 15,
}
const counted = { input: 6, cachedInput: 4, cacheWrite: 0, output: 3, reasoning: 2 }
const response = { id: 'resp_x', object: 'response', created_at: 5, model: 'm', output: [] }
const created = { type: 'response.created', response: { ...response, status: 'in_progress' } }
const completed = {
  type: 'response.completed',
  response: { ...response, status: 'completed', error: null, usage },
}

function frameOf(event: JsonObject, named = true): string {
  return `${named ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`
}

/** A watcher after these frames, the kind of each, and what the client gets of it. */
function watched(frames: readonly string[], quirks: ReplyQuirks = {}) {
  const watcher = dialect.identity.watcher({ wantsUsage: true, quirks })
  const shown: string[] = []
  const kinds = frames.map((text) => {
    const bytes = bytesOf(text)
    const kind = watcher.frame(bytes, 0, bytes.length)
    const amended = kind === frameKind.usage ? watcher.amend(bytes, 0, bytes.length) : bytes
    if (amended !== null) shown.push(textOf(amended))
    return kind
  })
  return { watcher, kinds, shown }
}

describe('citations with an address alone', () => {
  const bare = { type: 'url_citation', url: 'https://x' }
  const whole = { ...bare, start_index: 0, end_index: 0, title: '' }
  const placed = { ...bare, start_index: 1, end_index: 2, title: 't' }
  const item = (annotations: JsonObject[]) => ({
    ...{ id: 'msg', type: 'message', role: 'assistant' },
    content: [{ type: 'output_text', text: 'a', annotations }],
  })
  const ended = (annotations: JsonObject[]) => ({
    ...response,
    ...{ status: 'completed', error: null, usage, output: [item(annotations)] },
  })
  const eventsOf = (citation: JsonObject) => [
    { type: 'response.output_text.annotation.added', annotation: citation },
    { type: 'response.output_item.done', output_index: 0, item: item([citation, placed]) },
    { type: 'response.completed', response: ended([citation, placed]) },
  ]

  test('are completed for clients of a vendor known for them', () => {
    const quirks = { bareCitations: true }
    const frames = eventsOf(bare).map((event) => frameOf(event))
    const { watcher, shown } = watched(frames, quirks)
    expect(shown).toEqual(eventsOf(whole).map((event) => frameOf(event)))
    expect(watcher).toMatchObject({ usage: counted, finishReason: 'stop', fault: null })
    const body = bytesOf(JSON.stringify(ended([bare])))
    const reply = dialect.identity.whole(body, {} as Peek, quirks)
    expect(JSON.parse(textOf(reply.bytes))).toEqual(ended([whole]))
    expect(reply.usage).toEqual(counted)
  })

  test('stay as they are from others, and so do complete ones', () => {
    const frames = eventsOf(bare).map((event) => frameOf(event))
    expect(watched(frames).shown).toEqual(frames)
    const complete = eventsOf(whole).map((event) => frameOf(event))
    expect(watched(complete, { bareCitations: true }).shown).toEqual(complete)
  })
})

describe('a stream', () => {
  const delta = { type: 'response.output_text.delta', output_index: 0, delta: 'hé\n' }
  const added = { type: 'response.output_item.added', output_index: 0, item: {} }

  test.each([true, false])('is seen as it passes; with event lines: %p', (named) => {
    const frames = [created, added, delta, completed].map((event) => frameOf(event, named))
    const { watcher, kinds, shown } = watched(frames)
    expect(kinds).toEqual([
      frameKind.lifecycle,
      frameKind.lifecycle,
      frameKind.semantic,
      frameKind.usage,
    ])
    expect(shown).toEqual(frames)
    expect(watcher).toMatchObject({
      usage: counted,
      finishReason: 'stop',
      model: 'm',
      outputBytes: 4,
      semantic: true,
      fault: null,
    })
    expect(watcher.held()).toBeNull()
  })

  test('a comment passes, a terminator does not', () => {
    const { kinds, shown } = watched([': keep-alive\n\n', 'data: [DONE]\n\n'])
    expect(kinds).toEqual([frameKind.lifecycle, frameKind.usage])
    expect(shown).toEqual([': keep-alive\n\n'])
  })

  test('data in several lines, and members in any order, are read', () => {
    const { type, response: inner } = completed
    const text = `data: {"response":\ndata: ${JSON.stringify(inner)},\ndata: "type":"${type}"}\n\n`
    expect(watched([text]).watcher.usage).toEqual(counted)
  })

  test.each<[JsonObject, string]>([
    [{ type: 'error', error: { code: 'insufficient_quota', message: 'm' } }, 'quota'],
    [{ type: 'error', code: 'rate_limit_exceeded', message: 'm' }, 'rate_limited'],
    [{ type: 'response.failed', response: { error: { code: 'server_error' } } }, 'vendor_error'],
    [{ type: 'response.failed', response: { error: { code: 'image_too_large' } } }, 'rejected'],
  ])('%j is a fault', (event, kind) => {
    const { watcher, kinds } = watched([frameOf(event)])
    expect(kinds).toEqual([frameKind.fault])
    expect(watcher.fault?.kind).toBe(kind as 'quota')
  })

  test('an error without a type, and what is no JSON, are faults', () => {
    expect(watched(['data: {"error":{"code":502,"message":"m"}}\n\n']).watcher.fault?.kind).toBe(
      'vendor_error',
    )
    for (const text of [
      'data: {"type":\n\n',
      'data: hello\n\n',
      'event: response.completed\ndata: {\n\n',
    ])
      expect(watched([text]).watcher.fault?.kind).toBe('unreadable')
  })

  test('incomplete and without usage it is still at its end', () => {
    const ended = {
      ...response,
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
    }
    const { watcher, kinds } = watched([frameOf({ type: 'response.incomplete', response: ended })])
    expect(kinds).toEqual([frameKind.semantic])
    expect(watcher).toMatchObject({ finishReason: 'content_filter', usage: null })
  })

  test('that fails is ended with its own response and the next numbers', () => {
    const { watcher } = watched([frameOf(created), frameOf(delta)])
    const error = new GatewayError('rate_limit_exceeded', 'slow down')
    const text = watcher.fail?.(error, 'req_1') ?? ''
    const events = text.split('\n\n').flatMap((frame) => {
      const at = frame.indexOf('data: ')
      return at < 0 ? [] : [JSON.parse(frame.slice(at + 6)) as JsonObject]
    })
    expect(events).toMatchObject([
      { type: 'error', sequence_number: 2, code: 'rate_limit_exceeded' },
      {
        type: 'response.failed',
        sequence_number: 3,
        response: { id: 'resp_x', status: 'failed', error: { code: 'rate_limit_exceeded' } },
      },
    ])
    const { watcher: silent } = watched([])
    expect(silent.fail?.(error, 'req_1')).toBe(dialect.client.errorFrames(error, 'req_1'))
    expect(dialect.client.errorFrames(error, 'req_1')).toContain('"id":"resp_1"')
  })
})

describe('a whole', () => {
  const peek = dialect.client.peek(bytesOf('{"model":"m","input":"hi"}'))
  const read = (body: unknown) =>
    dialect.identity.whole(
      bytesOf(typeof body === 'string' ? body : JSON.stringify(body)),
      peek,
      {},
    )

  test('is passed on as it is', () => {
    const body = JSON.stringify({ ...completed.response, unknown: { a: 1 } }, null, 2)
    const reply = read(body)
    expect(textOf(reply.bytes)).toBe(body)
    expect(reply).toMatchObject({
      fault: null,
      usage: counted,
      finishReason: 'stop',
      model: 'm',
      outputBytes: null,
    })
  })

  test('is counted where nobody counted it', () => {
    const output = [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'abc' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'é' }] },
      { type: 'function_call', arguments: '{}' },
    ]
    expect(read({ ...response, status: 'completed', output }).outputBytes).toBe(7)
  })

  test.each<[unknown, string]>([
    [{ error: { code: 401, message: 'm' } }, 'credentials'],
    [
      { ...response, status: 'failed', error: { code: 'server_error', message: 'm' } },
      'vendor_error',
    ],
    [{ object: 'response', status: 'completed' }, 'unreadable'],
    ['<html>', 'unreadable'],
    [`${JSON.stringify(completed.response)}x`, 'unreadable'],
  ])('%j is a fault', (body, kind) => {
    expect(read(body).fault?.kind).toBe(kind as 'unreadable')
  })

  test('too large to hold is read at its end', () => {
    const bytes = bytesOf(JSON.stringify(completed.response))
    expect(dialect.identity.tail(bytes.subarray(40), {}).usage).toEqual(counted)
  })
})

test('what a reply cost is shown in its usage, whole and streamed', () => {
  const whole = JSON.parse(
    textOf(dialect.client.withCost(bytesOf(JSON.stringify(completed.response)), '0.01')),
  )
  expect(whole).toEqual({ ...completed.response, usage: { ...usage, cost: '0.01' } })
  const text = textOf(dialect.client.withCost(bytesOf(frameOf(completed)), '0.01'))
  expect(text).toStartWith('event: response.completed\ndata: {')
  expect(text).toEndWith('\n\n')
  expect(JSON.parse(text.slice(text.indexOf('{'))).response.usage.cost).toBe('0.01')
  for (const other of [frameOf(created), ': keep-alive\n\n', 'event: x\ndata: {']) {
    expect(textOf(dialect.client.withCost(bytesOf(other), '0.01'))).toBe(other)
  }
})

describe('for a room that keeps responses', () => {
  test('a request says what it wants of it', () => {
    expect(keepingOf({})).toEqual({
      store: true,
      background: false,
      previousResponseId: null,
      conversation: null,
    })
    const asked = { store: false, background: true, previous_response_id: 'r' }
    expect(keepingOf({ ...asked, conversation: { id: 'c' } })).toEqual({
      store: false,
      background: true,
      previousResponseId: 'r',
      conversation: 'c',
    })
  })

  test('W45: items are read of either side and put before those of the next request', () => {
    const said = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
    const history = [...inputItems({ input: 'hi' }), ...outputItems({ output: [said] })]
    const body = {
      model: 'm',
      previous_response_id: 'resp_1',
      input: [
        { type: 'item_reference', id: 'msg_1' },
        { type: 'item_reference', id: 'other' },
        { role: 'user', content: 'and?' },
      ],
    }
    expect(withHistory(body, history, 1_000)).toEqual({
      model: 'm',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
        said,
        said,
        { type: 'item_reference', id: 'other' },
        { role: 'user', content: 'and?' },
      ],
    })
  })
})
