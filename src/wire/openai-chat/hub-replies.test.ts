// Tests chat replies with more than text: reasoning with opaque state, citations, probabilities, images; streamed and
// whole alike.

import { describe, expect, test } from 'bun:test'
import { breaches, frames, readAll } from '../../../test/replies.ts'
import type { WriterHead } from '../codec.ts'
import type { ChatEvent, JsonObject, JsonValue, PartHead } from '../ir.ts'
import type { ReplyQuirks } from '../reply.ts'
import { chatHub } from './hub.ts'

const head: WriterHead = { id: 'chatcmpl-1', model: 'asked', createdAt: 7, wantsUsage: true }
const encoder = new TextEncoder()

function said(delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject {
  const choice = { index: 0, delta, finish_reason: finish, ...more }
  return { id: 'r', created: 5, model: 'm', choices: [choice] }
}

function read(list: readonly JsonValue[], quirks: ReplyQuirks = {}): ChatEvent[] {
  const data = list.map((frame) => JSON.stringify(frame))
  const events = readAll(chatHub.reader(quirks), data)
  expect(breaches(events)).toEqual([])
  return events
}

function chunksOf(events: readonly ChatEvent[], to = head): JsonObject[] {
  const writer = chatHub.writer(to)
  const text = events.map((event) => writer.event(event)).join('') + writer.end()
  return frames(encoder.encode(text), [])
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data))
}

function deltasOf(events: readonly ChatEvent[]): JsonObject[] {
  return chunksOf(events).flatMap(({ choices }) => {
    const [choice] = choices as JsonObject[]
    return choice === undefined ? [] : [choice['delta'] as JsonObject]
  })
}

function messageOf(body: JsonObject): JsonObject {
  return (body.choices as JsonObject[])[0]?.message as JsonObject
}

/** The whole reply, which must equal the folded stream of the same events. */
function whole(events: readonly ChatEvent[], to = head): JsonObject {
  const body = chatHub.writeWhole(events, to)
  expect(chatHub.writeWhole(read(chunksOf(events, to)), to)).toEqual(body)
  const replayed = chatHub.readWhole(structuredClone(body), {})
  expect(breaches(replayed)).toEqual([])
  expect(chatHub.writeWhole(replayed, to)).toEqual(body)
  return body
}

function part(index: number, partHead: PartHead, text: string, sealed?: string): ChatEvent[] {
  const at = { choice: 0, part: index }
  return [
    { type: 'part-start', ...at, head: partHead },
    ...(text === '' ? [] : [{ type: 'part-delta' as const, ...at, text }]),
    { type: 'part-end', ...at, ...(sealed !== undefined && { sealed }) },
  ]
}

function reply(...parts: readonly (readonly ChatEvent[])[]): ChatEvent[] {
  const said = parts.flat()
  const calls = said.some((event) => event.type === 'part-start' && event.head.type === 'tool-call')
  return [
    { type: 'response-start', id: 'r', model: 'm', createdAt: 5 },
    ...said,
    { type: 'choice-end', choice: 0, reason: calls ? 'tool_calls' : 'stop' },
  ]
}

