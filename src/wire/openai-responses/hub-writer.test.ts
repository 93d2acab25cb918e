// Tests that each event of a written Responses reply is as OpenAI sends it.

import { describe, expect, test } from 'bun:test'
import { readAll } from '../../../test/replies.ts'
import {
  cut,
  ended,
  eventsOf,
  head,
  part,
  plain,
  read,
  start,
  written,
} from '../../../test/responses.ts'
import { GatewayError } from '../../errors.ts'
import type { ChatEvent, JsonObject } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { responsesHub } from './hub.ts'

const [rs, msg, fc_] = ['rs_1_0', 'msg_1_1', 'fc_1_2']
const text = { type: 'output_text', annotations: [], logprobs: [], text: 'ab' }
const summary = { type: 'summary_text', text: 'why' }
const reasoning = { id: rs, type: 'reasoning', summary: [summary] }
const message = {
  id: msg,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [text],
}
const called = { id: fc_, type: 'function_call', call_id: 'call_1', name: 'f' }
const place = (index: number, id: string): JsonObject => ({ item_id: id, output_index: index })
const inText = { ...place(1, msg), content_index: 0 }
const inSummary = { ...place(0, rs), summary_index: 0 }

/** The events sent for reasoning, text and a call, without their numbers. */
const expected: JsonObject[] = [
  { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, summary: [] } },
  {
    type: 'response.reasoning_summary_part.added',
    ...inSummary,
    part: { ...summary, text: '' },
  },
  { type: 'response.reasoning_summary_text.delta', ...inSummary, delta: 'why' },
  { type: 'response.reasoning_summary_text.done', ...inSummary, text: 'why' },
  { type: 'response.reasoning_summary_part.done', ...inSummary, part: summary },
  { type: 'response.output_item.done', output_index: 0, item: reasoning },
  {
    type: 'response.output_item.added',
    output_index: 1,
    item: { ...message, status: 'in_progress', content: [] },
  },
  { type: 'response.content_part.added', ...inText, part: { ...text, text: '' } },
  { type: 'response.output_text.delta', ...inText, delta: 'a', logprobs: [] },
  { type: 'response.output_text.delta', ...inText, delta: 'b', logprobs: [] },
  { type: 'response.output_text.done', ...inText, text: 'ab', logprobs: [] },
  { type: 'response.content_part.done', ...inText, part: text },
  {
    type: 'response.output_item.done',
    output_index: 1,
    item: { ...message, phase: 'commentary' },
  },
  {
    type: 'response.output_item.added',
    output_index: 2,
    item: { ...called, status: 'in_progress', arguments: '' },
  },
  { type: 'response.function_call_arguments.delta', ...place(2, fc_), delta: '{"x"' },
  { type: 'response.function_call_arguments.delta', ...place(2, fc_), delta: ':1}' },
  {
    type: 'response.function_call_arguments.done',
    ...place(2, fc_),
    name: 'f',
    arguments: '{"x":1}',
  },
  {
    type: 'response.output_item.done',
    output_index: 2,
    item: { ...called, status: 'completed', arguments: '{"x":1}' },
  },
]

