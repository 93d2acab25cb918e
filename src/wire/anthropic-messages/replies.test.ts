// Replies in Anthropic's format: read, written, streamed and whole, in every shape vendors and the hub have.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { breaches, frames, readAll, replies } from '../../../test/replies.ts'
import type { WriterHead } from '../dialect.ts'
import { fold } from '../hub/fold.ts'
import type { ChatEvent, ChatRequest, JsonObject, PartHead } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { replyTool } from './encode-tools.ts'
import { messagesHub } from './hub.ts'

const head: WriterHead = { id: 'msg_1', model: 'asked', createdAt: 7, wantsUsage: true }
const encoder = new TextEncoder()

function written(events: readonly ChatEvent[]): string {
  const writer = messagesHub.writer(head)
  return events.map((event) => writer.event(event)).join('') + writer.end()
}

function told(text: string): JsonObject[] {
  return frames(encoder.encode(text), []).map((data) => JSON.parse(data))
}

function typesOf(text: string): string[] {
  return told(text).map(({ type }) => String(type))
}

/** Events of a reply: a start, these, the end of the choice. */
function reply(...events: readonly (readonly ChatEvent[])[]): ChatEvent[] {
  const start: ChatEvent = { type: 'response-start', id: 'x', model: 'm', createdAt: 0 }
  return [start, ...events.flat(), { type: 'choice-end', choice: 0, reason: 'stop' }]
}

function part(
  number: number,
  head_: PartHead,
  texts: readonly string[],
  sealed?: string,
): ChatEvent[] {
  const at = { choice: 0, part: number }
  return [
    { type: 'part-start', ...at, head: head_ },
    ...texts.map((text): ChatEvent => ({ type: 'part-delta', ...at, text })),
    { type: 'part-end', ...at, ...(sealed !== undefined && { sealed }) },
  ]
}

const text: PartHead = { type: 'text' }
const thought: PartHead = { type: 'reasoning' }
const callHead = (id: string): PartHead => ({ type: 'tool-call', id, name: 'f' })

function contentOf(events: readonly ChatEvent[]): JsonObject[] {
  return messagesHub.writeWhole(events, head).content as JsonObject[]
}

/** The stream put together as an official client does, as a whole message's content. */
function streamed(events: readonly ChatEvent[]): JsonObject[] {
  const blocks: JsonObject[] = []
  for (const { type, index, content_block: block, delta } of told(written(events))) {
    if (type === 'content_block_start') blocks.push({ ...(block as JsonObject) })
    const last = blocks.at(-1)
    if (type !== 'content_block_delta' || last === undefined) continue
    expect(index).toBe(blocks.length - 1)
    const { partial_json: json, text: said, thinking, signature, citation } = delta as JsonObject
    if (said !== undefined) last.text = `${last.text}${said}`
    if (thinking !== undefined) last.thinking = `${last.thinking}${thinking}`
    if (signature !== undefined) last.signature = signature
    if (citation !== undefined) last.citations = [...((last.citations as []) ?? []), citation]
    if (json !== undefined) last.json = `${last.json ?? ''}${json}`
  }
  return blocks.map(({ json, ...block }) =>
    json === undefined ? block : { ...block, input: JSON.parse(String(json)) },
  )
}