describe('reasoning with opaque state', () => {
  test('is written as thinking blocks, in the order thought', () => {
    const events = reply(
      part(0, { type: 'reasoning' }, 'one', 's1'),
      part(1, { type: 'reasoning', redacted: true }, '', 'd'),
      part(2, { type: 'text' }, 'a'),
    )
    expect(messageOf(whole(events))).toEqual({
      role: 'assistant',
      content: 'a',
      refusal: null,
      reasoning_content: 'one',
      thinking_blocks: [
        { type: 'thinking', thinking: 'one', signature: 's1' },
        { type: 'redacted_thinking', data: 'd' },
      ],
    })
    expect(read(chunksOf(events))).toEqual(events)
    const blocks = deltasOf(events).flatMap(({ thinking_blocks: list = [] }) => list)
    expect(blocks).toMatchObject([{ index: 0 }, { index: 1 }])
  })

  test('is a reply with an empty text where nothing else came, and without one where a call did', () => {
    const thought = part(0, { type: 'reasoning' }, 'one')
    expect(messageOf(whole(reply(thought)))).toMatchObject({ content: '' })
    const call = part(1, { type: 'tool-call', id: 'c', name: 'f' }, '{}')
    expect(messageOf(whole(reply(thought, call)))).toMatchObject({ content: null })
  })

  test('is read where each delta tells it twice', () => {
    const block = (thinking: string, signature = ''): JsonObject => ({
      reasoning_content: thinking,
      thinking_blocks: [{ type: 'thinking', thinking, signature }],
    })
    const events = read([
      said({ role: 'assistant', ...block('wh') }),
      said(block('y')),
      said(block('', 's')),
      said({ content: 'a' }, 'stop'),
    ])
    expect(messageOf(whole(events))).toMatchObject({
      reasoning_content: 'why',
      thinking_blocks: [{ thinking: 'why', signature: 's' }],
    })
  })

  test('is read of details, which the format itself gets back unchanged', () => {
    const details = [
      { type: 'reasoning.text', text: 'why', format: 'f', index: 0 },
      { type: 'reasoning.text', signature: 's', format: 'f', index: 0 },
      { type: 'reasoning.encrypted', data: 'e', index: 1 },
    ]
    const events = read([
      ...details.map((detail) =>
        said({ reasoning: detail.text ?? '', reasoning_details: [detail] }),
      ),
      said({ content: 'a' }, 'stop'),
    ])
    const ends = events.filter((event) => event.type === 'part-end')
    expect(ends.map(({ sealed }) => sealed && JSON.parse(sealed))).toEqual([
      { type: 'reasoning.text', signature: 's', format: 'f', index: 0 },
      { type: 'reasoning.encrypted', data: 'e', index: 1 },
      undefined,
    ])
    const message = messageOf(chatHub.writeWhole(events, head))
    expect(message).toMatchObject({ reasoning_content: 'why', reasoning_details: details })
    expect(message).not.toHaveProperty('thinking_blocks')
    expect(JSON.stringify(chunksOf(events))).not.toContain('thinking_blocks')
  })
})

test('W31: the signature of a call is written beside it', () => {
  const events = reply(
    part(0, { type: 'tool-call', id: 'c', name: 'f' }, '{}', 'sig'),
    part(1, { type: 'tool-call', id: 'd', name: 'f' }, '{}'),
  )
  expect(messageOf(whole(events)).tool_calls).toMatchObject([
    { id: 'c', extra_content: { google: { thought_signature: 'sig' } } },
    { id: 'd' },
  ])
  const [call] = read(chunksOf(events)).filter((event) => event.type === 'part-end')
  expect(call).toMatchObject({ sealed: 'sig' })
})

describe('citations', () => {
  const cited = (start: number, end: number, url = 'https://x') => ({
    type: 'url_citation',
    url_citation: { start_index: start, end_index: end, url, title: 't' },
  })

  test('count from the first text, though a call or a thought stands between', () => {
    const at = (index: number, start: number): ChatEvent => ({
      type: 'citation',
      choice: 0,
      part: index,
      citation: { url: 'https://x', title: 't', start, end: start + 1 },
    })
    const [start, delta, end] = part(2, { type: 'text' }, 'two') as [
      ChatEvent,
      ChatEvent,
      ChatEvent,
    ]
    const [first, ...rest] = part(0, { type: 'text' }, 'one') as [ChatEvent, ChatEvent, ChatEvent]
    const events = reply(
      [first, rest[0] as ChatEvent, at(0, 1), rest[1] as ChatEvent],
      part(1, { type: 'reasoning' }, 'hm'),
      [start, delta, at(2, 0), end],
    )
    const body = chatHub.writeWhole(events, head)
    expect(messageOf(body)).toMatchObject({
      content: 'onetwo',
      annotations: [cited(1, 2), cited(3, 4)],
    })
    // Streamed, they come in one list: clients keep the last of several, or fail at it.
    const lists = deltasOf(events).flatMap(({ annotations = [] }) => annotations)
    expect(lists).toEqual([cited(1, 2), cited(3, 4)])
    expect(deltasOf(events).filter(({ annotations }) => annotations !== undefined)).toHaveLength(1)
  })

  test('of a text that comes later, and without a place in it, are kept', () => {
    const events = read([
      said({ annotations: [cited(0, 0)] }),
      said({ content: 'a' }),
      said({}, 'stop'),
    ])
    expect(events.filter(({ type }) => type === 'citation')).toMatchObject([
      { part: 0, citation: { url: 'https://x', title: 't' } },
    ])
    expect(messageOf(whole(events)).annotations).toEqual([cited(0, 0)])
  })

  test('of no text at all stay in the format', () => {
    const events = read([said({ annotations: [cited(0, 1)] }), said({}, 'stop')])
    expect(messageOf(whole(events)).annotations).toEqual([cited(0, 1)])
  })
})

