// Tests reading replies in every form that Anthropic and compatible vendors send.

import { describe, expect, test } from 'bun:test'
import { breaches, readAll } from '../../../test/replies.ts'
import { contentOf, head, streamed } from '../../../test/support/anthropic.ts'
import { fold } from '../hub/fold.ts'
import type { ChatEvent, ChatRequest, JsonObject } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { replyTool } from './encode-tools.ts'
import { messagesHub } from './hub.ts'

const start = {
  type: 'message_start',
  message: { id: 'msg_v', model: 'claude', usage: { input_tokens: 5, output_tokens: 1 } },
}
const begin = (index: number, block: JsonObject) => ({
  type: 'content_block_start',
  index,
  content_block: block,
})
const delta = (index: number, said: JsonObject) => ({
  type: 'content_block_delta',
  index,
  delta: said,
})
const stop = (index: number) => ({ type: 'content_block_stop', index })
const end = (reason: string, more: JsonObject = {}) => ({
  type: 'message_delta',
  delta: { stop_reason: reason, ...more },
  usage: { output_tokens: 9 },
})
const last = { type: 'message_stop' }

function read(...events: readonly object[]): ChatEvent[] {
  return readAll(
    messagesHub.reader({}),
    events.map((event) => JSON.stringify(event)),
  )
}

function inChat(...events: readonly object[]): JsonObject {
  const body = chatHub.writeWhole(read(...events), { ...head, id: 'chatcmpl-1' })
  const [choice] = body.choices as JsonObject[]
  return {
    ...(choice?.message as JsonObject),
    finish: choice?.finish_reason ?? null,
    usage: body.usage ?? null,
  }
}