describe('for any reply', () => {
  /** One choice, calls with input that is JSON, and no refusals: what the format can say. */
  const sayable = replies.map((events): ChatEvent[] =>
    events.flatMap((event): ChatEvent[] => {
      if ('choice' in event && event.choice !== 0) return []
      if (event.type !== 'part-start') return [event]
      const { head: given } = event
      if (given.type === 'refusal') return [{ ...event, head: { type: 'text' } }]
      if (given.type !== 'tool-call') return [event]
      return [{ ...event, head: { type: 'tool-call', id: given.id, name: given.name } }]
    }),
  )
  const finished = sayable.filter((events) => events.some(({ type }) => type === 'choice-end'))
  const meaning = (events: readonly ChatEvent[]) => {
    const { choices, usage } = fold(events)
    return [
      choices[0]?.parts.map(({ head: { type }, text: said }) => [type, said]),
      usage && {
        input: usage.input,
        cached: usage.cachedInput,
        written: usage.cacheWrite,
        output: usage.output + usage.reasoning,
      },
    ]
  }

  test('what is read is what was written', () => {
    fc.assert(
      fc.property(finished, (events) => {
        const again = readAll(messagesHub.reader({}), frames(encoder.encode(written(events)), []))
        expect(breaches(again)).toEqual([])
        expect(meaning(again)).toEqual(meaning(events))
      }),
    )
  })

  test('the whole replays as the same', () => {
    fc.assert(
      fc.property(finished, (events) => {
        const body = messagesHub.writeWhole(events, head)
        const replayed = messagesHub.readWhole(structuredClone(body), {})
        expect(breaches(replayed)).toEqual([])
        expect(messagesHub.writeWhole(replayed, head)).toEqual(body)
      }),
    )
  })

  test('W17: blocks count up from 0, one is closed before the next begins, and all are at the end', () => {
    fc.assert(
      fc.property(replies, (events) => {
        let open = -1
        let next = 0
        const list = told(written(events))
        for (const { type, index } of list) {
          if (type === 'content_block_start') {
            expect([open, index]).toEqual([-1, next++])
            open = Number(index)
          } else if (String(type).startsWith('content_block')) expect(index).toBe(open)
          if (type === 'content_block_stop') open = -1
        }
        expect(open).toBe(-1)
        const types = list.map(({ type }) => type)
        expect(types.filter((type) => type === 'message_start')).toHaveLength(1)
        expect(types[0]).toBe('message_start')
        expect(types.slice(-2)).toEqual(['message_delta', 'message_stop'])
      }),
    )
  })

  test('cut at every byte it reads the same', () => {
    fc.assert(
      fc.property(finished, (events) => {
        const bytes = encoder.encode(written(events))
        expect(
          frames(
            bytes,
            Array.from(bytes, (_, at) => at),
          ),
        ).toEqual(frames(bytes, []))
      }),
      { numRuns: 20 },
    )
  })
})

