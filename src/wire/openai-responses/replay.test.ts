// Tests a replayed response: the same events with the same numbers during the response, after its end, and from any
// number on.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import OpenAI from 'openai'
import {
  cut,
  ended,
  eventsOf,
  followed,
  head,
  part,
  pulled,
  replayed,
  start,
  written,
} from '../../../test/responses.ts'
import type { ChatEvent, JsonObject } from '../ir.ts'
import { replay } from './replay.ts'
import { isBroken, ResponseSoFar } from './so-far.ts'

const rich: ChatEvent[] = [
  start,
  ...part(0, { type: 'reasoning' }, ['I think ', 'about it for a while, and then some more.']),
  ...part(1, { type: 'text' }, ['Hello 😀 there, ', 'x'.repeat(31), '😀', 'y'.repeat(100)]),
  { type: 'part-start', choice: 0, part: 2, head: { type: 'tool-call', id: 'call_1', name: 'f' } },
  {
    type: 'part-start',
    choice: 0,
    part: 3,
    head: { type: 'tool-call', id: 'call_2', name: 'g', custom: true },
  },
  { type: 'part-delta', choice: 0, part: 3, text: 'plain ' },
  { type: 'part-delta', choice: 0, part: 2, text: `{"a":"${'b'.repeat(80)}"}` },
  { type: 'part-delta', choice: 0, part: 3, text: 'input' },
  { type: 'part-end', choice: 0, part: 2 },
  { type: 'part-end', choice: 0, part: 3, sealed: 'c2VhbA' },
  ...part(4, { type: 'refusal' }, ['No, ', 'never.']),
  { type: 'usage', usage: { input: 1, cachedInput: 0, cacheWrite: 0, output: 2, reasoning: 0 } },
  { ...ended, reason: 'tool_calls' },
]

describe('followed while it is made', () => {
  test('it is sent as it is sent later', () => {
    const { live, again, last } = followed(eventsOf(written(rich)))
    expect(live).toBe(again)
    expect(eventsOf(live).at(-1)?.['response']).toEqual(last)
    const numbers = eventsOf(live).map((event) => event['sequence_number'])
    expect(numbers).toEqual(numbers.map((_, at) => at))
  })

  test('text is sent before its item has ended', () => {
    const source = new ResponseSoFar({ id: 'resp_1' })
    const frames = replay(source, -1)
    const item = { type: 'message', id: 'msg_1', status: 'in_progress', content: [] }
    source.event({ type: 'response.output_item.added', output_index: 0, item })
    const place = { output_index: 0, content_index: 0 }
    const text = { type: 'output_text', text: '' }
    source.event({ type: 'response.content_part.added', ...place, part: text })
    pulled(frames)
    source.event({ type: 'response.output_text.delta', ...place, delta: 'a'.repeat(70) })
    const deltas = eventsOf(pulled(frames)).map(({ delta }) => delta)
    expect(deltas).toEqual(['a'.repeat(32), 'a'.repeat(32)])
  })

  test('whatever the pieces, its end and its breaking off', () => {
    const pieces = fc.array(fc.string({ unit: 'binary', maxLength: 50 }), { maxLength: 6 })
    const reply = fc.record({ thought: pieces, text: pieces, call: pieces, cutAfter: fc.nat(60) })
    fc.assert(
      fc.property(reply, ({ thought, text, call, cutAfter }) => {
        const events = eventsOf(
          written([
            start,
            ...part(0, { type: 'reasoning' }, thought),
            ...part(1, { type: 'text' }, text),
            ...part(2, { type: 'tool-call', id: 'call_1', name: 'f' }, call),
            ended,
          ]),
        )
        const whole = followed(events)
        expect(whole.live).toBe(whole.again)
        const broken = followed(events.slice(0, Math.max(1, cutAfter)))
        expect(broken.live).toBe(broken.again)
      }),
    )
  })

  test('a vendor that numbers its items at will is followed at once', () => {
    const source = new ResponseSoFar({ id: 'resp_1' })
    const item = (index: number, id: string) =>
      source.event({ type: 'response.output_item.done', output_index: index, item: { id } })
    for (const [index, id] of [
      [2 ** 40, 'c'],
      [0, 'a'],
      [2 ** 28, 'b'],
    ] as const)
      item(index, id)
    const { output } = source.ending({ status: 'failed' })
    expect(output).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'c' }])
  })

  test('a vendor that leaves the output out of the end has sent it before', () => {
    const events = eventsOf(written(rich))
    const output = (events.at(-1)?.['response'] as JsonObject)['output']
    const bare = events.map((event, at) => {
      const response = event['response'] as JsonObject
      return at === events.length - 1 ? { ...event, response: { ...response, output: [] } } : event
    })
    expect(followed(bare).last['output']).toEqual(output)
  })

  test('what broke off in the middle of an item says so, and holds no half call for whole', () => {
    const events = eventsOf(written(rich))
    const at = events.findIndex(({ type }) => type === 'response.function_call_arguments.done')
    const { last } = followed(events.slice(0, at))
    expect(isBroken(last)).toBe(true)
    const calls = (last['output'] as JsonObject[]).filter(({ type }) => type === 'function_call')
    expect(calls).toMatchObject([{ status: 'incomplete' }])
  })
})

describe('replayed', () => {
  const final = eventsOf(written(rich)).at(-1)?.['response'] as JsonObject
  const frames = replayed(final)

  test('from any number on it is the rest of the same', () => {
    const count = cut(frames).length
    for (let after = -1; after < count; after++) {
      const rest = cut(frames)
        .slice(after + 1)
        .map((data) => JSON.parse(data) as JsonObject)
      expect(eventsOf(replayed(final, after))).toEqual(rest)
    }
  })

  test.each(['failed', 'cancelled'])('one that is %s always says so', (status) => {
    const [event, ...more] = eventsOf(replayed({ ...final, status, output: [] }, 50))
    expect(more).toEqual([])
    expect(event).toMatchObject({ sequence_number: 51, response: { status } })
  })

  test('in the background it is queued first', () => {
    const types = eventsOf(replayed({ ...final, background: true, output: [] })).map(
      ({ type }) => type,
    )
    expect(types).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
      'response.completed',
    ])
  })

  test('the official client folds it to the response', async () => {
    const answer = async () =>
      new Response(frames, { headers: { 'content-type': 'text/event-stream' } })
    const fetch = Object.assign(answer, { preconnect: () => undefined })
    const client = new OpenAI({ apiKey: 'k', baseURL: 'http://127.0.0.1:9/v1', fetch })
    const stream = client.responses.stream({ response_id: head.id })
    const { output } = await stream.finalResponse()
    const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
    const withoutParsed = (value: unknown) =>
      JSON.parse(JSON.stringify(value, (key, each) => (/^parsed/.test(key) ? undefined : each)))
    expect(withoutParsed(output)).toEqual(plain(final['output']))
  })
})
