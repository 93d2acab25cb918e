// Tests the request to a model that compacts a conversation, and what its answer becomes.

import { describe, expect, test } from 'bun:test'
import { ended, head, part, start } from '../../../test/responses.ts'
import { UnfitReply } from '../codec.ts'
import type { ChatEvent, JsonObject } from '../ir.ts'
import { responsesHub } from '../openai-responses/hub.ts'
import { encodeSummary, summaryIn } from '../openai-responses/summary.ts'
import { compactionHub } from './hub.ts'

const body: JsonObject = {
  model: 'asked',
  instructions: 'Be brief.',
  input: [
    { role: 'user', content: 'Weather?' },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' },
    { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'Sunny' },
  ],
  tools: [{ type: 'function', name: 'weather', parameters: {} }],
  text: { format: { type: 'json_object' } },
  temperature: 0.5,
  parallel_tool_calls: false,
  prompt_cache_key: 'key-1',
}

describe('asked', () => {
  const { value } = compactionHub.decodeRequest(structuredClone(body))

  test('for a text, with no call, behind all that was said', () => {
    expect(value.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'user',
    ])
    expect(value.toolChoice).toEqual({ mode: 'none' })
    expect(value.tools).toHaveLength(1)
    expect([value.responseFormat, value.temperature]).toEqual([undefined, undefined])
    expect(value.promptCacheKey).toBe('key-1')
  })

  test('of a vendor that compacts by itself, without the wish', () => {
    const { value: sent } = compactionHub.encodeRequest(value, 'gpt-5')
    expect(sent).toMatchObject({
      model: 'gpt-5',
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: 'Weather?' },
        { type: 'reasoning', encrypted_content: 'sealed' },
        { type: 'function_call', call_id: 'call_1' },
        { type: 'function_call_output', call_id: 'call_1', output: 'Sunny' },
      ],
    })
    const names = ['store', 'include', 'stream', 'tool_choice', 'text']
    expect(names.filter((name) => name in sent)).toEqual([])
  })
})

function writtenOf(...events: ChatEvent[]): JsonObject {
  const { value: request } = compactionHub.decodeRequest(structuredClone(body))
  return compactionHub.writeWhole([start, ...events], { ...head, request })
}

const said = part(0, { type: 'text' }, ['It is ', 'sunny: ☀️ 21°'])

test('the answer is the summary, what a model thought is not', () => {
  const thought = part(1, { type: 'reasoning' }, ['Hm.'])
  const { output } = writtenOf(...said, ...thought, ended) as { output: JsonObject[] }
  expect(output.map(({ type, role = null }) => [type, role])).toEqual([
    ['message', 'user'],
    ['compaction', null],
  ])
  expect(summaryIn(String(output[1]?.['encrypted_content']))).toBe('It is sunny: ☀️ 21°')
})

test.each([
  ['nothing', [ended]],
  ['a refusal', [...part(0, { type: 'refusal' }, ['No.']), ended]],
  ['half of one', [...said, { ...ended, reason: 'length' }]],
  ['what a filter left', [...said, { ...ended, reason: 'content_filter' }]],
] as [string, ChatEvent[]][])('%s is no summary', (_, events) => {
  expect(() => writtenOf(...events)).toThrow(UnfitReply)
})

describe('given back', () => {
  const decode = (content: string) =>
    responsesHub.decodeRequest({
      model: 'm',
      input: [
        { id: 'cmp_1', type: 'compaction', encrypted_content: content },
        { role: 'user', content: 'Go on.' },
      ],
    }).value

  test('a summary is a text of the user’s', () => {
    const [first] = decode(encodeSummary('Sunny.')).messages
    expect(first?.role).toBe('user')
    expect(JSON.stringify(first?.parts)).toContain('Sunny.')
  })

  test('a vendor’s own is opaque, and only that vendor’s', () => {
    const request = decode('gist')
    expect(request.messages[0]?.parts).toMatchObject([{ type: 'reasoning', sealed: 'gist' }])
    const { value } = responsesHub.encodeRequest(request, 'gpt-5')
    expect((value['input'] as JsonObject[])[0]).toEqual({
      id: 'cmp_1',
      type: 'compaction',
      encrypted_content: 'gist',
    })
  })
})