describe('the reader', () => {
  test('a text that begins beside an open call leaves the call its arguments', () => {
    const input = (partial_json: string) => delta(0, { type: 'input_json_delta', partial_json })
    const message = inChat(
      start,
      begin(0, { type: 'tool_use', id: 't', name: 'f', input: {} }),
      input('{"a":'),
      begin(1, { type: 'text', text: '' }),
      delta(1, { type: 'text_delta', text: 'Hm' }),
      input('1}'),
      stop(1),
      stop(0),
      end('tool_use'),
      last,
    )
    expect(message).toMatchObject({
      content: 'Hm',
      tool_calls: [{ function: { arguments: '{"a":1}' } }],
    })
  })

  test('W14: a start that comes twice is one; another message inside the first is a fault', () => {
    const twice = read(
      start,
      start,
      begin(0, { type: 'text', text: '' }),
      stop(0),
      end('end_turn'),
      last,
    )
    expect(twice.filter(({ type }) => type === 'response-start')).toHaveLength(1)
    expect(breaches(twice)).toEqual([])
    const other = { ...start, message: { ...start.message, id: 'msg_w' } }
    expect(read(start, other).at(-1)).toMatchObject({
      type: 'fault',
      fault: { kind: 'unreadable' },
    })
  })

  test('W19: text and thoughts whose block was never begun are read all the same', () => {
    const events = read(
      start,
      delta(0, { type: 'thinking_delta', thinking: 'hm' }),
      delta(1, { type: 'text_delta', text: 'a' }),
      end('end_turn'),
      last,
    )
    expect(breaches(events)).toEqual([])
    expect(
      fold(events).choices[0]?.parts.map(({ head: { type }, text: said }) => [type, said]),
    ).toEqual([
      ['reasoning', 'hm'],
      ['text', 'a'],
    ])
  })

  test('W30: counts of message_start stand where message_delta leaves them out, and give way where it does not', () => {
    const cached = {
      ...start,
      message: { ...start.message, usage: { input_tokens: 5, cache_read_input_tokens: 7 } },
    }
    const usages = (...events: object[]) => fold(read(...events)).usage
    expect(usages(cached, end('end_turn'), last)).toMatchObject({
      input: 5,
      cachedInput: 7,
      output: 9,
    })
    const later = {
      ...end('end_turn'),
      usage: { input_tokens: 50, cache_read_input_tokens: null, output_tokens: 3 },
    }
    expect(usages(cached, later, last)).toMatchObject({ input: 50, cachedInput: 7, output: 3 })
  })

  test('zeros at the end do not forget the prompt, and a prompt never told is not empty', () => {
    const split = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 6 }
    const prompt = { input_tokens: 5, cache_read_input_tokens: 7, cache_creation_input_tokens: 6 }
    const usage = { ...prompt, cache_creation: split, output_tokens: 1 }
    const began = { ...start, message: { ...start.message, usage } }
    const zeros = {
      input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 9,
    }
    const counts = { input: 5, cachedInput: 7, cacheWrite: 0, cacheWrite1h: 6, output: 9 }
    expect(fold(read(began, { ...end('end_turn'), usage: zeros }, last)).usage).toMatchObject(
      counts,
    )
    const bare = { ...start, message: { ...start.message, usage: null } }
    expect(
      fold(read(bare, { ...end('end_turn'), usage: { output_tokens: 9 } }, last)).usage,
    ).toBeNull()
  })

  test('W25, W26: what was written to the cache and read from it is counted once, streamed and whole', () => {
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 7,
      cache_read_input_tokens: 100,
      cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
      output_tokens: 20,
      output_tokens_details: { thinking_tokens: 15 },
    }
    const expected = {
      input: 10,
      cachedInput: 100,
      cacheWrite: 3,
      cacheWrite1h: 4,
      output: 5,
      reasoning: 15,
    }
    const began = { ...start, message: { ...start.message, usage } }
    expect(fold(read(began, { ...end('end_turn'), usage }, last)).usage).toEqual(expected)
    const whole = { type: 'message', id: 'x', content: [], stop_reason: 'end_turn', usage }
    expect(fold(messagesHub.readWhole(whole, {})).usage).toEqual(expected)
    // OpenAI's prompt count includes what Anthropic counts separately.
    expect(chatHub.writeWhole(messagesHub.readWhole(whole, {}), head).usage).toMatchObject({
      prompt_tokens: 117,
      completion_tokens: 20,
      total_tokens: 137,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 7 },
      completion_tokens_details: { reasoning_tokens: 15 },
    })
  })

  test("a compaction's and an advisor's tokens are counted, with what they read and wrote in the cache", () => {
    const cache = {
      cache_read_input_tokens: 40_000,
      cache_creation_input_tokens: 15_000,
      cache_creation: { ephemeral_5m_input_tokens: 14_000, ephemeral_1h_input_tokens: 1_000 },
    }
    const iterations = [
      { type: 'compaction', input_tokens: 100, output_tokens: 10, ...cache },
      { type: 'advisor_message', input_tokens: 1_000, output_tokens: 1_000 },
      { type: 'message', input_tokens: 5, output_tokens: 9 },
    ]
    const usage = { input_tokens: 5, output_tokens: 9, iterations }
    const events = read(start, { ...end('end_turn'), usage }, last)
    expect(fold(events).usage).toMatchObject({
      input: 1_105,
      output: 1_019,
      cachedInput: 40_000,
      cacheWrite: 14_000,
      cacheWrite1h: 1_000,
    })
    // Anthropic's own clients add them up themselves.
    expect(messagesHub.writeWhole(events, head).usage).toMatchObject(usage)
  })

  test('W35: a call without input has an empty object, in whatever way it came', () => {
    const tool = { type: 'tool_use', id: 'x', name: 'f' }
    for (const events of [
      [begin(0, { ...tool, input: {} }), stop(0)],
      [
        begin(0, { ...tool, input: {} }),
        delta(0, { type: 'input_json_delta', partial_json: '' }),
        stop(0),
      ],
      [begin(0, tool)],
    ]) {
      const { tool_calls: calls, finish } = inChat(start, ...events, end('tool_use'), last)
      expect(calls as unknown).toEqual([
        { id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } },
      ])
      expect(finish).toBe('tool_calls')
    }
    const given = inChat(
      start,
      begin(0, { ...tool, input: { a: 1 } }),
      stop(0),
      end('tool_use'),
      last,
    )
    expect(given).toMatchObject({ tool_calls: [{ function: { arguments: '{"a":1}' } }] })
  })

  test('W1: parallel calls are known by their place among the calls, not among the blocks', () => {
    const tool = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
    const events = read(
      start,
      begin(0, { type: 'text', text: 'a' }),
      stop(0),
      begin(1, tool('x')),
      stop(1),
      begin(2, tool('y')),
      stop(2),
      end('tool_use'),
      last,
    )
    const writer = chatHub.writer(head)
    const chunks = events.map((event) => writer.event(event)).join('')
    const indices = [...chunks.matchAll(/"tool_calls":\[\{"index":(\d+),"id":"(\w)"/g)]
    expect(indices.map(([, index, id]) => [index, id] as unknown)).toEqual([
      ['0', 'x'],
      ['1', 'y'],
    ])
  })

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['something_new', 'stop'],
  ])('W24: %s is %s', (word, finish) => {
    expect(inChat(start, end(word), last).finish).toBe(finish)
    const events = read(start, end(word), last)
    // Anthropic's own clients get the original word.
    expect(messagesHub.writeWhole(events, head).stop_reason).toBe(word)
  })

  test('why it would not answer is a refusal to a client of chat, and what it was to its own', () => {
    const details = { type: 'refusal', category: 'cyber', explanation: 'No.' }
    const events = [start, end('refusal', { stop_details: details }), last]
    expect(inChat(...events)).toMatchObject({
      refusal: 'No.',
      content: null,
      finish: 'content_filter',
    })
    expect(messagesHub.writeWhole(read(...events), head)).toMatchObject({
      content: [],
      stop_details: details,
    })
  })

  test('the input of a call is read where an object stands for its JSON, or the reverse', () => {
    const tool = { type: 'tool_use', id: 'x', name: 'f', input: {} }
    for (const events of [
      [begin(0, tool), delta(0, { type: 'input_json_delta', partial_json: { q: 1 } })],
      [begin(0, { ...tool, input: '{"q":1}' })],
    ])
      expect(inChat(start, ...events, stop(0), end('tool_use'), last).tool_calls).toMatchObject([
        { function: { name: 'f', arguments: '{"q":1}' } },
      ])
  })

  test("the vendor's own tools are never calls of the client's", () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }
    const result = { type: 'web_search_tool_result', tool_use_id: 's', content: [{ url: 'u' }] }
    const events = [
      start,
      begin(0, search),
      delta(0, { type: 'input_json_delta', partial_json: '{"q":1}' }),
      stop(0),
      begin(1, result),
      stop(1),
      begin(2, { type: 'text', text: 'a' }),
      stop(2),
      end('end_turn'),
      last,
    ]
    expect(inChat(...events)).toMatchObject({ content: 'a', finish: 'stop' })
    expect(inChat(...events).tool_calls).toBeUndefined()
    expect(contentOf(read(...events))).toEqual([
      { ...search, input: { q: 1 } },
      result,
      { type: 'text', text: 'a', citations: [] },
    ])
  })

  test('places on the web are citations, others stay its own', () => {
    const web = {
      type: 'web_search_result_location',
      url: 'https://e.com',
      title: 'E',
      encrypted_index: 'x',
    }
    const page = { type: 'page_location', document_index: 0 }
    const events = [
      start,
      begin(0, { type: 'text', text: '', citations: [] }),
      delta(0, { type: 'citations_delta', citation: web }),
      delta(0, { type: 'text_delta', text: 'Earth' }),
      delta(0, { type: 'citations_delta', citation: page }),
      stop(0),
      end('end_turn'),
      last,
    ]
    expect(inChat(...events)).toMatchObject({
      annotations: [
        {
          type: 'url_citation',
          url_citation: { url: 'https://e.com', title: 'E', start_index: 0, end_index: 5 },
        },
      ],
    })
    expect(contentOf(read(...events))).toEqual([
      { type: 'text', text: 'Earth', citations: [web, page] },
    ])
    expect(streamed(read(...events))).toEqual(contentOf(read(...events)))
  })

  test('a stop text is read', () => {
    expect(read(start, end('stop_sequence', { stop_sequence: 'END' }), last).at(-1)).toMatchObject({
      reason: 'stop',
      stopText: 'END',
    })
  })

  test('W48: an error inside the stream is a fault, and a stream cut anywhere never ends clean', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    expect(read(start, begin(0, { type: 'text', text: 'a' }), error).at(-1)).toMatchObject({
      type: 'fault',
      fault: { kind: 'overloaded' },
    })
    for (const events of [
      [],
      [start],
      [start, begin(0, { type: 'text', text: 'a' }), stop(0)],
      [start, last],
    ]) {
      expect(read(...events).at(-1)).toMatchObject({ type: 'fault', fault: { kind: 'cut' } })
    }
  })

  test('a block behind the stop reason is not read: writers have ended every item', () => {
    const late = [begin(1, { type: 'text', text: '' }), delta(1, { type: 'text_delta', text: 'b' })]
    const said = [begin(0, { type: 'text', text: 'a' }), stop(0), end('end_turn')]
    expect(read(start, ...said, ...late, stop(1), last)).toEqual(read(start, ...said, last))
  })

  test('W49: an error or anything else in place of a message is a fault', () => {
    const error = { type: 'error', error: { type: 'rate_limit_error', message: 'no' } }
    expect(messagesHub.readWhole(error, {})).toMatchObject([{ fault: { kind: 'rate_limited' } }])
    expect(messagesHub.readWhole({ type: 'message' }, {})).toMatchObject([
      { fault: { kind: 'unreadable' } },
    ])
    expect(messagesHub.readWhole('x', {})).toMatchObject([{ fault: { kind: 'unreadable' } }])
    for (const data of ['{', 'null', '5']) {
      expect(messagesHub.reader({}).frame(data)).toMatchObject([{ fault: { kind: 'unreadable' } }])
    }
  })
})

