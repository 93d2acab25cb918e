// Tests bodies of the Responses format at `/v1/chat/completions`, as Cursor sends them: the reply is a chat's, whatever
// the vendor's format.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Body } from '../agents/offered.ts'
import { rows, ToolStage } from './tools-stage.ts'

let stage: ToolStage
beforeAll(async () => {
  stage = await ToolStage.begin()
})
afterAll(() => stage.end())

const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const input = [
  { role: 'user', content: [{ type: 'input_text', text: 'Weather in Bern?' }] },
  { type: 'function_call', call_id: 'call_0', name: 'look', arguments: '{"city":"Bern"}' },
  { type: 'function_call_output', call_id: 'call_0', output: 'Rain.' },
  { role: 'user', content: 'And in Rome?' },
]
const asked = {
  instructions: 'Be brief.',
  input,
  tools: [{ type: 'function', name: 'look', description: 'Looks.', parameters, strict: false }],
  tool_choice: { type: 'function', name: 'look' },
  max_output_tokens: 300,
}

function ask(vendor: string, body: Body): Promise<Response> {
  return stage.gateway.post('/v1/chat/completions', { model: `on-${vendor}`, ...body })
}

describe.each(rows)('on $vendor', ({ vendor }) => {
  test('the call comes back as that of a chat', async () => {
    stage.calls = (names) => ({ name: names[0] ?? '', input: { city: 'Rome' } })
    const reply = await ask(vendor, asked)
    const body = (await reply.json()) as Body
    expect([reply.status, body]).toMatchObject([200, { object: 'chat.completion' }])
    const [{ message, finish_reason: finish }] = body['choices'] as [Body]
    expect([message, finish]).toMatchObject([
      { role: 'assistant', tool_calls: [{ type: 'function', function: { name: 'look' } }] },
      'tool_calls',
    ])
    expect(stage.asked?.text).toContain('Be brief.')
    expect(stage.asked?.text).toContain('Rain.')
  })

  test('a stream is one of chunks, with the usage that was asked for', async () => {
    stage.calls = () => null
    const more = { stream: true, stream_options: { include_usage: true } }
    const reply = await ask(vendor, { input: 'Hi', ...more })
    const frames = (await reply.text()).split('\n\n').filter((frame) => frame.startsWith('data: '))
    expect(frames.pop()).toBe('data: [DONE]')
    const chunks = frames.map((frame) => JSON.parse(frame.slice('data: '.length)) as Body)
    expect(new Set(chunks.map(({ object }) => object))).toEqual(new Set(['chat.completion.chunk']))
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 32 } })
  })
})

test('a vendor of chats gets a chat, with the members of chats that came along', async () => {
  stage.calls = () => null
  await ask('openai-compatible', {
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
    tools: [
      { type: 'function', name: 'flat', parameters },
      { type: 'function', function: { name: 'nested', parameters } },
    ],
    reasoning: { effort: 'low' },
    text: { format: { type: 'json_object' } },
    stop: ['END'],
    seed: 7,
    max_tokens: 50,
    min_p: 0.1,
  })
  const nested = (name: string) => ({ type: 'function', function: { name, parameters } })
  expect(stage.asked?.body).toEqual({
    model: 'some-model',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [nested('flat'), nested('nested')],
    reasoning_effort: 'low',
    response_format: { type: 'json_object' },
    stop: ['END'],
    seed: 7,
    max_tokens: 50,
    min_p: 0.1,
  })
})

test('what a chat does not have is named', async () => {
  const reply = await ask('openai-compatible', {
    input: 'Hi',
    tools: [{ type: 'web_search' }],
    include: ['reasoning.encrypted_content'],
    store: false,
    truncation: 'auto',
    max_tool_calls: 3,
  })
  expect([reply.status, reply.headers.get('x-tollgate-dropped')?.split(', ').toSorted()]).toEqual([
    200,
    ['include', 'max_tool_calls', 'tools.web_search', 'truncation'],
  ])
})

test.each([
  [{ input: 'Hi', previous_response_id: 'resp_1' }, 'previous_response_id'],
  [{ input: 'Hi', background: true }, 'background'],
  [{ input: [{ role: 'nobody', content: 'Hi' }] }, 'input[0].role'],
  [{ input: 'Hi', temperature: 9 }, 'temperature'],
  [{ input: 'Hi', n: 500 }, 'n'],
  [{}, 'messages'],
])('%j is refused by its field', async (body, param) => {
  const reply = await ask('openai-compatible', body)
  const { error } = (await reply.json()) as { error: Body }
  expect([reply.status, error['param']]).toEqual([400, param])
})
