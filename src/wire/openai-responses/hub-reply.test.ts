// Tests that any Responses reply written through the hub is read back, however it is divided.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { breaches, normal, readAll, replies } from '../../../test/replies.ts'
import { cut, eventsOf, head, plain, written } from '../../../test/responses.ts'
import type { ChatEvent } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { responsesHub } from './hub.ts'

/** What one choice can express in this format: its end must agree with its calls. */
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