describe('a reply that comes as the input of a tool', () => {
  const request: ChatRequest = {
    model: 'm',
    messages: [],
    stream: true,
    responseFormat: { type: 'schema', name: 'x', schema: { type: 'object' } },
  }
  const asked = { request, model: 'claude-3-haiku-20240307' }
  const readBy = (...events: readonly object[]) =>
    readAll(
      messagesHub.reader({}, asked),
      events.map((event) => JSON.stringify(event)),
    )
  const answer = { type: 'tool_use', id: 'x', name: replyTool, input: {} }
  const parts = (events: ChatEvent[]) =>
    fold(events).choices[0]?.parts.map(({ head: { type }, text: said }) => [type, said])

  test('is its text, and what was said before it is not', () => {
    const events = readBy(
      start,
      begin(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'I will answer.' }),
      stop(0),
      begin(1, answer),
      delta(1, { type: 'input_json_delta', partial_json: '{"a":' }),
      delta(1, { type: 'input_json_delta', partial_json: '1}' }),
      stop(1),
      end('tool_use'),
      last,
    )
    expect(breaches(events)).toEqual([])
    expect(parts(events)).toEqual([['text', '{"a":1}']])
    expect(events.at(-1)).toMatchObject({ type: 'choice-end', reason: 'stop' })
  })

  test('a call of the client in its place keeps the text before it', () => {
    const events = readBy(
      start,
      begin(0, { type: 'text', text: 'Let me see.' }),
      stop(0),
      begin(1, { ...answer, name: 'f' }),
      stop(1),
      end('tool_use'),
      last,
    )
    expect(breaches(events)).toEqual([])
    expect(parts(events)).toEqual([
      ['text', 'Let me see.'],
      ['tool-call', '{}'],
    ])
    expect(events.at(-1)).toMatchObject({ reason: 'tool_calls' })
  })

  test('is read so from a whole message too', () => {
    const body = {
      type: 'message',
      id: 'x',
      content: [
        { type: 'text', text: 'So:' },
        { ...answer, input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
    }
    expect(parts([...messagesHub.readWhole(body, {}, asked)])).toEqual([['text', '{"a":1}']])
  })
})
