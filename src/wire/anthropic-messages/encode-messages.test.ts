// Tests how messages of chat requests are written in Anthropic's format.

import { describe, expect, test } from 'bun:test'
import { call, chat, hub, refused, tool, user } from '../../../test/support/anthropic.ts'
import type { JsonObject } from '../ir.ts'

describe('messages', () => {
  test('system and developer messages at the beginning are the system prompt, with their marks', () => {
    const marked = { type: 'text', text: 'b', cache_control: { type: 'ephemeral', ttl: '1h' } }
    const { value, dropped } = chat({
      messages: [
        { role: 'system', content: 'a' },
        { role: 'developer', content: [marked] },
        { role: 'user', content: 'Hi' },
      ],
    })
    expect(value.system).toMatchObject([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ])
    expect(value.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])
    expect(dropped).toEqual([])
  })

  test('W23: a system message in the middle is said by the user, in its place', () => {
    const { value } = chat({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
        { role: 'system', content: 'c' },
        { role: 'user', content: 'd' },
      ],
    })
    const texts = (value.messages as JsonObject[]).map(({ role, content }) => [
      role,
      (content as JsonObject[]).map(({ text }) => text).join(),
    ])
    expect(texts).toEqual([
      ['user', 'a'],
      ['assistant', 'b'],
      ['user', 'c,d'],
    ])
  })

  test('W36: results of parallel calls are one user turn, first in it and in their order', () => {
    const { value } = chat({
      tools: [tool],
      messages: [
        { role: 'user', content: 'a' },
        {
          role: 'assistant',
          content: 'Both.',
          tool_calls: [call('x'), call('y', '{"b":2,"a":1}')],
        },
        { role: 'tool', tool_call_id: 'x', content: '1' },
        { role: 'tool', tool_call_id: 'y', content: [{ type: 'text', text: '2' }] },
        { role: 'user', content: 'go on' },
      ],
    })
    expect(value.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Both.' },
          { type: 'tool_use', id: 'x', name: 'f', input: {} },
          { type: 'tool_use', id: 'y', name: 'f', input: { b: 2, a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'x', content: '1' },
          { type: 'tool_result', tool_use_id: 'y', content: '2' },
          { type: 'text', text: 'go on' },
        ],
      },
    ])
  })

  test('W34: empty texts are left out, and turns that then say nothing with them', () => {
    const { value } = chat({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: '' },
        {
          role: 'user',
          content: [
            { type: 'text', text: ' \n' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'assistant', content: 'ends in space  ' },
      ],
    })
    expect(value.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'ends in space' }] },
    ])
  })

  test.each([
    ['', {}],
    [' ', {}],
    ['{"a":1}', { a: 1 }],
    ['{"a":', { input: '{"a":' }],
    ['[1]', { input: '[1]' }],
  ])('W35: arguments %j are the input %j', (text, input) => {
    const messages = [{ role: 'assistant', content: null, tool_calls: [call('x', text)] }]
    const { value } = chat({ messages: [{ role: 'user', content: 'a' }, ...messages] })
    const [, turn] = value.messages as JsonObject[]
    expect(turn?.content).toEqual([{ type: 'tool_use', id: 'x', name: 'f', input }])
  })

  test('W37: ids other vendors made are put in letters Anthropic takes, alike in call and result', () => {
    const { value } = chat({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', tool_calls: [call('f:0'), call('f.0'), call('fine-1_A')] },
        { role: 'tool', tool_call_id: 'f.0', content: '2' },
        { role: 'tool', tool_call_id: 'f:0', content: '1' },
        { role: 'tool', tool_call_id: 'fine-1_A', content: '3' },
      ],
    })
    const [, calls, results] = (value.messages as JsonObject[]).map(
      ({ content }) => content as JsonObject[],
    )
    const ids = calls?.map(({ id }) => String(id)) ?? []
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/)
    expect(ids[2]).toBe('fine-1_A')
    expect(results?.map((result) => result.tool_use_id ?? '')).toEqual([
      ids[1] ?? '',
      ids[0] ?? '',
      'fine-1_A',
    ])
  })

  test('a conversation begins with a user: one is put before an assistant, a lone system prompt becomes one', () => {
    const greeted = chat({ messages: [{ role: 'assistant', content: 'Hello' }] }).value
    expect((greeted.messages as JsonObject[])[0]).toEqual({
      role: 'user',
      content: [{ type: 'text', text: '.' }],
    })
    const alone = chat({ messages: [{ role: 'system', content: 'Write a poem.' }] }).value
    expect(alone.system).toBeUndefined()
    expect(alone.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Write a poem.' }] },
    ])
  })

  test('consecutive messages of one side are one turn', () => {
    const { value } = chat({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
        { role: 'assistant', content: 'c' },
        { role: 'assistant', content: 'd' },
        { role: 'user', content: 'e' },
      ],
    })
    expect((value.messages as JsonObject[]).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ])
  })
})

