// Tests replies written in Anthropic's format, streamed and whole.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { breaches, frames, readAll, replies } from '../../../test/replies.ts'
import {
  callHead,
  contentOf,
  encoder,
  eventsIn,
  head,
  part,
  reply,
  streamed,
  text,
  thought,
  typesOf,
  written,
} from '../../../test/support/anthropic.ts'
import { fold } from '../hub/fold.ts'
import type { ChatEvent, JsonObject, PartHead } from '../ir.ts'
import { argumentsObject } from '../json/exact.ts'
import { messagesHub } from './hub.ts'

describe('for any reply', () => {
  /** One choice, calls without free text, and no refusals: what the format can express. */
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
      choices[0]?.parts.map(({ head: { type }, text: said }) => [
        type,
        type === 'tool-call' ? argumentsObject(said) : said,
      ]),
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
        const list = eventsIn(written(events))
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
      { type: 'text', text: 'a', citations: [] },
    ])
    expect(contentOf(events)).toEqual(streamed(events))
  })

  test('W15, W16: the delta that begins a block is written, with its index and kind', () => {
    const list = eventsIn(
      written(reply(part(0, thought, ['hm']), part(1, text, ['first', ' second']))),
    )
    const deltas = list.filter(({ type }) => type === 'content_block_delta')
    expect(deltas.map(({ index, delta }) => [index, delta]) as unknown).toEqual([
      [0, { type: 'thinking_delta', thinking: 'hm' }],
      [0, { type: 'signature_delta', signature: '' }],
      [1, { type: 'text_delta', text: 'first' }],
      [1, { type: 'text_delta', text: ' second' }],
    ])
  })

  test('W1: calls whose input comes interleaved are written one after the other', () => {
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
    expect(streamed(events)).toMatchObject([
      { type: 'tool_use', id: 'call_0', name: 'f', input: { a: 1 } },
      { type: 'tool_use', id: 'call_1', name: 'f', input: { b: 2 } },
      { type: 'tool_use', id: 'call_2', name: 'f', input: {} },
    ])
    expect(contentOf(events)).toEqual(streamed(events))
  })

  test('W20: message_start has every count of the cache', () => {
    const [start] = eventsIn(written(reply(part(0, text, ['a']))))
    expect((start?.message as JsonObject).usage).toMatchObject({
      input_tokens: 0,
      output_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    })
  })

  test('W21, W27: message_delta alone counts the reply, and has the latest counts, the input without what was cached', () => {
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
    const list = eventsIn(written([...reply([early], part(0, text, ['a'])), late]))
    expect((list[0]?.message as JsonObject).usage).toMatchObject({
      input_tokens: 99,
      output_tokens: 0,
      output_tokens_details: { thinking_tokens: 0 },
    })
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
    expect(eventsIn(written(events)).at(-2)?.delta).toMatchObject(expected)
  })

  test('what a model refused with is shown, and given as the reason', () => {
    const events = reply(part(0, { type: 'refusal' }, ['I ', 'will not']))
    const expected = {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'I will not' },
    }
    expect(streamed(events)).toEqual([{ type: 'text', text: 'I will not', citations: [] }])
    expect(contentOf(events)).toEqual(streamed(events))
    expect(messagesHub.writeWhole(events, head)).toMatchObject(expected)
    expect(eventsIn(written(events)).at(-2)?.delta).toMatchObject(expected)
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
    // Anthropic cannot use it when it comes back.
    const back = messagesHub.decodeRequest({
      model: 'm',
      messages: [{ role: 'assistant', content: contentOf(events) }],
    })
    expect(back.value.messages[0]?.parts).toEqual([{ type: 'text', text: 'Earth is' }])
  })

  test('tools another vendor ran itself, and pictures, are not written', () => {
    const other: PartHead = { type: 'other', extra: { 'openai-responses': { type: 'x' } } }
    const events = reply(
      part(0, other, ['{}']),
      part(1, { type: 'image', mediaType: 'image/png' }, ['iVBO']),
      part(2, text, ['a']),
    )
    expect(streamed(events)).toEqual([{ type: 'text', text: 'a', citations: [] }])
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

describe('opaque state comes back on the parts it is of', () => {
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
    expect(back.value.messages[0]?.parts as unknown).toMatchObject(expected)
  })

  test('a stream has it in deltas alone, where all clients look for it', () => {
    const list = eventsIn(written(events))
    const begun = list.map(
      ({ content_block: block }) => (block as JsonObject | undefined)?.signature,
    )
    expect(begun.filter((signature) => signature !== undefined && signature !== '')).toEqual([])
    const said = list.map(({ delta }) => (delta as JsonObject | undefined)?.signature)
    for (const end of ['seal-0', 'seal-2', 'seal-3', 'seal-4', 'seal-6'])
      expect(said.filter((signature) => String(signature).endsWith(end))).toHaveLength(1)
  })

  test('in a whole message each stands before its part', () => {
    expect(contentOf(reply(part(0, callHead('x'), ['{}'], 'seal')))).toMatchObject([
      { type: 'thinking', thinking: '', signature: expect.stringMatching(/seal$/) },
      { type: 'tool_use', id: 'x' },
    ])
  })
})