describe('the writer', () => {
  test('every event is named beside its data', () => {
    const lines = written(reply(part(0, text, ['a']))).split('\n\n')
    for (const frame of lines.filter((line) => line !== '')) {
      const [name = '', data = ''] = frame.split('\n')
      expect(name).toBe(`event: ${JSON.parse(data.slice('data: '.length)).type}`)
    }
  })

  test('W13: a thought and the text behind it are blocks of their own kinds', () => {
    const events = reply(part(0, thought, ['hm']), part(1, text, ['a']))
    expect(streamed(events)).toEqual([
      { type: 'thinking', thinking: 'hm', signature: '' },
      { type: 'text', text: 'a' },
    ])
    expect(contentOf(events)).toEqual(streamed(events))
  })

  test('W15, W16: the delta that begins a block is told, with its index and kind', () => {
    const list = told(written(reply(part(0, thought, ['hm']), part(1, text, ['first', ' second']))))
    const deltas = list.filter(({ type }) => type === 'content_block_delta')
    expect(deltas.map(({ index, delta }) => [index, delta]) as unknown).toEqual([
      [0, { type: 'thinking_delta', thinking: 'hm' }],
      [0, { type: 'signature_delta', signature: '' }],
      [1, { type: 'text_delta', text: 'first' }],
      [1, { type: 'text_delta', text: ' second' }],
    ])
  })

  test('W1: calls whose input comes interleaved are told one after the other', () => {
    const at = (number: number, said: string): ChatEvent => ({
      type: 'part-delta',
      choice: 0,
      part: number,
      text: said,
    })
    const open = (number: number): ChatEvent => ({
      type: 'part-start',
      choice: 0,
      part: number,
      head: callHead(`call_${number}`),
    })
    const end = (number: number): ChatEvent => ({ type: 'part-end', choice: 0, part: number })
    const events = reply(
      [open(0), open(1), at(1, '{"b"'), at(0, '{"a"'), at(1, ':2}'), at(0, ':1}'), end(1)],
      [open(2), at(2, '{}'), end(0), end(2)],
    )
    expect(streamed(events)).toEqual([
      { type: 'tool_use', id: 'call_0', name: 'f', input: { a: 1 } },
      { type: 'tool_use', id: 'call_1', name: 'f', input: { b: 2 } },
      { type: 'tool_use', id: 'call_2', name: 'f', input: {} },
    ])
    expect(contentOf(events)).toEqual(streamed(events))
  })

  test('W20: message_start has every count of the cache', () => {
    const [start] = told(written(reply(part(0, text, ['a']))))
    expect((start?.message as JsonObject).usage).toMatchObject({
      input_tokens: 0,
      output_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    })
  })

  test('W21, W27: message_delta has the latest counts, the input without what was cached', () => {
    const counts = {
      input: 10,
      cachedInput: 20,
      cacheWrite: 3,
      cacheWrite1h: 4,
      output: 5,
      reasoning: 6,
    }
    const late: ChatEvent = { type: 'usage', usage: counts }
    const early: ChatEvent = { type: 'usage', usage: { ...counts, input: 99, cachedInput: 0 } }
    const list = told(written([...reply([early], part(0, text, ['a'])), late]))
    expect((list[0]?.message as JsonObject).usage).toMatchObject({ input_tokens: 99 })
    expect(list.at(-2)).toMatchObject({
      type: 'message_delta',
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 20,
        cache_creation_input_tokens: 7,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
        output_tokens: 11,
        output_tokens_details: { thinking_tokens: 6 },
      },
    })
  })

  test('W18: without any usage the stream still ends in good order', () => {
    expect(typesOf(written(reply(part(0, text, ['a'])))).slice(-3)).toEqual([
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  })

  test('a reply that says nothing is a message without content', () => {
    expect(typesOf(written(reply()))).toEqual(['message_start', 'message_delta', 'message_stop'])
    expect(typesOf(written(reply(part(0, text, []))))).toEqual([
      'message_start',
      'message_delta',
      'message_stop',
    ])
    expect(contentOf(reply(part(0, text, [])))).toEqual([])
  })

  test.each([
    ['stop', undefined, 'end_turn'],
    ['stop', 'END', 'stop_sequence'],
    ['length', undefined, 'max_tokens'],
    ['tool_calls', undefined, 'tool_use'],
    ['content_filter', undefined, 'refusal'],
  ] as const)('W24: %s with the stop text %j is %s', (reason, stopText, word) => {
    const end: ChatEvent = { type: 'choice-end', choice: 0, reason, ...(stopText && { stopText }) }
    const events = [...reply(part(0, text, ['a'])).slice(0, -1), end]
    const expected = { stop_reason: word, stop_sequence: stopText ?? null }
    expect(messagesHub.writeWhole(events, head)).toMatchObject(expected)
    expect(told(written(events)).at(-2)?.delta).toMatchObject(expected)
  })

  test('what a model refused with is shown, and told as the reason', () => {
    const events = reply(part(0, { type: 'refusal' }, ['I ', 'will not']))
    const expected = {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'I will not' },
    }
    expect(streamed(events)).toEqual([{ type: 'text', text: 'I will not' }])
    expect(contentOf(events)).toEqual(streamed(events))
    expect(messagesHub.writeWhole(events, head)).toMatchObject(expected)
    expect(told(written(events)).at(-2)?.delta).toMatchObject(expected)
  })

  test('a citation of another vendor is one of a web search', () => {
    const cite: ChatEvent = {
      type: 'citation',
      choice: 0,
      part: 0,
      citation: { url: 'https://e.com', title: 'E', start: 0, end: 5 },
    }
    const [start, end] = [part(0, text, ['Earth is']).slice(0, -1), part(0, text, []).slice(-1)]
    const events = reply(start, [cite], end)
    expect(streamed(events)).toEqual([
      {
        type: 'text',
        text: 'Earth is',
        citations: [
          {
            type: 'web_search_result_location',
            url: 'https://e.com',
            title: 'E',
            cited_text: 'Earth',
            encrypted_index: '',
          },
        ],
      },
    ])
    expect(contentOf(events)).toEqual(streamed(events))
    // It is of no use to Anthropic when it comes back.
    const back = messagesHub.decodeRequest({
      model: 'm',
      messages: [{ role: 'assistant', content: contentOf(events) }],
    })
    expect(back.value.messages[0]?.parts).toEqual([{ type: 'text', text: 'Earth is' }])
  })

  test('tools another vendor ran itself, and pictures, are not told', () => {
    const other: PartHead = { type: 'other', extra: { 'openai-responses': { type: 'x' } } }
    const events = reply(
      part(0, other, ['{}']),
      part(1, { type: 'image', mediaType: 'image/png' }, ['iVBO']),
      part(2, text, ['a']),
    )
    expect(streamed(events)).toEqual([{ type: 'text', text: 'a' }])
    expect(contentOf(events)).toEqual(streamed(events))
  })

  test("a custom tool's input is put under a name", () => {
    const custom: PartHead = { type: 'tool-call', id: 'c', name: 'f', custom: true }
    const events = reply(part(0, custom, ['SELECT', ' "1"']))
    expect(streamed(events)).toMatchObject([{ input: { input: 'SELECT "1"' } }])
    expect(contentOf(events)).toEqual(streamed(events))
  })

  test('W37: ids of other vendors are put in letters a client may send on', () => {
    const [block] = contentOf(reply(part(0, callHead('functions.f:0'), ['{}'])))
    expect(block?.id).toMatch(/^[a-zA-Z0-9_-]+$/)
    expect(streamed(reply(part(0, callHead('functions.f:0'), ['{}'])))[0]?.id).toBe(
      String(block?.id),
    )
  })
})