const png = 'iVBORw0KGgoAAAANSUhEUg=='

describe('pictures and files', () => {
  const parts = (...content: JsonObject[]) => chat({ messages: [{ role: 'user', content }] })
  const blocks = (...content: JsonObject[]) =>
    ((parts(...content).value.messages as JsonObject[])[0]?.content ?? []) as JsonObject[]

  test.each([
    [`data:image/png;base64,${png}`, { type: 'base64', media_type: 'image/png', data: png }],
    // The bytes decide, not the name.
    [`data:image/jpeg;base64,${png}`, { type: 'base64', media_type: 'image/png', data: png }],
    [
      `data:image/png;base64,${png.slice(0, 8)}\n${png.slice(8)}`,
      { type: 'base64', media_type: 'image/png', data: png },
    ],
    ['https://example.com/a.png', { type: 'url', url: 'https://example.com/a.png' }],
  ])('an image at %s', (url, source) => {
    expect(blocks({ type: 'image_url', image_url: { url } })).toEqual([{ type: 'image', source }])
  })

  test('detail has no word here', () => {
    const { dropped } = parts({
      type: 'image_url',
      image_url: { url: 'https://e.com/a', detail: 'low' },
    })
    expect(dropped).toEqual(['messages[0].content[0].image_url.detail'])
  })

  test('a PDF and a text are documents with their titles', () => {
    const file = (data: string) => ({ type: 'file', file: { filename: 'a', file_data: data } })
    expect(
      blocks(
        file('data:application/pdf;base64,JVBERi0='),
        file(`data:text/plain;base64,${btoa('Gr\xc3\xbc\xc3\x9fe')}`),
      ),
    ).toEqual([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
        title: 'a',
      },
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'Grüße' },
        title: 'a',
      },
    ])
  })

  test.each([
    [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
    [{ type: 'file', file: { file_id: 'file-abc' } }],
    [{ type: 'file', file: { filename: 'a.zip', file_data: 'data:application/zip;base64,UEs=' } }],
    [{ type: 'image_url', image_url: { url: 'data:image/tiff;base64,SUkqAA==' } }],
    [{ type: 'video_url', video_url: { url: 'https://e.com/v' } }],
  ])('%j is refused by its place', (part) => {
    expect(refused(() => parts({ type: 'text', text: 'a' }, part as JsonObject))).toBe(
      'messages[0].content[1]',
    )
  })

  test('a result may show a picture; a mark on its last part is one on the result', () => {
    const { value } = hub({
      messages: [
        user,
        { role: 'assistant', parts: [{ type: 'tool-call', id: 'x', name: 'f', arguments: '{}' }] },
        {
          role: 'tool',
          callId: 'x',
          isError: true,
          parts: [
            { type: 'text', text: 'see' },
            { type: 'image', url: `data:image/png;base64,${png}`, cache: { ttl: '5m' } },
          ],
        },
      ],
    })
    expect((value.messages as JsonObject[])[2]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'x',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
        ],
        is_error: true,
        cache_control: { type: 'ephemeral' },
      },
    ])
  })
})

test('numbers in arguments that are not exact in JavaScript stay as they were', () => {
  const text = '{"id":1234567890123456789,"x":1e400}'
  const { value } = chat({
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', tool_calls: [call('c', text)] },
      { role: 'tool', tool_call_id: 'c', content: 'b' },
    ],
  })
  expect(JSON.stringify(value.messages)).toContain(`"input":${text}`)
})
