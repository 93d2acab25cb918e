// Tests clients of the legacy completion format on chat models.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { breaches, frames, readAll, replies } from '../../../test/replies.ts'
import type { WriterHead } from '../codec.ts'
import type { ChatEvent, JsonObject } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { completionsHub } from './hub.ts'

const head: WriterHead = { id: 'cmpl-1', model: 'asked', createdAt: 7, wantsUsage: true }
const encoder = new TextEncoder()

function data(events: readonly ChatEvent[], to = head): string[] {
  const writer = completionsHub.writer(to)
  const text = events.map((event) => writer.event(event)).join('') + writer.end()
  return frames(encoder.encode(text), [])
}

describe('a request', () => {
  test('becomes a chat of one message', () => {
    const body: JsonObject = {
      model: 'ours',
      prompt: ['Say hi.'],
      max_tokens: 16,
      temperature: 0,
      top_p: 0.5,
      n: 2,
      best_of: 2,
      stop: 'x',
      presence_penalty: 1,
      frequency_penalty: -1,
      logit_bias: { '1': 2 },
      seed: 3,
      user: 'u',
      stream: true,
      stream_options: { include_usage: true },
      suffix: null,
      echo: false,
      logprobs: null,
      store: true,
    }
    const { value, dropped } = completionsHub.decodeRequest(body)
    expect(dropped).toEqual(['store'])
    expect(chatHub.encodeRequest(value, 'theirs')).toEqual({
      value: {
        model: 'theirs',
        messages: [{ role: 'user', content: 'Say hi.' }],
        max_completion_tokens: 16,
        temperature: 0,
        top_p: 0.5,
        n: 2,
        stop: ['x'],
        presence_penalty: 1,
        frequency_penalty: -1,
        logit_bias: { '1': 2 },
        seed: 3,
        user: 'u',
        stream: true,
      },
      dropped: [],
    })
  })

  test.each([
    [{ prompt: ['a', 'b'] }, 'prompt'],
    [{ prompt: [] }, 'prompt'],
    [{ prompt: [1, 2] }, 'prompt'],
    [{ prompt: [[1], [2]] }, 'prompt'],
    [{ suffix: 'end' }, 'suffix'],
    [{ echo: true }, 'echo'],
    [{ best_of: 2 }, 'best_of'],
    [{ n: 2, best_of: 3 }, 'best_of'],
    [{ logprobs: 0 }, 'logprobs'],
  ])('with %j is refused by name', (fields, param) => {
    let seen: unknown = null
    try {
      completionsHub.decodeRequest({ model: 'm', prompt: 'a', ...fields } as JsonObject)
    } catch (error) {
      seen = error
    }
    expect(seen).toMatchObject({
      code: 'invalid_request_error',
      detail: { param },
      message: expect.stringContaining('this model only chats'),
    })
  })

  test('returns from the hub as it went in', () => {
    const body = { model: 'm', prompt: 'a', max_tokens: 4, temperature: 0, stream: true }
    const { value } = completionsHub.decodeRequest(body)
    expect(completionsHub.encodeRequest(value, 'm')).toEqual({ value: body, dropped: [] })
  })

  test('of a whole conversation cannot go to a model that only completes', () => {
    const { value } = chatHub.decodeRequest({
      model: 'm',
      messages: [
        { role: 'system', content: 'a' },
        { role: 'user', content: 'b' },
      ],
    })
    expect(() => completionsHub.encodeRequest(value, 'm')).toThrow('messages must be one')
  })
})

describe('for any reply', () => {
  test('the fold of the stream is the whole', () => {
    fc.assert(
      fc.property(replies, (events) => {
        const whole = completionsHub.writeWhole(events, head)
        const list = data(events)
        expect(list.at(-1)).toBe('[DONE]')
        const texts = new Map<number, { text: string; finish: unknown }>()
        const chunks: JsonObject[] = list.slice(0, -1).map((text) => JSON.parse(text))
        for (const chunk of chunks) {
          expect(chunk).toMatchObject({ id: 'cmpl-1', object: 'text_completion', model: 'model-1' })
          for (const choice of chunk.choices as JsonObject[]) {
            const at = Number(choice.index)
            const before = texts.get(at)?.text ?? ''
            texts.set(at, { text: before + String(choice.text), finish: choice.finish_reason })
          }
        }
        const folded = [...texts].toSorted(([a], [b]) => a - b)
        expect(whole.choices).toEqual(
          folded.map(([index, { text, finish }]) => ({
            text,
            index,
            logprobs: null,
            finish_reason: finish as string,
          })),
        )
        expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage as JsonObject })
      }),
    )
  })

  test('what its own reader reads gives the same whole', () => {
    fc.assert(
      fc.property(replies, (events) => {
        const again = readAll(completionsHub.reader({}), data(events))
        expect(breaches(again)).toEqual([])
        const whole = completionsHub.writeWhole(events, head)
        expect(completionsHub.writeWhole(again, head)).toEqual(whole)
        const replayed = completionsHub.readWhole(structuredClone(whole), {})
        expect(completionsHub.writeWhole(replayed, head)).toEqual(whole)
      }),
    )
  })
})

test('reasoning is no part of the text', () => {
  const events = chatHub.readWhole(
    {
      id: 'r',
      created: 5,
      model: 'm',
      choices: [{ message: { reasoning_content: 'why', content: 'ok' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    },
    {},
  )
  expect(completionsHub.writeWhole(events, head)).toMatchObject({
    id: 'cmpl-1',
    object: 'text_completion',
    created: 5,
    model: 'm',
    choices: [{ text: 'ok', index: 0, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  })
  const unasked = data(events, { ...head, wantsUsage: false })
  expect(unasked.join('')).not.toContain('usage')
})