describe('seals come back on the parts they are of', () => {
  const events = reply(
    part(0, thought, ['hm'], 'seal-0'),
    part(1, { type: 'reasoning', redacted: true }, [], 'seal-1'),
    part(2, thought, [], 'seal-2'),
    part(3, text, ['a'], 'seal-3'),
    part(4, callHead('x'), ['{}'], 'seal-4'),
    part(5, callHead('y'), ['{}']),
    part(6, text, [], 'seal-6'),
  )
  const expected = [
    { type: 'reasoning', text: 'hm', sealed: 'seal-0' },
    { type: 'reasoning', text: '', sealed: 'seal-1', redacted: true },
    { type: 'reasoning', text: '', sealed: 'seal-2' },
    { type: 'text', text: 'a', sealed: 'seal-3' },
    { type: 'tool-call', id: 'x', name: 'f', arguments: '{}', sealed: 'seal-4' },
    { type: 'tool-call', id: 'y', name: 'f', arguments: '{}' },
    { type: 'text', text: '', sealed: 'seal-6' },
  ]

  test.each([
    ['streamed', streamed(events)],
    ['whole', contentOf(events)],
  ])('W31: %s', (_, content) => {
    const back = messagesHub.decodeRequest({
      model: 'm',
      messages: [{ role: 'assistant', content }],
    })
    expect(back.value.messages[0]?.parts as unknown).toEqual(expected)
  })

  test('in a whole message each stands before its part', () => {
    expect(contentOf(reply(part(0, callHead('x'), ['{}'], 'seal')))).toMatchObject([
      { type: 'thinking', thinking: '', signature: expect.stringMatching(/seal$/) },
      { type: 'tool_use', id: 'x' },
    ])
  })
})

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
    // OpenAI's prompt holds what Anthropic counts beside it.
    expect(chatHub.writeWhole(messagesHub.readWhole(whole, {}), head).usage).toMatchObject({
      prompt_tokens: 117,
      completion_tokens: 20,
      total_tokens: 137,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 7 },
      completion_tokens_details: { reasoning_tokens: 15 },
    })
  })

  test("a compaction's tokens are counted, an advisor's are another model's", () => {
    const iterations = [
      { type: 'compaction', input_tokens: 100, output_tokens: 10 },
      { type: 'advisor_message', input_tokens: 1_000, output_tokens: 1_000 },
      { type: 'message', input_tokens: 5, output_tokens: 9 },
    ]
    const usage = { input_tokens: 5, output_tokens: 9, iterations }
    const events = read(start, { ...end('end_turn'), usage }, last)
    expect(fold(events).usage).toMatchObject({ input: 105, output: 19 })
    // Its own clients add them up themselves.
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

  test('W1: parallel calls are told by their place among the calls, not among the blocks', () => {
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
    // Its own clients get the word back.
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
      { type: 'text', text: 'a' },
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

  test('a stop text is told', () => {
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
