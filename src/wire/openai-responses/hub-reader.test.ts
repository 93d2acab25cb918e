// Tests reading Responses replies, whatever a vendor leaves out or puts elsewhere.

import { describe, expect, test } from 'bun:test'
import { head, read } from '../../../test/responses.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { responsesHub } from './hub.ts'

/** Events of a stream around the given ones. */
function stream(list: readonly JsonObject[], response: JsonObject = {}): JsonObject[] {
  const shown = { id: 'resp_x', object: 'response', created_at: 5, model: 'm' }
  return [
    { type: 'response.created', response: { ...shown, status: 'in_progress', output: [] } },
    ...list,
    { type: 'response.completed', response: { ...shown, status: 'completed', ...response } },
  ]
}

/** The chat reply that equals a stream. */
function messageOf(list: readonly JsonObject[]): JsonObject {
  const [choice] = chatHub.writeWhole(read(list), head).choices as JsonObject[]
  return choice?.message as JsonObject
}

describe('the reader', () => {
  const delta = { type: 'response.output_text.delta', output_index: 0, content_index: 0 }

  test('W19: events of an item that was never added are read', () => {
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"x":1}' }
    const message = messageOf(
      stream([
        { ...delta, delta: 'a' },
        { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"x"' },
        { type: 'response.output_item.done', output_index: 1, item: call },
      ]),
    )
    expect(message).toMatchObject({
      content: 'a',
      tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{"x":1}' } }],
    })
  })

  test('items of a stream without indexes are told apart by their ids', () => {
    const said = { type: 'output_text', text: 'Hello', annotations: [] }
    const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [said] }
    const call = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' }
    const added = 'response.output_item.added'
    const done = 'response.output_item.done'
    const input = 'response.function_call_arguments.delta'
    const list: JsonObject[] = [
      { type: added, item: { ...message, content: [] } },
      { type: delta.type, item_id: 'msg_1', content_index: 0, delta: 'Hello' },
      { type: done, item: message },
      { type: added, item: { ...call, arguments: '' } },
      { type: input, item_id: 'fc_1', delta: '{}' },
      { type: done, item: call },
    ]
    for (const output of [[], [message, call]])
      expect(messageOf(stream(list, { output }))).toMatchObject({
        content: 'Hello',
        tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }],
      })
  })

  test('deltas that count their parts otherwise than the finished item say nothing twice', () => {
    const text = { type: 'output_text', text: 'one two', annotations: [] }
    const item = { type: 'message', id: 'a', content: [text] }
    const off = { ...delta, content_index: 1, item_id: 'a' }
    const begun = [
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      { ...off, delta: 'one' },
      { ...off, delta: ' two' },
    ]
    const done = { type: 'response.output_item.done', output_index: 0, item }
    const part = {
      type: 'response.content_part.done',
      output_index: 0,
      content_index: 1,
      part: text,
    }
    for (const end of [[done], [part, done], []])
      expect(messageOf(stream([...begun, ...end], { output: [item] })).content).toBe('one two')
  })

  test('ids that change from event to event do not part an item', () => {
    const item = { type: 'message', id: 'a', content: [] }
    const message = messageOf(
      stream([
        { type: 'response.output_item.added', output_index: 0, item },
        { ...delta, item_id: 'b', delta: 'one' },
        { ...delta, item_id: 'c', delta: ' two' },
        { type: 'response.output_item.done', output_index: 0, item: { ...item, id: 'd' } },
      ]),
    )
    expect(message.content).toBe('one two')
  })

  test('what no delta brought is read at the end of its part, its item or the response', () => {
    const content = [
      {
        type: 'output_text',
        text: 'all',
        annotations: [{ type: 'url_citation', url: 'https://x', title: '' }],
      },
    ]
    const item = { type: 'message', id: 'm', content }
    const expected = { content: 'all', annotations: [{ url_citation: { url: 'https://x' } }] }
    const part_ = { type: 'response.content_part.done', output_index: 0, content_index: 0 }
    const done = { type: 'response.output_item.done', output_index: 0, item }
    expect(messageOf(stream([{ ...part_, part: content[0] as JsonObject }]))).toMatchObject(
      expected,
    )
    expect(messageOf(stream([{ ...delta, delta: 'a' }, done]))).toMatchObject(expected)
    expect(messageOf(stream([], { output: [item] }))).toMatchObject(expected)
  })

  test('the input of a call is read where an object stands for its text', () => {
    const called = { call_id: 'c', name: 'f' }
    const item = { type: 'function_call', ...called, arguments: '' }
    const at = { output_index: 0 }
    const begun = { type: 'response.output_item.added', ...at, item }
    const piece = { type: 'response.function_call_arguments.delta', ...at, delta: { x: 1 } }
    for (const input of ['', '{"x": 1}', { x: 1 }]) {
      const done = { type: 'response.output_item.done', ...at, item: { ...item, arguments: input } }
      expect(messageOf(stream([begun, piece, done])).tool_calls).toMatchObject([
        { function: { name: 'f', arguments: '{"x":1}' } },
      ])
    }
    const custom = { type: 'custom_tool_call', ...called, input: { x: 1 } }
    expect(messageOf(stream([], { output: [custom] })).tool_calls).toMatchObject([
      { custom: { name: 'f', input: '{"x":1}' } },
    ])
  })

  test('summaries are paragraphs, and raw reasoning beside them is not read twice', () => {
    const piece = (index: number, text: string): JsonObject => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index: index,
      delta: text,
    })
    const item = {
      type: 'reasoning',
      summary: [
        { type: 'summary_text', text: 'one' },
        { type: 'summary_text', text: 'two' },
      ],
      content: [{ type: 'reasoning_text', text: 'raw' }],
      encrypted_content: 'sealed',
    }
    const done = { type: 'response.output_item.done', output_index: 0, item }
    for (const list of [[piece(0, 'one'), piece(1, 't'), piece(1, 'wo'), done], [done]]) {
      expect(messageOf(stream(list))).toMatchObject({
        reasoning_content: 'one\n\ntwo',
        thinking_blocks: [{ thinking: 'one\n\ntwo', signature: 'sealed' }],
      })
    }
  })

  test('reasoning with nothing but opaque state is redacted', () => {
    const item = { type: 'reasoning', summary: [], encrypted_content: 'sealed' }
    const done = { type: 'response.output_item.done', output_index: 0, item }
    expect(messageOf(stream([done])).thinking_blocks).toEqual([
      { type: 'redacted_thinking', data: 'sealed' },
    ])
  })

  test('W47: items it does not know stay whole for their own format', () => {
    const item = { type: 'apply_patch_call', id: 'apc_1', call_id: 'c', operation: { x: 1 } }
    const events = read(
      stream([
        { type: 'response.output_item.added', output_index: 0, item },
        { type: 'response.output_item.done', output_index: 0, item },
      ]),
    )
    expect(responsesHub.writeWhole(events, head).output).toEqual([item])
    expect(messageOf(stream([], { output: [item] }))).toMatchObject({ content: '' })
  })

  test('a search the vendor ran itself is no call of the client', () => {
    const item = { type: 'custom_tool_call', call_id: 'xs_call_1', name: 'x_search', input: '{}' }
    const done = { type: 'response.output_item.done', output_index: 0, item }
    expect(messageOf(stream([done]))).not.toHaveProperty('tool_calls')
  })

  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
  ])('incomplete by %s is %s', (reason, expected) => {
    const incomplete = { status: 'incomplete', incomplete_details: { reason }, output: [] }
    const [created] = stream([])
    const events = read([
      created as JsonObject,
      { type: 'response.incomplete', response: incomplete },
    ])
    expect(events.at(-1)).toMatchObject({ type: 'choice-end', reason: expected })
  })

  test.each<[JsonObject, string]>([
    [{ type: 'error', code: 'server_error', message: 'm', param: null }, 'vendor_error'],
    [{ type: 'error', error: { code: 'rate_limit_exceeded', message: 'm' } }, 'rate_limited'],
    [
      { type: 'response.failed', response: { error: { code: 'invalid_prompt', message: 'm' } } },
      'rejected',
    ],
    [{ type: 'response.failed', response: {} }, 'vendor_error'],
    [{ error: { code: 502, message: 'm' } }, 'vendor_error'],
  ])('%j is a fault', (frame, kind) => {
    const [created] = stream([])
    const events = read([created as JsonObject, frame])
    expect(events.at(-1)).toMatchObject({ type: 'fault', fault: { kind } })
  })

  test.each<[JsonValue, string]>([
    [{ error: { code: 'server_error', message: 'm' } }, 'vendor_error'],
    [{ object: 'response', status: 'failed', error: null, output: [] }, 'vendor_error'],
    [{ object: 'response', status: 'in_progress', output: [] }, 'unreadable'],
    [{ object: 'response', status: 'completed' }, 'unreadable'],
    ['text', 'unreadable'],
  ])('the whole %j is a fault', (body, kind) => {
    expect(responsesHub.readWhole(body, {})).toMatchObject([{ type: 'fault', fault: { kind } }])
  })

  test('the same, streamed where whole was asked and the reverse, keeps what OpenAI tells', () => {
    const message = {
      type: 'message',
      id: 'msg_x',
      status: 'completed',
      role: 'assistant',
      phase: 'commentary',
      content: [{ type: 'output_text', annotations: [], logprobs: [], text: 'a' }],
    }
    const final = { ...message, id: 'msg_y', phase: 'final_answer' }
    const body = {
      id: 'resp_x',
      object: 'response',
      created_at: 5,
      status: 'completed',
      model: 'm',
      output: [message, final],
      billing: { payer: 'developer' },
      store: true,
      temperature: 0.5,
      usage: null,
    }
    const whole = responsesHub.writeWhole(responsesHub.readWhole(body, {}), head)
    expect(whole).toMatchObject(body)
  })
})