test('probabilities of tokens go with their text', () => {
  const token = (text: string): JsonObject => ({ token: text, logprob: -1, top_logprobs: [] })
  const events = read([
    said({ role: 'assistant', content: '' }),
    said({ content: 'a' }, null, { logprobs: { content: [token('a')], refusal: null } }),
    said({ content: 'b' }, null, { logprobs: { content: [token('b')], refusal: null } }),
    said({ refusal: 'no' }, null, { logprobs: { content: null, refusal: [token('no')] } }),
    said({}, 'stop'),
  ])
  expect(events.flatMap((event) => (event.type === 'logprobs' ? [event.part] : []))).toEqual([
    0, 0, 1,
  ])
  const body = whole(events)
  expect(body.choices).toMatchObject([
    { logprobs: { content: [token('a'), token('b')], refusal: [token('no')] } },
  ])
  const carried = chunksOf(events).flatMap((chunk) => {
    const [choice] = chunk.choices as JsonObject[]
    return choice?.logprobs ? [choice] : []
  })
  expect(carried).toMatchObject([
    { delta: { content: 'a' }, logprobs: { content: [token('a')], refusal: null } },
    { delta: { content: 'b' } },
    { delta: { refusal: 'no' }, logprobs: { content: null, refusal: [token('no')] } },
  ])
})

test('images are written as data URLs, and read so', () => {
  const events = reply(
    part(0, { type: 'text' }, 'here'),
    part(1, { type: 'image', mediaType: 'image/png' }, 'AAAA'),
  )
  expect(messageOf(whole(events)).images).toEqual([
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
  ])
  expect(read(chunksOf(events))).toEqual(events)
})

test('what only another dialect tells is not shown', () => {
  const extra = { elsewhere: { type: 'server_tool_use' } }
  const events = reply(
    part(0, { type: 'other', extra }, '{"query":"x"}'),
    part(1, { type: 'text' }, 'a'),
  )
  expect(messageOf(whole(events))).toEqual({ role: 'assistant', content: 'a', refusal: null })
  expect(JSON.stringify(chunksOf(events))).not.toContain('query')
})

test('a client that asked with functions gets its call as function_call', () => {
  const { value } = chatHub.decodeRequest({
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    functions: [{ name: 'f' }],
  })
  const to = { ...head, request: value }
  const events: ChatEvent[] = [
    ...reply(part(0, { type: 'tool-call', id: 'c', name: 'f' }, '{"x":1}')).slice(0, -1),
    { type: 'choice-end', choice: 0, reason: 'tool_calls' },
  ]
  const call = { name: 'f', arguments: '{"x":1}' }
  expect(chatHub.writeWhole(events, to).choices).toMatchObject([
    { message: { content: null, function_call: call }, finish_reason: 'function_call' },
  ])
  const deltas = chunksOf(events, to).map((chunk) => (chunk.choices as JsonObject[])[0])
  expect(deltas).toMatchObject([
    { delta: { role: 'assistant', content: null } },
    { delta: { function_call: { name: 'f', arguments: '' } } },
    { delta: { function_call: { arguments: '{"x":1}' } } },
    { delta: {}, finish_reason: 'function_call' },
  ])
})

test('a function_call beside an empty list of calls is read', () => {
  const older = (call: JsonObject): JsonObject => ({ tool_calls: [], function_call: call })
  const streamed = read([
    said(older({ name: 'f', arguments: '' })),
    said(older({ arguments: '{"x":1}' })),
    said({}, 'function_call'),
  ])
  const message = older({ name: 'f', arguments: '{"x":1}' })
  const choices = [{ index: 0, message, finish_reason: 'function_call' }]
  for (const events of [streamed, chatHub.readWhole({ id: 'r', choices }, {})]) {
    expect(messageOf(chatHub.writeWhole(events, head)).tool_calls).toMatchObject([
      { id: 'call_r_0_0', function: { name: 'f', arguments: '{"x":1}' } },
    ])
    expect(events.at(-1)).toMatchObject({ type: 'choice-end', reason: 'tool_calls' })
  }
})