describe('the writer', () => {
  test('tells reasoning, text and a call by the events OpenAI has for them', () => {
    const call = { type: 'tool-call', id: 'call_1', name: 'f' } as const
    const events = eventsOf(
      written([
        start,
        ...part(0, { type: 'reasoning' }, ['why']),
        ...part(1, { type: 'text' }, ['a', 'b']),
        ...part(2, call, ['{"x"', ':1}']),
        { ...ended, reason: 'tool_calls' },
        {
          type: 'usage',
          usage: { input: 3, cachedInput: 2, cacheWrite: 1, output: 4, reasoning: 5 },
        },
      ]),
    )
    expect(events.slice(2, -1).map(({ sequence_number: _, ...event }) => event)).toEqual(expected)
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: {
        id: 'resp_1',
        object: 'response',
        created_at: 5,
        status: 'completed',
        model: 'm',
        error: null,
        incomplete_details: null,
        output: [reasoning, message, { ...called, arguments: '{"x":1}' }],
        usage: {
          input_tokens: 6,
          input_tokens_details: { cached_tokens: 2, cache_write_tokens: 1 },
          output_tokens: 9,
          output_tokens_details: { reasoning_tokens: 5 },
          total_tokens: 15,
        },
        parallel_tool_calls: true,
        tool_choice: 'auto',
        tools: [],
        metadata: {},
      },
    })
    expect(written([start, ...part(0, { type: 'text' }, ['a']), ended])).not.toContain('[DONE]')
  })

  test('W3: interleaved parallel calls each keep their own place', () => {
    const call = (number: number): ChatEvent => ({
      type: 'part-start',
      choice: 0,
      part: number,
      head: { type: 'tool-call', id: `c${number}`, name: 'f' },
    })
    const piece = (number: number, text: string): ChatEvent => ({
      type: 'part-delta',
      choice: 0,
      part: number,
      text,
    })
    const over = (number: number): ChatEvent => ({ type: 'part-end', choice: 0, part: number })
    const events = [
      start,
      call(0),
      call(1),
      piece(1, '{"b"'),
      piece(0, '{"a"'),
      piece(1, ':2}'),
      piece(0, ':1}'),
      over(0),
      over(1),
      ended,
    ]
    const list = eventsOf(written(events)).filter(({ type }) => String(type).endsWith('.delta'))
    expect(list.map((event) => event.output_index)).toEqual([1, 0, 1, 0])
    expect(responsesHub.writeWhole(events, head).output).toMatchObject([
      { call_id: 'c0', arguments: '{"a":1}' },
      { call_id: 'c1', arguments: '{"b":2}' },
    ])
    const back = readAll(responsesHub.reader({}), cut(written(events)))
    const [choice] = chatHub.writeWhole(back, head).choices as JsonObject[]
    expect((choice?.message as JsonObject).tool_calls).toMatchObject([
      { id: 'c0', function: { arguments: '{"a":1}' } },
      { id: 'c1', function: { arguments: '{"b":2}' } },
    ])
  })

  test.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ] as const)('ends %s as incomplete', (reason, why) => {
    const events = [start, ...part(0, { type: 'text' }, ['a']), { ...ended, reason }]
    const last = eventsOf(written(events)).at(-1)
    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason: why },
        output: [{ status: 'incomplete' }],
      },
    })
  })

  test.each([
    [['{"x"'], 'incomplete'],
    [['{"x":1}'], 'completed'],
  ])('says whether the call at the cut is whole: %j', (pieces, status) => {
    const call = (id: string) => ({ type: 'tool-call', id, name: 'f' }) as const
    const free = { ...call('c2'), custom: true } as const
    const whole = [start, ...part(0, call('c0'), ['{}'])]
    const end = { ...ended, reason: 'length' } as const
    const events = [...whole, ...part(1, call('c1'), pieces), end]
    const done = eventsOf(written(events)).filter(
      ({ type }) => type === 'response.output_item.done',
    )
    expect(done).toMatchObject([{ item: { status: 'completed' } }, { item: { status } }])
    expect(responsesHub.writeWhole(events, head)).toMatchObject({
      status: 'incomplete',
      output: [{ status: 'completed' }, { status, arguments: pieces.join('') }],
    })
    const texts = [...whole, ...part(1, free, ['*** Beg']), end]
    expect(responsesHub.writeWhole(texts, head).output).toMatchObject([
      { status: 'completed' },
      { type: 'custom_tool_call', status: 'incomplete' },
    ])
  })

  test('tells refusals, citations, probabilities and images', () => {
    const [begin, piece, end] = part(0, { type: 'text' }, ['abc']) as [
      ChatEvent,
      ChatEvent,
      ChatEvent,
    ]
    const token = { token: 'abc', logprob: -1, bytes: null, top_logprobs: [] }
    const citation = { url: 'https://x', title: 't', start: 0, end: 2 }
    const events: ChatEvent[] = [
      start,
      begin,
      { type: 'logprobs', choice: 0, part: 0, tokens: [token] },
      piece,
      { type: 'citation', choice: 0, part: 0, citation },
      end,
      ...part(1, { type: 'refusal' }, ['no']),
      ...part(2, { type: 'image', mediaType: 'image/webp' }, ['AAAA']),
      ended,
    ]
    const note = {
      type: 'url_citation',
      url: 'https://x',
      title: 't',
      start_index: 0,
      end_index: 2,
    }
    const whole = responsesHub.writeWhole(events, head)
    expect(whole.output).toMatchObject([
      {
        type: 'message',
        content: [
          { type: 'output_text', text: 'abc', annotations: [note], logprobs: [token] },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      { type: 'image_generation_call', result: 'AAAA', status: 'completed', output_format: 'webp' },
    ])
    const types = eventsOf(written(events)).map(({ type }) => type)
    expect(types).toContain('response.output_text.annotation.added')
    expect(types).toContain('response.refusal.done')
    expect(plain(read(eventsOf(written(events))))).toEqual([
      { ...start, id: 'resp_1' },
      ...events.slice(1),
    ])
  })

  test('keeps the opaque state of reasoning, calls and texts, which comes back to where it belongs', () => {
    const withOpaque = (list: ChatEvent[], opaque: string): ChatEvent[] =>
      list.map((event) => (event.type === 'part-end' ? { ...event, sealed: opaque } : event))
    const call = { type: 'tool-call', id: 'functions.f:0', name: 'f' } as const
    const whole = responsesHub.writeWhole(
      [
        start,
        ...withOpaque(part(0, { type: 'reasoning' }, ['why']), 's0'),
        ...withOpaque(part(1, { type: 'reasoning', redacted: true }, []), 's1'),
        ...withOpaque(part(2, { type: 'text' }, ['a']), 's2'),
        ...withOpaque(part(3, call, ['{}']), 's3'),
        ended,
      ],
      head,
    )
    const output = whole.output as JsonObject[]
    expect(output.map(({ type }) => type)).toEqual([
      'reasoning',
      'reasoning',
      'message',
      'reasoning',
      'function_call',
      'reasoning',
    ])
    const { value } = responsesHub.decodeRequest({ model: 'm', input: output })
    expect(value.messages).toMatchObject([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'why', sealed: 's0' },
          { type: 'reasoning', text: '', sealed: 's1', redacted: true },
          { type: 'text', text: 'a', sealed: 's2' },
          { type: 'tool-call', id: 'functions.f:0', sealed: 's3' },
        ],
      },
    ])
  })

  test('repeats what the client asked', () => {
    const { value: request } = responsesHub.decodeRequest({
      model: 'm',
      input: 'hi',
      instructions: 'Be brief.',
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
      tool_choice: { type: 'function', name: 'f' },
      reasoning: { effort: 'low' },
      text: { verbosity: 'low' },
      temperature: 0,
      store: false,
      previous_response_id: 'resp_0',
      metadata: { a: 'b' },
      include: ['reasoning.encrypted_content'],
    })
    const whole = responsesHub.writeWhole([start, ended], { ...head, request })
    expect(whole).toMatchObject({
      instructions: 'Be brief.',
      tools: [{ type: 'function', name: 'f', strict: true, parameters: { type: 'object' } }],
      tool_choice: { type: 'function', name: 'f' },
      reasoning: { effort: 'low', summary: null },
      text: { format: { type: 'text' }, verbosity: 'low' },
      temperature: 0,
      store: false,
      previous_response_id: 'resp_0',
      metadata: { a: 'b' },
      output: [],
    })
    expect(whole).not.toHaveProperty('include')
    expect(whole).not.toHaveProperty('input')
  })

  test('W48: a failure is written as an event of both shapes, and as the response it ends', () => {
    const writer = responsesHub.writer(head)
    const text = [start, ...part(0, { type: 'text' }, ['a'])].map((event) => writer.event(event))
    const error = new GatewayError('service_unavailable', 'gone')
    const events = eventsOf(text.join('') + (writer.fail?.(error, 'req_1') ?? ''))
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at))
    const code = { code: 'service_unavailable', message: 'gone', param: null }
    expect(events.slice(-2)).toMatchObject([
      { type: 'error', ...code, error: { type: 'service_unavailable', ...code } },
      {
        type: 'response.failed',
        response: {
          id: 'resp_1',
          status: 'failed',
          error: { code: 'server_error', message: 'gone' },
        },
      },
    ])
  })

  test('what another vendor ran itself is not shown', () => {
    const other = { type: 'other', extra: { elsewhere: { type: 'x' } } } as const
    const whole = responsesHub.writeWhole([start, ...part(0, other, ['secret']), ended], head)
    expect(whole.output).toEqual([])
  })
})
