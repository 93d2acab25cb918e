// Responses replies on the hub: what is read is what was written, however its events come, and each event as OpenAI has it.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { breaches, normal, readAll, replies } from '../../../test/replies.ts'
import { GatewayError } from '../../errors.ts'
import type { WriterHead } from '../dialect.ts'
import type { ChatEvent, JsonObject, JsonValue, PartHead } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { ResponsesFrames } from './frames.ts'
import { responsesHub } from './hub.ts'

const head: WriterHead = { id: 'resp_1', model: 'asked', createdAt: 7, wantsUsage: true }
const encoder = new TextEncoder()

function written(events: readonly ChatEvent[], to = head): string {
  const writer = responsesHub.writer(to)
  return events.map((event) => writer.event(event)).join('') + writer.end()
}

/** The data of the events, cut out of bytes that come in pieces of `size`. */
function cut(text: string, size = text.length): string[] {
  const frames = new ResponsesFrames()
  const bytes = encoder.encode(text)
  const found: string[] = []
  for (let at = 0; at < bytes.length; at += size) {
    found.push(...frames.push(bytes.slice(at, at + size)))
  }
  return [...found, ...frames.end()]
}

function eventsOf(text: string): JsonObject[] {
  return cut(text).map((data) => JSON.parse(data))
}

function read(list: readonly JsonValue[]): ChatEvent[] {
  const events = readAll(
    responsesHub.reader({}),
    list.map((frame) => JSON.stringify(frame)),
  )
  expect(breaches(events)).toEqual([])
  return events
}

/** What one choice alone can tell here: its end says of calls what its parts do. */
function single(events: readonly ChatEvent[]): ChatEvent[] {
  const own = events.filter((event) => !('choice' in event) || event.choice === 0)
  const calls = own.some((event) => event.type === 'part-start' && event.head.type === 'tool-call')
  return own.map((event) => {
    if (event.type === 'response-start') {
      const { extra: _, ...rest } = event
      return { ...rest, id: 'resp_1' }
    }
    const plain = event.type === 'choice-end' && /stop|tool_calls/.test(event.reason)
    return plain ? { ...event, reason: calls ? 'tool_calls' : 'stop' } : event
  })
}

/** Without what only this format tells of a response and its items. */
function plain(events: readonly ChatEvent[]): ChatEvent[] {
  return events.flatMap((event): ChatEvent[] => {
    if (event.type === 'extra') return []
    if (event.type !== 'response-start') return [event]
    const { extra: _, ...rest } = event
    return [rest]
  })
}

describe('for any reply', () => {
  test('what is read is what was written', () => {
    fc.assert(
      fc.property(replies, (events) => {
        const again = readAll(responsesHub.reader({}), cut(written(single(events))))
        expect(breaches(again)).toEqual([])
        const inOrder = (list: readonly ChatEvent[]): ChatEvent[] =>
          normal(list).filter(({ type }) => type !== 'choice-end')
        expect(inOrder(plain(again))).toEqual(inOrder(single(events)))
        const ends = [again, single(events)].map((list) =>
          list.find(({ type }) => type === 'choice-end'),
        )
        expect(ends[0]).toEqual(ends[1] as ChatEvent)
      }),
    )
  })

  test('the last event of the stream holds the whole, which replays as the same', () => {
    fc.assert(
      fc.property(replies, (events) => {
        const whole = responsesHub.writeWhole(single(events), head)
        expect(eventsOf(written(single(events))).at(-1)?.response).toEqual(whole)
        const replayed = responsesHub.readWhole(structuredClone(whole), {})
        expect(breaches(replayed)).toEqual([])
        expect(responsesHub.writeWhole(replayed, head)).toEqual(whole)
      }),
    )
  })

  test('cut at every byte it reads the same', () => {
    fc.assert(
      fc.property(replies, (events) => {
        const text = written(single(events))
        expect(cut(text, 1)).toEqual(cut(text))
      }),
      { numRuns: 20 },
    )
  })

  test('events are numbered without a gap, items added and done once each', () => {
    fc.assert(
      fc.property(replies, (events) => {
        const list = eventsOf(written(events))
        expect(list.map((event) => event.sequence_number)).toEqual(list.map((_, at) => at))
        expect(list.slice(0, 2).map(({ type }) => type)).toEqual([
          'response.created',
          'response.in_progress',
        ])
        const ends = list.filter(({ type }) => /completed|incomplete$/.test(String(type)))
        expect(ends).toEqual(list.slice(-1))
        const places = (type: string): unknown[] =>
          list.filter((event) => event.type === type).map((event) => event.output_index)
        const added = places('response.output_item.added')
        expect(added).toEqual(added.map((_, at) => at))
        expect(places('response.output_item.done').toSorted()).toEqual(added.toSorted())
      }),
    )
  })

  test('a chat that goes through this format comes back', () => {
    fc.assert(
      fc.property(replies, (events) => {
        const own = single(events)
        const there = readAll(responsesHub.reader({}), cut(written(own)))
        expect(chatHub.writeWhole(plain(there), head)).toEqual(chatHub.writeWhole(own, head))
      }),
    )
  })
})

function part(number: number, partHead: PartHead, pieces: readonly string[]): ChatEvent[] {
  const at = { choice: 0, part: number }
  return [
    { type: 'part-start', ...at, head: partHead },
    ...pieces.map((text) => ({ type: 'part-delta' as const, ...at, text })),
    { type: 'part-end', ...at },
  ]
}

const start: ChatEvent = { type: 'response-start', id: 'r', model: 'm', createdAt: 5 }
const ended: ChatEvent = { type: 'choice-end', choice: 0, reason: 'stop' }

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
    expect(events.slice(2, -1).map(({ sequence_number: _, ...event }) => event)).toEqual([
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
      { type: 'response.output_item.done', output_index: 1, item: message },
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
    ])
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

  test('keeps the seals of reasoning, calls and texts, which come back to where they belong', () => {
    const sealed = (list: ChatEvent[], seal: string): ChatEvent[] =>
      list.map((event) => (event.type === 'part-end' ? { ...event, sealed: seal } : event))
    const call = { type: 'tool-call', id: 'functions.f:0', name: 'f' } as const
    const whole = responsesHub.writeWhole(
      [
        start,
        ...sealed(part(0, { type: 'reasoning' }, ['why']), 's0'),
        ...sealed(part(1, { type: 'reasoning', redacted: true }, []), 's1'),
        ...sealed(part(2, { type: 'text' }, ['a']), 's2'),
        ...sealed(part(3, call, ['{}']), 's3'),
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

  test('W48: a failure is told as an event of both shapes, and as the response it ends', () => {
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

/** Events of a stream around those given. */
function stream(list: readonly JsonObject[], response: JsonObject = {}): JsonObject[] {
  const shown = { id: 'resp_x', object: 'response', created_at: 5, model: 'm' }
  return [
    { type: 'response.created', response: { ...shown, status: 'in_progress', output: [] } },
    ...list,
    { type: 'response.completed', response: { ...shown, status: 'completed', ...response } },
  ]
}

/** The chat a stream comes to. */
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

  test('what no delta told is read at the end of its part, its item or the response', () => {
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

  test('summaries are paragraphs, and raw reasoning beside them is not told twice', () => {
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

  test('reasoning of which nothing but the seal is told is redacted', () => {
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
    expect(messageOf(stream([], { output: [item] }))).toMatchObject({ content: null })
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