describe('the mistakes of others', () => {
  const call = (index: number, more: JsonObject): JsonObject => ({
    tool_calls: [{ index, ...more }],
  })
  const open = (index: number, id: string): JsonObject =>
    call(index, { id, type: 'function', function: { name: 'f', arguments: '' } })

  test('W1: parallel calls are known by their place, W2: which no chunk begins again', () => {
    const list = [open(0, 'a'), call(0, { function: { arguments: '{' } }), open(1, 'b')]
    const ends = [
      call(1, { function: { arguments: '{}' } }),
      call(0, { function: { arguments: '}' } }),
    ]
    const chunks = chunksOf(
      read([...[...list, ...ends].map((delta) => said(delta)), said({}, 'stop')]),
    )
    const places = chunks.flatMap((chunk) => {
      const [choice] = chunk.choices as JsonObject[]
      const calls = (choice?.delta as JsonObject).tool_calls as JsonObject[] | undefined
      return calls?.map(({ index }) => index) ?? []
    })
    expect(places).toEqual([0, 0, 1, 1, 0])
  })

  test('W4: the first chunk has the role, W5: the time in seconds', () => {
    const late = { ...said({ content: 'a' }, 'stop'), created: 1_700_000_000_123 }
    const [first] = chunksOf(read([late]))
    expect(first).toMatchObject({
      created: 1_700_000_000,
      choices: [{ delta: { role: 'assistant' } }],
    })
  })

  test('W6, W7, W8: usage beside choices is written once, in a chunk without any', () => {
    const usage = {
      prompt_tokens: 5,
      completion_tokens: 1,
      total_tokens: 6,
      prompt_tokens_details: { cached_tokens: 4 },
    }
    const chunks = chunksOf(
      read([
        said({ content: 'a' }),
        { ...said({}, 'stop'), usage },
        { id: 'r', model: 'm', choices: [] },
      ]),
    )
    const counted = chunks.filter((chunk) => chunk.usage !== null)
    expect(counted).toMatchObject([{ choices: [], usage }])
    expect(chunks.at(-1)).toEqual(counted[0] ?? {})
  })

  test('W9: a chunk without choices is no error', () => {
    const events = read([{ id: '', model: '', choices: [] }, said({ content: 'a' }, 'stop')])
    expect(events.some(({ type }) => type === 'fault')).toBe(false)
  })

  test('W10, W48: a stream without a finish is cut', () => {
    expect(read([said({ content: 'a' })]).at(-1)).toMatchObject({ fault: { kind: 'cut' } })
  })

  test('W11: a call whose name comes late, with no type and an empty role', () => {
    const pieces = [
      { role: '', ...call(0, { id: 'a', type: null, function: { arguments: '{' } }) },
      call(0, { function: { name: 'f', arguments: '}' } }),
    ]
    const body = whole(read([...pieces.map((delta) => said(delta)), said({}, 'tool_calls')]))
    expect(messageOf(body).tool_calls).toEqual([
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
    ])
  })

  test('W12: arguments in pieces that each come with the id', () => {
    const piece = (text: string): JsonObject =>
      call(0, { id: 'a', function: { name: 'f', arguments: text } })
    const body = whole(read([said(piece('{"a"')), said(piece(':1}')), said({}, 'tool_calls')]))
    expect(messageOf(body).tool_calls).toMatchObject([
      { id: 'a', function: { name: 'f', arguments: '{"a":1}' } },
    ])
  })

  test('W1: calls without ids that all come under one index are told apart', () => {
    const named = (name: string, text: string): JsonObject =>
      said(call(0, { id: '', function: { name, arguments: text } }))
    const list = [
      named('f', '{"a":1}'),
      named('f', '{"a":2}'),
      named('g', '{"b"'),
      named('g', ':3}'),
    ]
    const body = whole(read([...list, said({}, 'tool_calls')]))
    expect(messageOf(body).tool_calls).toMatchObject([
      { function: { name: 'f', arguments: '{"a":1}' } },
      { function: { name: 'f', arguments: '{"a":2}' } },
      { function: { name: 'g', arguments: '{"b":3}' } },
    ])
  })

  test('W32: a stop behind a call is one for the call', () => {
    expect(read([said(open(0, 'a')), said({}, 'stop')]).at(-1)).toMatchObject({
      type: 'choice-end',
      reason: 'tool_calls',
    })
    expect(read([said(open(0, 'a')), said({}, 'length')]).at(-1)).toMatchObject({
      reason: 'length',
    })
  })

  test('W35: a call without arguments has an empty object', () => {
    const body = whole(read([said(open(0, 'a')), said({}, 'tool_calls')]))
    expect(messageOf(body).tool_calls).toMatchObject([{ function: { arguments: '{}' } }])
  })

  test('W49: an error under a success is a fault', () => {
    const [fault] = chatHub.readWhole({ error: { code: 429, message: 'slow down' } }, {})
    expect(fault).toMatchObject({ type: 'fault', fault: { kind: 'rate_limited' } })
  })
})
